// What the pulse is told about a claim, from the runs it has become.
import type { LaneType } from './lane.ts'
import type { PlacedJobs, PlacedKind } from './pulse-protocol.ts'
import type { Run } from './run.ts'

export function columnsOf(runId: string, runs: readonly Run[]): PlacedJobs {
  const kinds: PlacedKind[] = []
  const positions = new Map<string, Map<LaneType, number>>()
  const kindOf = new Int32Array(runs.length)
  const places = new Int32Array(runs.length)
  runs.forEach((run, i) => {
    places[i] = run.place
    kindOf[i] = positions.get(run.job.queue)?.get(run.limits) ?? addKind(run)
  })
  return { runId, ids: runs.map((run) => run.job.id), places, kinds, kindOf }

  function addKind({ job: { queue }, limits, contract: { retention }, stuckAtMs }: Run): number {
    const byType = positions.get(queue) ?? new Map<LaneType, number>()
    positions.set(queue, byType)
    byType.set(limits, kinds.length)
    return kinds.push({ queue, retention, stuckAtMs }) - 1
  }
}
