// Everything that goes round and round in a worker beside its claims: maintenance, and the watch over memory and overload.
import { Loop } from '../maintenance/loop.ts'
import { type MaintenanceLoops, type MaintenanceServices, maintenanceLoops } from '../maintenance/services.ts'
import type { BackPressure } from './back-pressure.ts'
import type { Lease } from './lease.ts'
import type { MemoryGuard } from './memory-guard.ts'
import type { WorkerSettings } from './work-options.ts'

/** A queue that was not seen empty for so long has a backlog. */
const BACKLOG_MS = 60_000

export interface WatchedParts {
  lease: Lease
  memory: MemoryGuard
  pressure: BackPressure | undefined
}

export type LoopServices = Omit<MaintenanceServices, 'types' | 'sweepMs' | 'alerts' | 'backloggedQueues' | 'mayJudge'>

export function workerLoops(
  { lease, memory, pressure }: WatchedParts,
  { lanes, implementations, times, alerts }: WorkerSettings,
  services: LoopServices,
): MaintenanceLoops {
  const { onError } = services
  const queues = lanes.flatMap((lane) => lane.queues)
  const maintenance = maintenanceLoops({
    ...services,
    types: implementations.map(({ contract }) => contract.type),
    sweepMs: times.sweepMs,
    alerts,
    backloggedQueues: () => queues.filter(({ busyMs }) => busyMs >= BACKLOG_MS).map(({ name }) => name),
    mayJudge: () => lease.heldMs() >= times.ttlMs,
  })
  const own: Loop<unknown>[] = [new Loop(memory, { onError })]
  if (pressure !== undefined) own.push(new Loop(pressure.overload, { onError }))
  return { ...maintenance, all: [...maintenance.all, ...own] }
}
