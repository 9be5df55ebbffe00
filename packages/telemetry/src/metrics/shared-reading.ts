// What only the database knows, read by one process of all at a time.
//
// Every 15 s each process that exports metrics tries to take the duty; the one that has it reads, and exports until it could not
// renew the duty in time. So a scrape never waits for the database, and a sum over all processes counts nothing twice. If the
// process dies, another one takes over within 45 s. A process that was not scraped for five minutes leaves the duty to others.
import {
  type Alert,
  type Breaker,
  type BudgetStatus,
  type BudgetUsage,
  type LimitState,
  type Millrace,
  type Stats,
  toMs,
  type WorkerState,
} from 'millrace'

const DUTY = 'metrics'
const TTL = '45s'
const INTERVAL_MS = 15_000
const UNSCRAPED_MS = 300_000
/** A reading that takes long is made less often. */
const MOST_SHARE = 0.1

export interface Reading {
  readonly atMs: number
  readonly stats: Stats
  readonly limits: readonly LimitState[]
  readonly breakers: readonly Breaker[]
  readonly budgets: readonly { readonly status: BudgetStatus; readonly usage: readonly BudgetUsage[] }[]
  readonly workers: readonly WorkerState[]
  readonly alerts: readonly Alert[]
  /** In seconds, of queues that have one. */
  readonly slas: ReadonlyMap<string, number>
  /** Names of queues for people. */
  readonly titles: ReadonlyMap<string, string>
}

export class SharedReading {
  readonly #millrace: Millrace
  readonly #onTick: () => void
  #reading: Reading | undefined
  #validUntilMs = 0
  #scrapedAtMs = performance.now()
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined
  #isStopped = false

  constructor(millrace: Millrace, onTick: () => void) {
    this.#millrace = millrace
    this.#onTick = onTick
  }

  /** What this process exports; undefined: another one does, or the database cannot be reached. */
  get current(): Reading | undefined {
    return performance.now() < this.#validUntilMs ? this.#reading : undefined
  }

  scraped(): void {
    this.#scrapedAtMs = performance.now()
  }

  start(): void {
    this.#running ??= this.#round()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#running
    const wasOurs = this.current !== undefined
    this.#validUntilMs = 0
    if (wasOurs) await this.#millrace.duties.leave(DUTY).catch(() => {})
  }

  async #round(): Promise<void> {
    const startMs = performance.now()
    this.#onTick()
    await this.refresh().catch((error: unknown) => {
      this.#millrace.events.emit('database_error', { during: 'read metrics', error })
    })
    if (this.#isStopped) return
    const delayMs = Math.max(INTERVAL_MS, (performance.now() - startMs) / MOST_SHARE)
    this.#timer = setTimeout(() => {
      this.#running = this.#round()
    }, delayMs)
    this.#timer.unref()
  }

  /** Takes the duty if it is free, and reads. */
  async refresh(): Promise<void> {
    const { duties } = this.#millrace
    if (performance.now() - this.#scrapedAtMs > UNSCRAPED_MS) {
      this.#validUntilMs = 0
      return duties.leave(DUTY)
    }
    const validUntilMs = performance.now() + toMs(TTL, 'ttl')
    if (!(await duties.take(DUTY, { for: TTL }))) return
    this.#reading = await read(this.#millrace)
    this.#validUntilMs = validUntilMs
  }
}

async function read(millrace: Millrace): Promise<Reading> {
  const atMs = Date.now()
  const stats = await millrace.stats()
  // A budget may be kept in a table of the program's own: if that cannot be read, the rest is exported all the same.
  const budgets = await readBudgets(millrace).catch(() => [])
  const queues = await millrace.catalogue.list('queue')
  return {
    ...{ atMs, stats, budgets },
    limits: await millrace.limits.list(),
    breakers: await millrace.breakers.list(),
    workers: await millrace.workers.list(),
    alerts: await millrace.alerts.list(),
    slas: new Map(queues.flatMap(({ name, document: { slaMs } }) => (slaMs === null ? [] : [[name, slaMs / 1_000]]))),
    titles: new Map(queues.map(({ name, document }) => [name, document.title ?? name])),
  }
}

async function readBudgets({ budgets }: Millrace): Promise<Reading['budgets']> {
  const read = []
  for (const status of await budgets.list()) read.push({ status, usage: await budgets.usage(status.budget) })
  return read
}
