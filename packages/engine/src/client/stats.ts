// How the queues stand: what waits, runs and has failed, and what became of runs in the last hour.
//
// Live jobs are counted in the indexes of the claims; what has ended is read of the counts by minute, however large the archive is.
import type { Clock } from '../clock.ts'
import type { Registry } from '../contract/registry.ts'
import { addTo, percentileMs } from '../histogram.ts'
import { catalogueList } from '../store/catalogue.ts'
import type { Database } from '../store/db.ts'
import { type QueueCount, queueCounts } from '../store/jobs.ts'
import type { RunOutcome } from '../store/metrics.ts'
import { type Pause, pauseList } from '../store/pauses.ts'
import { type LiveRow, type RecentRuns, statsDead, statsLive, statsRuns, statsTenantWaits } from '../store/stats.ts'
import type { CatalogueType } from './catalogue-document.ts'

export interface QueueState extends QueueCount {
  /** That name the queue, also those that hold only a type or tenant of it. */
  readonly pauses: readonly Pause[]
}

interface LiveStats {
  readonly queue: string
  /** All that does not run: due, scheduled for later, or blocked. */
  readonly waiting: number
  readonly due: number
  readonly oldestDueAt: Date | null
  readonly running: number
  /** Of those that wait, held by others of their key or by their tenant's state. */
  readonly blocked: number
  /** Of those that wait, after an attempt that failed. */
  readonly failed: number
  /** That hold jobs of this row, or some of them. */
  readonly pauses: readonly Pause[]
}

export interface TypeStats extends LiveStats {
  /** Null: the queue is idle, and no type of it is known. */
  readonly type: string | null
  /** Of those that wait or run, jobs without a tenant. */
  readonly withoutTenant: number
  /** Dead letters that wait for a decision. */
  readonly dead: number
  readonly lastHour: RecentStats
}

export interface TenantStats extends LiveStats {
  readonly tenant: string
  /** Of its runs in the last hour; null: there were none, or other tenants were busier. */
  readonly waitP95Ms: number | null
}

export interface RecentStats extends Readonly<Record<RunOutcome, number>> {
  /** Jobs that ended: completed, cancelled or dead. */
  readonly finished: number
  readonly durationP50Ms: number | null
  readonly durationP95Ms: number | null
  readonly durationP99Ms: number | null
  /** From the time at which a job was due to its claim. */
  readonly waitP95Ms: number | null
}

export interface Stats {
  /** By queue and type. */
  readonly types: readonly TypeStats[]
  /** By queue and tenant: those with most jobs, at most fifty. */
  readonly tenants: readonly TenantStats[]
}

const HOUR_MS = 3_600_000
const MAX_TENANTS = 50

export class StatsReader {
  readonly #services: { db: Database; clock: Clock; registry: Registry }

  constructor(services: { db: Database; clock: Clock; registry: Registry }) {
    this.#services = services
  }

  /** Every queue that is known, also idle and paused ones. */
  async queues(): Promise<QueueState[]> {
    const { db, clock, registry } = this.#services
    const now = clock.databaseNow()
    const counts = new Map((await queueCounts(db, now)).map((count) => [count.queue, count]))
    const pauses = await pauseList(db, now)
    const declared = (await catalogueList(db, 'queue')).map(({ name }) => name)
    const paused = pauses.flatMap(({ queue }) => queue ?? [])
    const names = new Set([...counts.keys(), ...registry.queues, ...declared, ...paused])
    return [...names].sort().map((queue) => ({
      ...(counts.get(queue) ?? { queue, due: 0, scheduled: 0, processing: 0, blocked: 0 }),
      pauses: pauses.filter((pause) => pause.queue === queue),
    }))
  }

