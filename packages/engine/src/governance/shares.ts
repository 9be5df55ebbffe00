// What each tenant of a queue is due, asks for and gets. Pure.
import { percentileMs } from '../histogram.ts'
import type { TenantRunsRow, TenantWorkRow } from '../store/fairness.ts'

export interface Shares {
  readonly tenant: string | null
  readonly weight: number
  readonly waiting: number
  readonly running: number
  /** In the span. */
  readonly runs: number
  /** Of the slots, by weight, among the tenants that have work; 0 to 1. */
  readonly dueShare: number
  /** Of the runs of the span; of those that run now, if none ended. 0 to 1. */
  readonly share: number
  /** What it asked for in the span, as a multiple of what it is due. */
  readonly asks: number
  readonly waitP50Ms: number | null
  /** Of its runs in the span, or how long its oldest due job has waited if that is longer. */
  readonly waitP95Ms: number | null
}

export interface SharesInput {
  readonly nowMs: number
  readonly work: readonly TenantWorkRow[]
  readonly runs: readonly TenantRunsRow[]
  /** How many runs the slots could have ended in the span; null: unknown, then as many as did. */
  readonly capacity: number | null
  weightOf(tenant: string | null): number
}

interface Sum {
  waiting: number
  running: number
  runs: number
  oldestMs: number
  waits: readonly number[]
}

/** Of every tenant with work now or in the span. */
export function sharesOf({ nowMs, work, runs, capacity, weightOf }: SharesInput): Shares[] {
  const sums = new Map<string | null, Sum>()
  const sumOf = (tenant: string | null): Sum => {
    const sum = sums.get(tenant) ?? { waiting: 0, running: 0, runs: 0, oldestMs: Number.POSITIVE_INFINITY, waits: [] }
    sums.set(tenant, sum)
    return sum
  }
  for (const row of work) {
    const sum = sumOf(row.tenant)
    sum.waiting += row.due + row.ordered + row.keyed + row.parked + row.deferred
    sum.running += row.running
    sum.oldestMs = Math.min(sum.oldestMs, row.oldestDueAt?.getTime() ?? Number.POSITIVE_INFINITY)
  }
  for (const row of runs) Object.assign(sumOf(row.tenant), { runs: row.runs, waits: row.waits })
  const all = [...sums].map(([tenant, sum]) => ({ tenant, ...sum, weight: weightOf(tenant) }))
  const total = (read: (of: (typeof all)[number]) => number) => all.reduce((sum, each) => sum + read(each), 0)
  const [weights, ended, now] = [
    total(({ weight }) => weight),
    total((each) => each.runs),
    total((each) => each.running),
  ]
  const possible = Math.max(1, capacity ?? 0, ended)
  return all.map(({ tenant, weight, waiting, running, runs: done, oldestMs, waits }) => {
    const dueShare = weight / Math.max(1, weights)
    const p95 = percentileMs(waits, 0.95)
    const oldest = oldestMs === Number.POSITIVE_INFINITY ? null : Math.max(0, nowMs - oldestMs)
    return {
      ...{ tenant, weight, waiting, running, runs: done, dueShare },
      share: ended > 0 ? done / ended : running / Math.max(1, now),
      asks: (done + waiting + running) / (possible * dueShare),
      waitP50Ms: percentileMs(waits, 0.5) ?? oldest,
      waitP95Ms: p95 === null ? oldest : Math.max(p95, oldest ?? 0),
    }
  })
}
