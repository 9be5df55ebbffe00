// A connection that never keeps its caller waiting: each command is answered, refused or given up within its deadline.
//
// It runs from `connectRedis` to `close`. Without a usable server it says so at once, and tries again once a second.
import { createClient, ErrorReply } from '@redis/client'
import type { Logger } from 'millrace'
import { InvalidRedisOption, type RedisError, RedisRefused, RedisUnavailable, RedisUnknown } from '../errors.ts'
import { withDeadline } from './deadline.ts'
import { type RedisFacts, readFacts } from './facts.ts'
import type { Script } from './script.ts'

export type RedisState =
  /** No address was given: nothing is ever sent. */
  | { readonly name: 'absent'; readonly why: string }
  | { readonly name: 'ready' }
  /** Too many answers came late: it is left alone for two seconds. */
  | { readonly name: 'degraded'; readonly why: string }
  | { readonly name: 'down'; readonly why: string }

export interface RedisOptions {
  /** redis:// or rediss://. Undefined or empty: an object that says there is no Redis. */
  readonly url?: string | undefined
  /** Begins the name of every key. Default 'millrace'. */
  readonly prefix?: string
  /** For one command. Default 250 ms. */
  readonly timeoutMs?: number
  readonly logger?: Logger
}

const RETRY_MS = 1_000
const CONNECT_MS = 2_000
const FACTS_MS = 30_000
/** So many late answers in ten seconds, and Redis is left alone for two. */
const MOST_LATE = 3
const LATE_WINDOW_MS = 10_000
const REST_MS = 2_000

type Client = ReturnType<typeof createClient>

/** Answers when it is connected, or when the first try has failed: it goes on trying. */
export async function connectRedis(options: RedisOptions = {}): Promise<Redis> {
  const redis = new Redis(options)
  await redis.start()
  return redis
}

export class Redis implements AsyncDisposable {
  readonly prefix: string
  /** What the server said of itself, read again every 30 seconds. Undefined until it was reached. */
  facts: RedisFacts | undefined
  readonly #url: string | undefined
  readonly #timeoutMs: number
  readonly #logger: Logger | undefined
  readonly #listeners = new Set<(state: RedisState) => void>()
  #state: RedisState
  #client: Client | undefined
  #lateAt: number[] = []
  #retry: NodeJS.Timeout | undefined
  #facts: NodeJS.Timeout | undefined
  #isClosed = false

