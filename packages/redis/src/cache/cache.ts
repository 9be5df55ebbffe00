// A copy in this process, then one in Redis, then the source. A write is announced, and every process forgets its copy.
//
// Announcements are a courtesy: after each break of the connection all local copies go, and `ttl` bounds what is left.

import { LRUCache } from 'lru-cache'
import { type Duration, toMs } from 'millrace'
import type { Redis } from '../connection/connect.ts'
import { InvalidRedisOption, RedisError } from '../errors.ts'
import { hashed } from '../hashed.ts'

export interface CacheOptions<Value extends {}> {
  readonly redis: Redis
  readonly name: string
  /** Reads what a key stands for. Its value must be plain JSON. Undefined is not kept. */
  readonly load: (key: string) => Promise<Value | undefined>
  readonly ttl: Duration
  /** Copies in this process. Default 10,000. */
  readonly max?: number
}

export interface CacheReads {
  readonly local: number
  readonly redis: number
  readonly loaded: number
}

export interface Cache<Value extends {}> extends AsyncDisposable {
  get(key: string): Promise<Value | undefined>
  /** After a write: everybody reads this key anew. */
  announce(key: string): Promise<void>
  /** How often each level had the answer. */
  readonly reads: CacheReads
  close(): Promise<void>
}

export async function createCache<Value extends {}>(options: CacheOptions<Value>): Promise<Cache<Value>> {
  const cache = new LevelledCache(options)
  await cache.listen()
  return cache
}

class LevelledCache<Value extends {}> implements Cache<Value> {
  readonly #redis: Redis
  readonly #base: string
  readonly #load: (key: string) => Promise<Value | undefined>
  readonly #ttlMs: number
  readonly #local: LRUCache<string, Value>
  readonly #loading = new Map<string, Promise<Value | undefined>>()
  readonly #reads = { local: 0, redis: 0, loaded: 0 }
  #unsubscribe: (() => Promise<void>) | undefined

  constructor({ redis, name, load, ttl, max = 10_000 }: CacheOptions<Value>) {
    if (!/^[\w.-]{1,50}$/.test(name))
      throw new InvalidRedisOption(
        `The cache's name is ${JSON.stringify(name)}: expected 1–50 letters, digits or "_ . -".`,
      )
    this.#redis = redis
    this.#base = `${redis.prefix}:cache:${name}`
    this.#load = load
    this.#ttlMs = toMs(ttl, 'ttl')
    this.#local = new LRUCache({ max, ttl: this.#ttlMs })
  }

  get reads(): CacheReads {
    return { ...this.#reads }
  }

  async listen(): Promise<void> {
    this.#unsubscribe = await this.#redis.subscribe(
      this.#channel,
      (hash) => this.#forget(hash),
      () => this.#local.clear(),
    )
  }

  async get(key: string): Promise<Value | undefined> {
    const hash = hashed(key)
    const local = this.#local.get(hash)
    if (local !== undefined) {
      this.#reads.local += 1
      return local
    }
    const under = this.#loading.get(hash)
    if (under !== undefined) return under
    const loading: Promise<Value | undefined> = this.#read(key, hash, () => this.#loading.get(hash) === loading)
    this.#loading.set(hash, loading)
    try {
      return await loading
    } finally {
      if (this.#loading.get(hash) === loading) this.#loading.delete(hash)
    }
  }

  async announce(key: string): Promise<void> {
    const hash = hashed(key)
    this.#forget(hash)
    await this.#redis.run(['DEL', `${this.#base}:${hash}`]).catch(ignoreRedis)
    await this.#redis.run(['PUBLISH', this.#channel, hash]).catch(ignoreRedis)
  }

  async close(): Promise<void> {
    await this.#unsubscribe?.()
    this.#local.clear()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  get #channel(): string {
    return `${this.#base}:changed`
  }

  /** `isCurrent`: nobody has announced a change of the key since the read began. */
  async #read(key: string, hash: string, isCurrent: () => boolean): Promise<Value | undefined> {
    const kept = await this.#redis.run<string | null>(['GET', `${this.#base}:${hash}`]).catch(ignoreRedis)
    const value = kept ? (JSON.parse(kept) as Value) : await this.#load(key)
    this.#reads[kept ? 'redis' : 'loaded'] += 1
    if (value === undefined || !isCurrent()) return value
    this.#local.set(hash, value)
    if (!kept) {
      const set = ['SET', `${this.#base}:${hash}`, JSON.stringify(value), 'PX', String(this.#ttlMs)]
      await this.#redis.run(set).catch(ignoreRedis)
    }
    return value
  }

  #forget(hash: string): void {
    this.#local.delete(hash)
    this.#loading.delete(hash)
  }
}

function ignoreRedis(error: unknown): null {
  if (error instanceof RedisError) return null
  throw error
}
