// What `millrace top` shows, read in one go.
import type { Millrace, Pause, Stats, TypeStats, WorkerState } from 'millrace'

export interface QueueRow {
  readonly queue: string
  readonly waiting: number
  readonly due: number
  readonly oldestDueAt: Date | null
  readonly running: number
  readonly dead: number
  /** Jobs that ended in the last hour. */
  readonly finished: number
  readonly waitP95Ms: number | null
  /** Pauses that name the queue. */
  readonly pauses: readonly Pause[]
}

export interface LaneRow {
  readonly name: string
  readonly slots: number
  readonly running: number
}

export interface RunRow {
  readonly jobId: string
  readonly type: string
  readonly since: Date
  readonly host: string
}

export interface Reading {
  readonly at: Date
  readonly workers: number
  readonly quiet: number
  readonly queues: readonly QueueRow[]
  readonly lanes: readonly LaneRow[]
  readonly tenants: Stats['tenants']
  /** Types with failures in the last hour, most first. */
  readonly failing: readonly TypeStats[]
  /** Types by the P95 of their runs in the last hour, slowest first. */
  readonly slow: readonly TypeStats[]
  /** The longest first. */
  readonly runs: readonly RunRow[]
}

const MOST = 5

export async function read(millrace: Millrace): Promise<Reading> {
  const { types, tenants } = await millrace.stats()
  const workers = await millrace.workers.list()
  const pauses = await millrace.pauses.list()
  return {
    at: new Date(),
    workers: workers.length,
    quiet: workers.filter(({ report }) => report?.state === 'quiet').length,
    queues: queuesOf(types, pauses),
    lanes: lanesOf(workers),
    tenants: [...tenants].sort((a, b) => b.waiting - a.waiting).slice(0, MOST),
    failing: most(types, ({ lastHour }) => lastHour.failed + lastHour.dead + lastHour.crashed),
    slow: most(types, ({ lastHour }) => lastHour.durationP95Ms ?? 0),
    runs: runsOf(workers).slice(0, MOST),
  }
}

function most(types: readonly TypeStats[], measure: (row: TypeStats) => number): TypeStats[] {
  const worst = types.filter((row) => row.type !== null && measure(row) > 0)
  return worst.sort((a, b) => measure(b) - measure(a)).slice(0, MOST)
}

function queuesOf(types: readonly TypeStats[], pauses: readonly Pause[]): QueueRow[] {
  const names = [...new Set(types.map(({ queue }) => queue))]
  return names.map((queue) => {
    const rows = types.filter((row) => row.queue === queue)
    const sum = (count: (row: TypeStats) => number) => rows.reduce((total, row) => total + count(row), 0)
    const dues = rows.flatMap(({ oldestDueAt }) => oldestDueAt ?? [])
    const waits = rows.flatMap(({ lastHour }) => lastHour.waitP95Ms ?? [])
    return {
      queue,
      waiting: sum((row) => row.waiting),
      due: sum((row) => row.due),
      oldestDueAt: dues.length === 0 ? null : new Date(Math.min(...dues.map((due) => due.getTime()))),
      running: sum((row) => row.running),
      dead: sum((row) => row.dead),
      finished: sum((row) => row.lastHour.finished),
      waitP95Ms: waits.length === 0 ? null : Math.max(...waits),
      pauses: pauses.filter((pause) => pause.queue === queue && pause.type === null && pause.tenant === null),
    }
  })
}

/** Of all workers together. */
function lanesOf(workers: readonly WorkerState[]): LaneRow[] {
  const lanes = new Map<string, LaneRow>()
  for (const { name, slots, running } of workers.flatMap(({ report }) => report?.lanes ?? [])) {
    const other = lanes.get(name) ?? { name, slots: 0, running: 0 }
    lanes.set(name, { name, slots: other.slots + slots, running: other.running + running })
  }
  return [...lanes.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

function runsOf(workers: readonly WorkerState[]): RunRow[] {
  return workers
    .flatMap(({ host, report }) => (report?.runs ?? []).map((run) => ({ ...run, host })))
    .sort((a, b) => a.since.getTime() - b.since.getTime())
}
