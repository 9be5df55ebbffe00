// What is counted of a run that has ended.
import { monotonicMs } from '../clock.ts'
import type { EndedRun } from '../maintenance/metric-flush.ts'
import type { RunOutcome } from '../store/metrics.ts'
import type { Settlement } from '../store/settlements.ts'
import type { Run } from './run.ts'

/** Undefined: it was given back as if it had not been claimed. */
export function outcomeOf(settlement: Settlement): RunOutcome | undefined {
  if (settlement.kind === 'finish') return settlement.status
  if (settlement.kind === 'bury') return 'dead'
  if (settlement.failure !== null) return 'failed'
  return settlement.crash === 'clear' ? 'snoozed' : undefined
}

/** A run that was fenced off while its handler goes on has taken as long as it has until now. */
export function endedRun({ job, claimedAtMs, startedAtMs, returnedAtMs }: Run, outcome: RunOutcome): EndedRun {
  const { queue, type, tenant, waitMs } = job
  const endedAtMs = returnedAtMs || monotonicMs()
  // A snooze does not end an attempt.
  const isFirst = job.attempt === 1 && outcome !== 'snoozed'
  const latencyMs = isFirst ? waitMs + endedAtMs - claimedAtMs : null
  return { queue, type, tenant, outcome, durationMs: endedAtMs - startedAtMs, waitMs, latencyMs }
}
