// Counts what becomes of jobs in this process, from the engine's events. Each event is counted once, however many names the
// page has for it.
import type { Events, RunEnd, RunOutcome } from 'millrace'
import { activeTrace } from './exemplars.ts'
import { Histogram } from './histogram.ts'
import type { TenantLabels } from './tenant-labels.ts'

/** Ends of jobs, by label of the tenant. */
export interface TenantCounts {
  enqueued: number
  completed: number
  cancelled: number
  dead: number
}

/** Of one type in one queue. */
export interface TypeCounts {
  readonly queue: string
  readonly type: string
  enqueued: number
  retries: number
  /** Runs that ended; and waiting jobs that were cancelled. */
  readonly outcomes: Map<RunOutcome, number>
  readonly durations: Map<RunOutcome, Histogram>
  readonly waits: Histogram
  readonly endToEnd: Histogram
  readonly rescued: Map<string, number>
  readonly tenants: Map<string, TenantCounts>
}

export class JobCounts {
  readonly #queues = new Map<string, Map<string, TypeCounts>>()
  readonly #tenants: TenantLabels

  constructor(tenants: TenantLabels) {
    this.#tenants = tenants
  }

  get types(): TypeCounts[] {
    return [...this.#queues.values()].flatMap((types) => [...types.values()])
  }

  /** Its series exist from the first scrape on, so that the first job is an increase. */
  expect(queue: string, type: string): void {
    this.#of(queue, type)
  }

  /** Returns a function that stops it. */
  listen(events: Events): () => void {
    const stops = [
      events.on('jobs_enqueued', ({ queue, type, tenant, count }) => {
        const counts = this.#of(queue, type)
        counts.enqueued += count
        this.#ofTenant(counts, tenant).enqueued += count
      }),
      events.on('jobs_cancelled', ({ queue, type, tenant, count }) => {
        const counts = this.#of(queue, type)
        add(counts.outcomes, 'cancelled', count)
        this.#ofTenant(counts, tenant).cancelled += count
      }),
      events.on('job_started', ({ job, waitMs }) => {
        if (job.attempt === 1) this.#of(job.queue, job.type).waits.observe(waitMs / 1_000, activeTrace())
      }),
      events.on('job_succeeded', (end) => this.#ended(end, 'completed')),
      events.on('job_cancelled', (end) => this.#ended(end, 'cancelled')),
      events.on('job_failed', (end) => this.#ended(end, end.willRetry ? 'failed' : 'dead')),
      events.on('job_snoozed', ({ job }) => add(this.#of(job.queue, job.type).outcomes, 'snoozed')),
      events.on('job_rescued', ({ queue, type, tenant, outcome }) => {
        const counts = this.#of(queue, type)
        add(counts.rescued, outcome)
        add(counts.outcomes, outcome === 'requeued' ? 'crashed' : outcome)
        if (outcome !== 'requeued') this.#ofTenant(counts, tenant)[outcome]++
      }),
    ]
    return () => {
      for (const stop of stops) stop()
    }
  }

  #ended({ job, durationMs, ageMs }: RunEnd, outcome: 'completed' | 'cancelled' | 'failed' | 'dead'): void {
    const counts = this.#of(job.queue, job.type)
    const traceId = activeTrace()
    add(counts.outcomes, outcome)
    if (outcome === 'failed') counts.retries++
    else this.#ofTenant(counts, job.tenant)[outcome]++
    let durations = counts.durations.get(outcome)
    if (durations === undefined) {
      durations = new Histogram()
      counts.durations.set(outcome, durations)
    }
    durations.observe(durationMs / 1_000, traceId)
    if (job.attempt === 1 && outcome !== 'cancelled') counts.endToEnd.observe(ageMs / 1_000, traceId)
  }

  #of(queue: string, type: string): TypeCounts {
    let types = this.#queues.get(queue)
    if (types === undefined) {
      types = new Map()
      this.#queues.set(queue, types)
    }
    let counts = types.get(type)
    if (counts === undefined) {
      counts = newCounts(queue, type)
      types.set(type, counts)
    }
    return counts
  }

  #ofTenant({ tenants }: TypeCounts, tenant: string | null): TenantCounts {
    const label = this.#tenants.labelOf(tenant)
    let counts = tenants.get(label)
    if (counts === undefined) {
      counts = { enqueued: 0, completed: 0, cancelled: 0, dead: 0 }
      tenants.set(label, counts)
    }
    return counts
  }
}

function newCounts(queue: string, type: string): TypeCounts {
  return {
    ...{ queue, type, enqueued: 0, retries: 0 },
    outcomes: new Map(),
    durations: new Map(),
    waits: new Histogram(),
    endToEnd: new Histogram(),
    rescued: new Map(),
    tenants: new Map(),
  }
}

function add<Key>(counts: Map<Key, number>, key: Key, more = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + more)
}
