// Connections to Postgres that are used again and again: so many at most, and none for long that nobody needs.
//
// The driver's own pool makes a promise, a timer and a turn of the event loop of every checkout: a tenth of a millisecond
// in a process that was idle, and two of them lie between an enqueue and its handler. Nor does it let go of a connection
// in pipeline mode that answers nothing any more.
import type { Socket } from 'node:net'
import pg from 'pg'
import { monotonicMs } from '../clock.ts'
import { DatabaseUnavailable } from '../errors.ts'
import { addressOf } from './address.ts'
import { ConnectGate } from './connect-gate.ts'
import { Permits } from './permits.ts'

const CONNECT_DEADLINE_MS = 10_000
const IDLE_MS = 30_000
const SWEEP_MS = 10_000

export interface ConnectionsOptions {
  connection: pg.ClientConfig
  max: number
  /** Shared by all of one process. */
  gate?: ConnectGate | undefined
}

interface Idle {
  client: pg.Client
  sinceMs: number
}

export class Connections {
  readonly #config: pg.ClientConfig
  readonly #gate: ConnectGate
  readonly #permits: Permits
  /** And when each has gone. */
  readonly #open = new Map<pg.Client, Promise<void>>()
  /** The one that was used last is used next. */
  #idle: Idle[] = []
  #sweeper: NodeJS.Timeout | undefined
  #isEnded = false

  constructor({ connection, max, gate }: ConnectionsOptions) {
    const ours = { connectionTimeoutMillis: CONNECT_DEADLINE_MS, keepAlive: true, pipeline: true }
    this.#config = { ...connection, ...ours }
    this.#gate = gate ?? new ConnectGate()
    this.#permits = new Permits(max)
  }

  /** Whoever gets one gives it back, once. */
  async take(deadlineMs: number): Promise<pg.Client> {
    await this.#permits.take(deadlineMs)
    try {
      return this.#reused() ?? (await this.#connect())
    } catch (error) {
      this.#permits.give()
      throw error
    }
  }

  /** `isBroken`: it cannot be trusted with another statement. */
  give(client: pg.Client, isBroken: boolean): void {
    if (isBroken) this.#cut(client)
    else if (this.#isEnded) this.#close(client)
    else if (this.#open.has(client)) this.#keep(client)
    this.#permits.give()
  }

  /** No more are given out. Resolves when all have gone, also those that are in use. */
  async end(): Promise<void> {
    this.#isEnded = true
    clearInterval(this.#sweeper)
    for (const { client } of this.#idle.splice(0)) this.#close(client)
    await Promise.all(this.#open.values())
  }

  #reused(): pg.Client | undefined {
    this.#demandOpen()
    const client = this.#idle.pop()?.client
    if (client !== undefined) socketOf(client).ref()
    return client
  }

  #demandOpen(): void {
    if (this.#isEnded) throw new DatabaseUnavailable(new Error('this client was closed'))
  }

  async #connect(): Promise<pg.Client> {
    this.#gate.pass()
    const client = new pg.Client(this.#config)
    // Without a listener a connection that breaks while nobody uses it would end the process.
    client.on('error', () => this.#forget(client))
    try {
      await client.connect()
    } catch (error) {
      client.end().catch(() => {})
      throw this.#gate.failed(new DatabaseUnavailable(error, addressOf(client)))
    }
    this.#gate.succeeded()
    this.#open.set(client, new Promise((resolve) => client.once('end', resolve)))
    if (this.#isEnded) this.#close(client)
    this.#demandOpen()
    return client
  }

  #keep(client: pg.Client): void {
    // What is idle keeps no process from its end.
    socketOf(client).unref()
    this.#idle.push({ client, sinceMs: monotonicMs() })
    this.#sweeper ??= setInterval(() => this.#sweep(), SWEEP_MS).unref()
  }

  /** Says goodbye. */
  #close(client: pg.Client): void {
    client.end().catch(() => {})
    void this.#open.get(client)?.then(() => this.#forget(client))
  }

  /** Without goodbye: whoever waits for an answer on it hears now that there will be none. */
  #cut(client: pg.Client): void {
    this.#forget(client)
    socketOf(client).destroy()
    client.end().catch(() => {})
  }

  #forget(client: pg.Client): void {
    this.#open.delete(client)
    this.#idle = this.#idle.filter((each) => each.client !== client)
  }

  #sweep(): void {
    const oldest = monotonicMs() - IDLE_MS
    for (const { client, sinceMs } of this.#idle) if (sinceMs < oldest) this.#close(client)
    this.#idle = this.#idle.filter(({ sinceMs }) => sinceMs >= oldest)
    if (this.#idle.length > 0) return
    clearInterval(this.#sweeper)
    this.#sweeper = undefined
  }
}

/** Which the driver's types do not know. */
export const socketOf = (client: pg.Client): Socket =>
  (client as pg.Client & { connection: { stream: Socket } }).connection.stream
