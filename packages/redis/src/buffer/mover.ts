// Brings entries from Redis to PostgreSQL, in turns by tenant. Any number of processes may run one.
import { setTimeout as sleep } from 'node:timers/promises'
import { RedisError } from '../errors.ts'
import type { Streams } from './streams.ts'
import type { Transfer, Transferred } from './transfer.ts'

const MOST_A_PASS = 500
const MOST_OF_A_TENANT = 100
const IDLE_MS = 50
const AFTER_ERROR_MS = 1_000
const PRUNE_EVERY_MS = 3_600_000

export interface MoverOptions {
  /** Called before each pass: true, and nothing is moved, such as while PostgreSQL has more important work. */
  readonly pause?: () => boolean
}

export interface MoverPass {
  readonly moved: number
  readonly rejected: number
  /** There was more than one pass takes. */
  readonly hasMore: boolean
}

export interface MoverServices {
  readonly streams: Streams
  readonly transfer: Transfer
  readonly onPass: (pass: Transferred) => void
  readonly onError: (error: unknown) => void
  readonly prune: () => Promise<void>
}

const NOTHING: MoverPass = { moved: 0, rejected: 0, hasMore: false }

export class Mover implements AsyncDisposable {
  readonly #services: MoverServices
  readonly #pause: () => boolean
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>
  #pass = Date.now()
  #prunedAt = Number.NEGATIVE_INFINITY

  constructor(services: MoverServices, { pause = () => false }: MoverOptions = {}) {
    this.#services = services
    this.#pause = pause
    this.#running = this.#run()
  }

  /** Finishes the pass under way. Entries that are left wait for another mover. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      const delay = await this.#tick()
      if (delay > 0) await sleep(delay, undefined, { signal }).catch(() => {})
    }
  }

  async #tick(): Promise<number> {
    try {
      if (this.#pause()) return IDLE_MS
      const { hasMore } = await this.pass()
      if (performance.now() - this.#prunedAt > PRUNE_EVERY_MS) {
        this.#prunedAt = performance.now()
        await this.#services.prune()
      }
      return hasMore ? 0 : IDLE_MS
    } catch (error) {
      // Redis says itself when it is away; the rest is told.
      if (!(error instanceof RedisError)) this.#services.onError(error)
      return AFTER_ERROR_MS
    }
  }

  /** One pass, also by hand in tests. */
  async pass(): Promise<MoverPass> {
    const { streams, transfer, onPass } = this.#services
    const tenants = await streams.turns(MOST_A_PASS / 10)
    const batches = []
    let left = MOST_A_PASS
    for (const tenant of tenants) {
      if (left <= 0) break
      const entries = await streams.read(tenant, Math.min(MOST_OF_A_TENANT, left))
      left -= entries.length
      batches.push({ tenant, entries })
    }
    if (batches.length === 0) return NOTHING
    const transferred = await transfer.move(batches)
    this.#pass = Math.max(this.#pass + 1, Date.now())
    let more = 0
    for (const { tenant, streamIds } of transferred.done) more += await streams.done(tenant, streamIds, this.#pass)
    onPass(transferred)
    const handled = transferred.done.some(({ streamIds }) => streamIds.length > 0)
    return { moved: transferred.moved.length, rejected: transferred.rejected.length, hasMore: handled && more > 0 }
  }
}
