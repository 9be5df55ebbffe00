// The one connection on which a client hears that jobs have ended, whoever and however many wait.
//
// A luxury: while it is broken, or a pooler swallows its messages, polling finds the same a little later. So its
// failures are told to nobody, and never keep the pool from connecting.
import pg from 'pg'
import { after, within } from '../clock.ts'
import { decodeIds, endedChannelOf } from '../store/notifications.ts'

const CONNECT_DEADLINE_MS = 5_000
const RECONNECT_MS = 1_000
/** The next waiter often comes right after the last one left. */
const LINGER_MS = 1_000
const CLOSE_MS = 1_000

export interface EndedListenerOptions {
  connection: pg.ClientConfig
  schema: string
  onEnded(ids: readonly string[]): void
  /** From now on nothing is missed; what was said before may have been. */
  onListening(): void
}

export class EndedListener {
  readonly #options: EndedListenerOptions
  #client: pg.Client | undefined
  #isWanted = false
  #cancelTimer: () => void = () => {}

  constructor(options: EndedListenerOptions) {
    this.#options = options
  }

  /** Wanted from now on. Harmless when it is open already. */
  open(): void {
    if (this.#isWanted) return
    this.#isWanted = true
    this.#cancelTimer()
    if (this.#client === undefined) void this.#connect()
  }

  /** Not wanted any more: closes in a moment. */
  closeSoon(): void {
    if (!this.#isWanted) return
    this.#isWanted = false
    this.#cancelTimer()
    this.#cancelTimer = after(LINGER_MS, () => void this.close())
  }

  async close(): Promise<void> {
    this.#isWanted = false
    this.#cancelTimer()
    const client = this.#client
    this.#client = undefined
    if (client !== undefined) await within(CLOSE_MS, client.end())
  }

  async #connect(): Promise<void> {
    const { connection, schema, onEnded, onListening } = this.#options
    const client = new pg.Client({ ...connection, keepAlive: true, connectionTimeoutMillis: CONNECT_DEADLINE_MS })
    this.#client = client
    client.on('error', () => this.#lost(client))
    client.on('end', () => this.#lost(client))
    client.on('notification', ({ payload }) => onEnded(decodeIds(payload ?? '')))
    try {
      await client.connect()
      // Those who wait keep the process alive; this connection need not.
      ;(client as pg.Client & { unref(): void }).unref()
      await client.query(`listen ${pg.escapeIdentifier(endedChannelOf(schema))}`)
      if (client === this.#client) onListening()
    } catch {
      this.#lost(client)
    }
  }

  #lost(client: pg.Client): void {
    if (client !== this.#client) return
    this.#client = undefined
    client.end().catch(() => {})
    if (this.#isWanted) this.#cancelTimer = after(RECONNECT_MS, () => void this.#connect())
  }
}
