// The one connection on which a client hears that jobs have ended, whoever and however many wait.
//
// A luxury: while it is broken, or a pooler swallows its messages, polling finds the same a little later. So its
// failures are told to nobody, and never keep the pool from connecting.
import pg from 'pg'
import { after, within } from '../clock.ts'
import { socketOf } from '../store/connections.ts'
import { Flood } from '../store/flood.ts'
import { decodeIds, endedChannelOf } from '../store/notifications.ts'

const CONNECT_DEADLINE_MS = 5_000
const RECONNECT_MS = 1_000
/** How long a flood of messages keeps us from listening. */
const DEAF_MS = 60_000
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
  readonly #flood = new Flood()
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
    const { connection, schema, onListening } = this.#options
    const client = new pg.Client({ ...connection, keepAlive: true, connectionTimeoutMillis: CONNECT_DEADLINE_MS })
    this.#client = client
    client.on('error', () => this.#lost(client))
    client.on('end', () => this.#lost(client))
    client.on('notification', ({ payload }) => this.#hear(client, payload ?? ''))
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

  /** Any role may send any text, and as much of it as it likes. */
  #hear(client: pg.Client, payload: string): void {
    if (client !== this.#client) return
    const ids = decodeIds(payload)
    if (this.#flood.rises(payload)) this.#lost(client, DEAF_MS)
    else if (ids !== undefined) this.#options.onEnded(ids)
  }

  #lost(client: pg.Client, pauseMs = RECONNECT_MS): void {
    if (client !== this.#client) return
    this.#client = undefined
    socketOf(client).destroy()
    client.end().catch(() => {})
    if (this.#isWanted) this.#cancelTimer = after(pauseMs, () => void this.#connect())
  }
}