  async stats(): Promise<Stats> {
    const { db, clock } = this.#services
    const now = clock.databaseNow()
    const live = await statsLive(db, now, MAX_TENANTS)
    const pauses = await pauseList(db, now)
    const busiest = live.filter(({ tenant }) => tenant !== null)
    const waits = new Map(
      (await statsTenantWaits(db, now, HOUR_MS, busiest)).map((row) => [`${row.queue}\0${row.tenant}`, row.waits]),
    )
    return {
      types: await this.#types(
        live.filter(({ tenant }) => tenant === null),
        pauses,
      ),
      tenants: busiest.map(({ type: _, tenant, withoutTenant: __, ...row }) => ({
        ...row,
        tenant: tenant as string,
        waitP95Ms: percentileMs(waits.get(`${row.queue}\0${tenant}`) ?? [], 0.95),
        pauses: pauses.filter((pause) => concerns(pause, { queue: row.queue, tenant })),
      })),
    }
  }

  async #types(live: readonly LiveRow[], pauses: readonly Pause[]): Promise<TypeStats[]> {
    const { db, clock } = this.#services
    const counts = new Map(live.map((row) => [keyOf(row), row]))
    const dead = new Map((await statsDead(db)).map((row) => [keyOf(row), row]))
    const recent = await statsRuns(db, clock.databaseNow(), HOUR_MS)
    const runs = (kind: string) => recent.filter((row) => keyOf(row) === kind)
    const kinds = new Map<string, { queue: string; type: string | null }>()
    for (const kind of [...live, ...dead.values(), ...recent, ...(await this.#declared(pauses))])
      kinds.set(keyOf(kind), kind)
    return [...withoutEmpty([...kinds.values()])].sort(byName).map(({ queue, type }) => {
      const live = counts.get(keyOf({ queue, type })) ?? NOTHING
      const { waiting, due, oldestDueAt, running, blocked, failed, withoutTenant } = live
      return {
        ...{ queue, type, waiting, due, oldestDueAt, running, blocked, failed, withoutTenant },
        dead: dead.get(keyOf({ queue, type }))?.dead ?? 0,
        lastHour: recentStats(runs(keyOf({ queue, type }))),
        pauses: pauses.filter((pause) => concerns(pause, { queue, type })),
      }
    })
  }

  /** What the code here and the programs of workers declare, and queues that are paused. */
  async #declared(pauses: readonly Pause[]): Promise<{ queue: string; type: string | null }[]> {
    const { db, registry } = this.#services
    const entries = await catalogueList(db, null)
    return [
      ...registry.contracts.map(({ queue, type }) => ({ queue: queue.name, type })),
      ...entries.flatMap(({ kind, name, document }) => {
        if (kind === 'type') return { queue: (document as CatalogueType).queue, type: name }
        return kind === 'queue' ? { queue: name, type: null } : []
      }),
      ...pauses.flatMap(({ queue }) => (queue === null ? [] : { queue, type: null })),
    ]
  }
}

const NOTHING = { waiting: 0, due: 0, oldestDueAt: null, running: 0, blocked: 0, failed: 0, withoutTenant: 0 }

const keyOf = ({ queue, type }: { queue: string; type: string | null }): string => `${queue}\0${type ?? ''}`

const byName = (a: { queue: string; type: string | null }, b: { queue: string; type: string | null }): number =>
  keyOf(a) < keyOf(b) ? -1 : 1

/** A queue stands for itself only while no type of it is known. */
function withoutEmpty(kinds: readonly { queue: string; type: string | null }[]) {
  const named = new Set(kinds.flatMap(({ queue, type }) => (type === null ? [] : queue)))
  return kinds.filter(({ queue, type }) => type !== null || !named.has(queue))
}

/** Does it hold jobs of this row, or some of them? A pause of a tenant alone stands only in the rows of the tenant. */
function concerns(pause: Pause, row: { queue: string; type?: string | null; tenant?: string | null }): boolean {
  if ((pause.queue ?? row.queue) !== row.queue) return false
  if (row.tenant != null) return (pause.tenant ?? row.tenant) === row.tenant && pause.type === null
  if (pause.queue === null && pause.type === null) return false
  return row.type == null || (pause.type ?? row.type) === row.type
}

const OUTCOMES = ['completed', 'cancelled', 'failed', 'dead', 'snoozed', 'crashed'] as const

function recentStats(rows: readonly RecentRuns[]): RecentStats {
  const count = (outcome: RunOutcome) => rows.find((row) => row.outcome === outcome)?.runs ?? 0
  const counts = Object.fromEntries(OUTCOMES.map((outcome) => [outcome, count(outcome)])) as Record<RunOutcome, number>
  const durations: number[] = []
  const waits: number[] = []
  for (const row of rows) {
    addTo(waits, row.waits)
    // A run that was put off says little about how long the work takes.
    if (row.outcome !== 'snoozed') addTo(durations, row.durations)
  }
  return {
    ...counts,
    finished: counts.completed + counts.cancelled + counts.dead,
    durationP50Ms: percentileMs(durations, 0.5),
    durationP95Ms: percentileMs(durations, 0.95),
    durationP99Ms: percentileMs(durations, 0.99),
    waitP95Ms: percentileMs(waits, 0.95),
  }
}