  constructor({ url, prefix = 'millrace', timeoutMs = 250, logger }: RedisOptions) {
    if (url && !/^rediss?:\/\//.test(url))
      throw new InvalidRedisOption(
        'The address of Redis is not usable: expected redis://host:port or rediss://host:port.',
      )
    if (!/^[\w.-]{1,50}$/.test(prefix))
      throw new InvalidRedisOption(`prefix is ${JSON.stringify(prefix)}: expected 1–50 letters, digits or "_ . -".`)
    this.prefix = prefix
    this.#url = url || undefined
    this.#timeoutMs = timeoutMs
    this.#logger = logger
    this.#state = this.#url
      ? { name: 'down', why: 'not connected yet' }
      : { name: 'absent', why: 'no address was given (REDIS_URL)' }
  }

  get state(): RedisState {
    return this.#state
  }

  /** Calls `listener` at every change of the state, until the function that it returns is called. */
  onState(listener: (state: RedisState) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async start(): Promise<void> {
    if (this.#url === undefined) return
    await this.#connect()
    this.#facts = setInterval(() => void this.#readFacts(), FACTS_MS)
    this.#facts.unref()
  }

  /** Sends one command. Throws RedisUnavailable, RedisRefused or RedisUnknown, and says by that whether it may have run. */
  async run<Answer = unknown>(args: readonly string[], { timeoutMs = this.#timeoutMs } = {}): Promise<Answer> {
    const client = this.#client
    if (this.#state.name !== 'ready' || client === undefined)
      throw new RedisUnavailable(this.#state.name === 'ready' ? 'not connected' : this.#state.why)
    try {
      return (await withDeadline(client.sendCommand(args), timeoutMs, () => this.#late(client))) as Answer
    } catch (error) {
      throw redisError(error)
    }
  }

  async runScript<Answer = unknown>(
    { text, sha }: Script,
    keys: readonly string[],
    args: readonly string[],
  ): Promise<Answer> {
    const rest = [String(keys.length), ...keys, ...args]
    try {
      return await this.run<Answer>(['EVALSHA', sha, ...rest])
    } catch (error) {
      if (!(error instanceof RedisRefused) || error.reply !== 'NOSCRIPT') throw error
      return await this.run<Answer>(['EVAL', text, ...rest])
    }
  }

  /** A connection of its own that hears a channel; it is opened again when it breaks. `gap`: something may have been missed. */
  async subscribe(channel: string, heard: (message: string) => void, gap: () => void): Promise<() => Promise<void>> {
    if (this.#url === undefined) return async () => {}
    const client = this.#newClient(() => RETRY_MS)
    client.on('error', () => {})
    client.on('ready', gap)
    client.on('end', gap)
    void client
      .connect()
      .then(() => client.subscribe(channel, heard))
      .catch((error: unknown) => this.#logger?.warn({ channel, error }, 'Redis cannot be subscribed to'))
    return async () => client.destroy()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#retry)
    clearInterval(this.#facts)
    if (this.#url !== undefined) this.#become({ name: 'down', why: 'the connection was closed by this program' })
    const client = this.#client
    this.#client = undefined
    if (client?.isOpen) client.destroy()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #newClient(reconnect: false | (() => number)): Client {
    return createClient({
      url: this.#url as string,
      RESP: 3,
      disableOfflineQueue: true,
      maintNotifications: 'disabled',
      socket: { reconnectStrategy: reconnect, connectTimeout: CONNECT_MS, keepAlive: true },
    }) as Client
  }

  async #connect(): Promise<void> {
    const client = this.#newClient(false)
    // The library tells of a broken connection by one of these, depending on who ended it.
    client.on('error', (error: Error) => this.#broken(client, error.message))
    client.on('end', () => this.#broken(client, 'the connection was closed'))
    try {
      await withDeadline(client.connect(), CONNECT_MS, () => {})
      const ask = (args: readonly string[]) => withDeadline(client.sendCommand(args), CONNECT_MS, () => {})
      await ask(['PING'])
      this.facts = await readFacts(ask)
      if (this.#isClosed) return client.destroy()
      this.#client = client
      this.#become({ name: 'ready' })
    } catch (error) {
      if (client.isOpen) client.destroy()
      this.#retryAfter(error instanceof Error ? error.message : String(error))
    }
  }

  /** The connection in use: one that is being made tells of itself by its connect. */
  #broken(client: Client, why: string): void {
    if (this.#client !== client) return
    this.#client = undefined
    if (client.isOpen) client.destroy()
    this.#retryAfter(why)
  }

  #retryAfter(why: string): void {
    if (this.#isClosed) return
    this.#become({ name: 'down', why })
    this.#connectAfter(RETRY_MS)
  }

  #connectAfter(ms: number): void {
    clearTimeout(this.#retry)
    this.#retry = setTimeout(() => void this.#connect(), ms)
    this.#retry.unref()
  }

  /** What else is under way on that connection is as uncertain, so it goes with it. */
  #late(client: Client): void {
    if (this.#client !== client) return
    const now = performance.now()
    this.#lateAt = [...this.#lateAt.filter((at) => now - at < LATE_WINDOW_MS), now]
    const isSlow = this.#lateAt.length >= MOST_LATE
    const why = isSlow ? `${MOST_LATE} answers came late` : `an answer did not come within ${this.#timeoutMs} ms`
    this.#client = undefined
    client.destroy()
    this.#become({ name: isSlow ? 'degraded' : 'down', why })
    this.#connectAfter(isSlow ? REST_MS : 0)
  }

  async #readFacts(): Promise<void> {
    if (this.#state.name !== 'ready') return
    this.facts = await readFacts((args) => this.run(args, { timeoutMs: CONNECT_MS })).catch(() => this.facts)
  }

  #become(state: RedisState): void {
    const before = this.#state
    this.#state = state
    if (before.name === state.name) return
    if (state.name === 'ready') this.#logger?.info({ redis: this.facts }, 'Redis is ready')
    else if (!this.#isClosed) this.#logger?.warn({ why: state.why }, `Redis is ${state.name}`)
    for (const listener of this.#listeners) listener(state)
  }
}

function redisError(error: unknown): RedisError {
  if (error instanceof RedisUnknown || error instanceof RedisUnavailable) return error
  if (error instanceof ErrorReply) return new RedisRefused(error.message, error)
  const name = (error as Error | undefined)?.constructor?.name
  if (name === 'ClientClosedError' || name === 'ClientOfflineError')
    return new RedisUnavailable('the connection is closed', error)
  return new RedisUnknown('the connection broke before the answer', error)
}
