// The pulse's one connection: statements with deadlines, and LISTEN.
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { monotonicMs } from '../clock.ts'
import { socketOf } from '../store/connections.ts'
import type { Session } from '../store/db.ts'
import { Flood } from '../store/flood.ts'
import { channelOf, type Message, notify, notifyRoom } from '../store/notifications.ts'
import { Transaction } from '../store/transaction.ts'
import { Inbox } from './inbox.ts'
import type { IgnoredBecause, LeaseTimes } from './pulse-protocol.ts'

const RECONNECT_MS = 2_000
const CONNECT_DEADLINE_MS = 5_000
const ECHO_MS = 2_000
/** LISTEN that did not prove itself is tried again so soon, as a busy machine may be the reason; then ever more rarely. */
const FIRST_LISTEN_RETRY_MS = 4_000
const LISTEN_RETRY_MS = 60_000
/** How long a flood keeps us from listening. */
const DEAF_MS = 60_000

export interface PulseConnectionSettings {
  connection: pg.ClientConfig
  schema: string
  times: LeaseTimes
}

export interface PulseConnectionEvents {
  onMessages(messages: readonly Message[]): void
  /** So many messages were not passed on. */
  onIgnored(count: number, why: IgnoredBecause): void
  onListening(isTrusted: boolean): void
}

export class PulseConnection {
  readonly #settings: PulseConnectionSettings
  readonly #events: PulseConnectionEvents
  readonly #inbox: Inbox
  readonly #flood = new Flood()
  #client: pg.Client | undefined
  #connecting: Promise<Session> | undefined
  #lastFailureMs = Number.NEGATIVE_INFINITY
  /** Statements sent, and those still without an answer. */
  #sent = 0
  #unanswered = 0
  #onEcho: (token: string) => void = () => {}
  #isVerifying = false
  #isTrusted = false
  #verifyAtMs = 0
  #deafUntilMs = 0
  #listenRetryMs = FIRST_LISTEN_RETRY_MS

  constructor(settings: PulseConnectionSettings, events: PulseConnectionEvents) {
    this.#settings = settings
    this.#events = events
    this.#inbox = new Inbox({
      onMessages: (messages) => this.#pass(messages),
      onUnreadable: (count) => events.onIgnored(count, 'unreadable'),
    })
  }

  /** The session, if there is a connection. */
  get current(): Session | undefined {
    return this.#client === undefined ? undefined : new Transaction(this.#client, this.#settings.schema)
  }

  /** The session, on a new connection if need be. */
  session(): Promise<Session> {
    if (this.current !== undefined) return Promise.resolve(this.current)
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined
    })
    return this.#connecting
  }

  /** Every await has a deadline, because the beat must notice a dead connection in time. */
  async within<Result>(work: Promise<Result>): Promise<Result> {
    this.#sent++
    this.#unanswered++
    const deadlineMs = Math.min(CONNECT_DEADLINE_MS, this.#settings.times.ttlMs / 3)
    let timer: NodeJS.Timeout | undefined
    const deadline = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`Postgres did not answer within ${deadlineMs} ms`)), deadlineMs)
    })
    work
      .catch(() => {})
      .finally(() => {
        this.#unanswered--
      })
    try {
      return await Promise.race([work, deadline])
    } finally {
      clearTimeout(timer)
    }
  }

  drop(client = this.#client): void {
    if (client === undefined || client !== this.#client) return
    this.#client = undefined
    this.#verifyAtMs = 0
    this.#listenRetryMs = FIRST_LISTEN_RETRY_MS
    this.#trust(false)
    // Without goodbye: what is still under way on it must not be read.
    socketOf(client).destroy()
    client.end().catch(() => {})
  }

  async close(): Promise<void> {
    await this.#client?.end()
  }

  async #connect(): Promise<Session> {
    const wait = this.#lastFailureMs + RECONNECT_MS - monotonicMs()
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
    const client = new pg.Client({
      ...this.#settings.connection,
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_DEADLINE_MS,
    })
    client.on('error', () => this.drop(client))
    client.on('notification', ({ payload }) => this.#hear(client, payload ?? ''))
    try {
      await client.connect()
    } catch (error) {
      this.#lastFailureMs = monotonicMs()
      throw error
    }
    this.#client = client
    return new Transaction(client, this.#settings.schema)
  }

  /** Looks whether messages arrive: after a connect, and as long as they did when it was looked at last. */
  lookAfterListen(): void {
    if (this.#isTrusted) this.#verifyRoom()
    else this.#verifyListen()
  }

  /** While the server's queue is so full that nobody sends, nothing is heard. */
  #verifyRoom(): void {
    const client = this.#client
    if (this.current === undefined) return
    this.within(notifyRoom(this.current))
      .then((hasRoom) => !hasRoom && client === this.#client && this.#trust(false))
      .catch(() => {})
  }

  /**
   * LISTEN is trusted only when a message came back that another connection sent: a pooler accepts the LISTEN, even
   * echoes what its own session says, and swallows the rest. Fails quietly: polling goes on.
   */
  #verifyListen(): void {
    const isDue = monotonicMs() >= Math.max(this.#verifyAtMs, this.#deafUntilMs)
    if (this.#client === undefined || this.#isVerifying || !isDue) return
    this.#isVerifying = true
    this.#verifyAtMs = monotonicMs() + this.#listenRetryMs
    this.#listenRetryMs = Math.min(2 * this.#listenRetryMs, LISTEN_RETRY_MS)
    this.#listenAndEcho(this.#client)
      .then((isHeard) => this.#trust(isHeard))
      .catch(() => {})
      .finally(() => {
        this.#isVerifying = false
      })
  }

  async #listenAndEcho(client: pg.Client): Promise<boolean> {
    const { connection, schema } = this.#settings
    await this.within(client.query(`listen ${pg.escapeIdentifier(channelOf(schema))}`))
    const sender = new pg.Client({ ...connection, connectionTimeoutMillis: CONNECT_DEADLINE_MS })
    sender.on('error', () => {})
    try {
      await sender.connect()
      const token = randomUUID()
      const sent = this.#sent
      const heard = new Promise<boolean>((resolve) => {
        // While a statement of ours is under way a pooler lends us a server connection, and lets its messages through.
        const isIdle = () => this.#unanswered === 0 && this.#sent === sent
        this.#onEcho = (echo) => echo === token && resolve(isIdle())
        setTimeout(() => resolve(false), ECHO_MS)
      })
      await notify(new Transaction(sender, schema), schema, [{ kind: 'echo', token }])
      return (await heard) && client === this.#client
    } finally {
      this.#onEcho = () => {}
      sender.end().catch(() => {})
    }
  }

  /** A flood would keep the answers to our heartbeats waiting. After one, the worker polls for a while. */
  #hear(client: pg.Client, payload: string): void {
    if (client !== this.#client) return
    if (!this.#flood.rises(payload)) {
      this.#inbox.add(payload)
      return
    }
    this.#deafUntilMs = monotonicMs() + DEAF_MS
    this.drop(client)
    this.#events.onIgnored(1, 'flood')
  }

  #pass(messages: readonly Message[]): void {
    for (const message of messages) if (message.kind === 'echo') this.#onEcho(message.token)
    this.#events.onMessages(messages)
  }

  #trust(isTrusted: boolean): void {
    if (this.#isTrusted === isTrusted) return
    this.#isTrusted = isTrusted
    if (isTrusted) this.#listenRetryMs = FIRST_LISTEN_RETRY_MS
    this.#events.onListening(isTrusted)
  }
}
