// Counts what becomes of runs in memory, and adds the counts to the database.
//
// Runs every 10 s in every worker process, and once more when a worker stops. All processes add to the same rows, in the order of
// their keys. A flush that failed is tried again with the next one; if only its answer was lost, its runs are counted twice. If the
// process dies, what it counted since its last flush is lost.
import type { Clock } from '../clock.ts'
import { addTo, countIn } from '../histogram.ts'
import type { Database } from '../store/db.ts'
import { metricAdd, type RunCounts, type RunOutcome, type TenantCounts } from '../store/metrics.ts'
import type { Ticker } from './loop.ts'

const FLUSH_MS = 10_000
/** In a minute, of all queues together: each is a row. A busy tenant is among the first that come. */
const MAX_TENANTS = 200

export interface EndedRun {
  queue: string
  type: string
  tenant: string | null
  outcome: RunOutcome
  /** Null: not known, as of a run whose process died. */
  durationMs: number | null
  /** From the time at which it was due to its claim; null: not known. */
  waitMs: number | null
  /** Of a first attempt: from the time at which it was due to its end; null: it is another one, or not known. */
  latencyMs: number | null
}

export class MetricFlush implements Ticker<void> {
  readonly name = 'metric flush'
  readonly #services: { db: Database; clock: Clock }
  #runs = new Map<string, RunCounts>()
  #tenants = new Map<string, TenantCounts>()
  /** The tenants that have a row in the minute of the last flush, or get one with the next. */
  #counted = new Set<string>()
  #minuteMs: number | undefined

  constructor(services: { db: Database; clock: Clock }) {
    this.#services = services
  }

  count({ queue, type, tenant, outcome, durationMs, waitMs, latencyMs }: EndedRun): void {
    const counts = this.#countsOf({ queue, type, outcome })
    counts.runs++
    if (durationMs !== null) {
      counts.durationMs += durationMs
      countIn(counts.durations, durationMs)
    }
    if (latencyMs !== null) {
      counts.latencyMs += latencyMs
      countIn(counts.latencies, latencyMs)
    }
    if (waitMs === null) return
    counts.waitMs += waitMs
    countIn(counts.waits, waitMs)
    const ofTenant = tenant === null ? undefined : this.#countsOfTenant({ queue, tenant })
    if (ofTenant === undefined) return
    ofTenant.runs++
    ofTenant.waitMs += waitMs
    countIn(ofTenant.waits, waitMs)
  }

  async tick(): Promise<void> {
    if (this.#runs.size === 0) return
    const { db, clock } = this.#services
    const [runs, tenants, keys] = [[...this.#runs.values()], [...this.#tenants.values()], [...this.#tenants.keys()]]
    this.#runs = new Map()
    this.#tenants = new Map()
    try {
      const minuteMs = (await metricAdd(db, clock.databaseNow(), runs, tenants))?.getTime()
      if (minuteMs !== this.#minuteMs) this.#counted = new Set([...keys, ...this.#tenants.keys()])
      this.#minuteMs = minuteMs
    } catch (error) {
      this.#putBack(runs, tenants)
      throw error
    }
  }

  delayAfter(): number {
    return FLUSH_MS
  }

  #countsOf(kind: Pick<RunCounts, 'queue' | 'type' | 'outcome'>): RunCounts {
    const key = `${kind.type}\0${kind.queue}\0${kind.outcome}`
    let counts = this.#runs.get(key)
    if (counts === undefined) {
      counts = { ...kind, runs: 0, durationMs: 0, durations: [], waitMs: 0, waits: [], latencyMs: 0, latencies: [] }
      this.#runs.set(key, counts)
    }
    return counts
  }

  /** Undefined: there are too many. */
  #countsOfTenant(whose: Pick<TenantCounts, 'queue' | 'tenant'>): TenantCounts | undefined {
    const key = `${whose.queue}\0${whose.tenant}`
    let counts = this.#tenants.get(key)
    if (counts === undefined && (this.#counted.has(key) || this.#counted.size < MAX_TENANTS)) {
      this.#counted.add(key)
      counts = { ...whose, runs: 0, waitMs: 0, waits: [] }
      this.#tenants.set(key, counts)
    }
    return counts
  }

  #putBack(runs: readonly RunCounts[], tenants: readonly TenantCounts[]): void {
    for (const each of runs) {
      const counts = this.#countsOf({ queue: each.queue, type: each.type, outcome: each.outcome })
      counts.runs += each.runs
      counts.durationMs += each.durationMs
      counts.waitMs += each.waitMs
      counts.latencyMs += each.latencyMs
      addTo(counts.durations, each.durations)
      addTo(counts.waits, each.waits)
      addTo(counts.latencies, each.latencies)
    }
    for (const each of tenants) {
      const counts = this.#countsOfTenant({ queue: each.queue, tenant: each.tenant })
      if (counts === undefined) continue
      counts.runs += each.runs
      counts.waitMs += each.waitMs
      addTo(counts.waits, each.waits)
    }
  }
}
