// What the living workers said about themselves with their last heartbeats.
import type { WorkerRow } from '../store/worker-reports.ts'

export interface WorkerVitals {
  readonly id: string
  readonly host: string
  readonly pid: number
  /** Null: it runs a version that does not report. */
  readonly state: 'working' | 'quiet' | 'stopping' | null
  /** Since its last heartbeat. */
  readonly silentMs: number
  /** Of the heap's limit or of the container's memory, 0 to 1; null: it does not report. */
  readonly memoryRatio: number | null
  /** How late its event loop was at most between its last two reports. */
  readonly loopLagMs: number | null
  /** Notifications arrive; otherwise it polls. */
  readonly isListening: boolean | null
  readonly slots: number
  readonly running: number
}

export interface LaneVitals {
  readonly lane: string
  readonly queues: readonly string[]
  readonly slots: number
  readonly running: number
  /** Slots in use, 0 to 1. */
  readonly utilization: number
  readonly workers: number
}

export function workerVitals({ id, host, pid, lanes, silentMs, report }: WorkerRow): WorkerVitals {
  return {
    ...{ id, host, pid, silentMs },
    state: report?.state ?? null,
    memoryRatio: report === null ? null : report.memory.percent / 100,
    loopLagMs: report?.loopLagMs ?? null,
    isListening: report?.isListening ?? null,
    slots: Object.values(lanes).reduce((sum, slots) => sum + slots, 0),
    running: report?.running ?? 0,
  }
}

/** Lanes of the same name, of all workers, together. */
export function laneVitals(workers: readonly WorkerRow[]): LaneVitals[] {
  const lanes = new Map<string, Omit<LaneVitals, 'utilization'>>()
  for (const { name, slots, running, queues } of workers.flatMap(({ report }) => report?.lanes ?? [])) {
    const so = lanes.get(name) ?? { lane: name, queues: [], slots: 0, running: 0, workers: 0 }
    lanes.set(name, {
      lane: name,
      queues: [...new Set([...so.queues, ...queues])].sort(),
      slots: so.slots + slots,
      running: so.running + running,
      workers: so.workers + 1,
    })
  }
  return [...lanes.values()].map((lane) => ({ ...lane, utilization: lane.slots === 0 ? 0 : lane.running / lane.slots }))
}
