// A lock that one process of all holds. Redis says at once who does; PostgreSQL judges, by a number that only grows.
//
// Redis may forget a lock, or give it twice after a failover. A write that must not happen twice goes into a transaction with
// `lock.guard(tx)`: it fails if the lock was given again, and nobody is given it before that transaction has ended.
import { randomUUID } from 'node:crypto'
import { type Duration, type Queryable, toMs } from 'millrace'
import type { Redis } from '../connection/connect.ts'
import { scriptNamed } from '../connection/script.ts'
import { InvalidRedisOption, LockBusy, LockLost, LockUnavailable, RedisError } from '../errors.ts'
import { hashed } from '../hashed.ts'
import { heldFence, nextFence } from '../store/fence-store.ts'
import { type DatabaseOption, Postgres } from '../store/pool.ts'

const release = scriptNamed('lock_release')
const extend = scriptNamed('lock_extend')
const LOWEST_TTL_MS = 1_000

export interface Lock {
  readonly name: string
  /** Grows with every holder: send it along to systems that can compare it. */
  readonly fence: bigint
  /** Aborts when two thirds of the ttl have passed without a word from Redis. */
  readonly signal: AbortSignal
  /** Throws LockLost if somebody was given the lock since; until this transaction ends nobody is. */
  guard(tx: Queryable): Promise<void>
}

export interface LockOptions {
  /** How long the lock outlives its holder. It is kept for as long as `work` runs. Default 30 s. */
  readonly ttl?: Duration
}

export interface LocksOptions {
  readonly redis: Redis
  /** Keeps the fences. Two connections at most. */
  readonly database: DatabaseOption
}

export function createLocks(options: LocksOptions): Locks {
  return new Locks(options)
}

export class Locks implements AsyncDisposable {
  readonly #redis: Redis
  readonly #db: Postgres

  constructor({ redis, database }: LocksOptions) {
    this.#redis = redis
    this.#db = new Postgres(database, { max: 2 })
  }

  /** Runs `work` under the lock. Throws LockBusy if it is held, and LockUnavailable if Redis cannot say so. */
  async run<Value>(
    name: string,
    work: (lock: Lock) => Promise<Value>,
    { ttl = '30s' }: LockOptions = {},
  ): Promise<Value> {
    const ttlMs = toMs(ttl, 'ttl')
    if (ttlMs < LOWEST_TTL_MS)
      throw new InvalidRedisOption(`ttl of the lock "${name}" is ${ttlMs} ms: expected ${LOWEST_TTL_MS} ms or more.`)
    const key = `${this.#redis.prefix}:lock:${hashed(name)}`
    const owner = randomUUID()
    await this.#take(name, key, { owner, ttlMs })
    const lost = new AbortController()
    const keeping = this.#keep(key, { owner, ttlMs, lost })
    try {
      const fence = await nextFence(this.#db, name)
      const guard = async (tx: Queryable) => {
        const newest = await heldFence(tx, name)
        if (newest !== fence) throw new LockLost(name, { fence, newest })
      }
      return await work({ name, fence, signal: lost.signal, guard })
    } finally {
      keeping.stop()
      // What cannot be given back ends by itself.
      await this.#redis.runScript(release, [key], [owner]).catch(() => {})
    }
  }

  close(): Promise<void> {
    return this.#db.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #take(name: string, key: string, { owner, ttlMs }: { owner: string; ttlMs: number }): Promise<void> {
    try {
      const answer = await this.#redis.run(['SET', key, owner, 'NX', 'PX', String(ttlMs)])
      if (answer === null) throw new LockBusy(name)
    } catch (error) {
      if (error instanceof LockBusy || !(error instanceof RedisError)) throw error
      throw new LockUnavailable(name, error)
    }
  }

  #keep(key: string, { owner, ttlMs, lost }: { owner: string; ttlMs: number; lost: AbortController }) {
    let heardAt = performance.now()
    const look = async () => {
      try {
        const sentAt = performance.now()
        if ((await this.#redis.runScript(extend, [key], [owner, String(ttlMs)])) === 1) heardAt = sentAt
        else lost.abort(new Error('Redis does not know this holder any more.'))
      } catch {
        // Redis is away: the lock is held until two thirds of its time have passed.
      }
    }
    const timer = setInterval(() => {
      if (performance.now() - heardAt > (ttlMs * 2) / 3) lost.abort(new Error('Redis was not heard of in time.'))
      else void look()
    }, ttlMs / 6)
    timer.unref()
    return { stop: () => clearInterval(timer) }
  }
}
