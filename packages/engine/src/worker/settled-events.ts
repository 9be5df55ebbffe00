import { monotonicMs } from '../clock.ts'
import type { Events, MillraceEvents, RunEnd } from '../events.ts'
import type { Settlement } from '../store/settlements.ts'
import type { Entry, SettleResult } from './acker.ts'
import type { Run } from './run.ts'
import { endRunSpan } from './run-span.ts'

export const startOf = (run: Run): MillraceEvents['job_started'] => ({ job: run.ref(), waitMs: run.job.waitMs })

/** Says what became of a run: on its span, and to all listeners, inside that span. */
export function reportSettled(events: Events, entry: Entry, result: SettleResult): void {
  if (entry.run.span === undefined) emitSettled(events, entry, result)
  else endRunSpan(entry, result, () => emitSettled(events, entry, result))
}

function emitSettled(events: Events, { run, settlement }: Entry, result: SettleResult): void {
  if (result === 'lost') {
    events.emit('job_fence_lost', { job: run.ref() })
    return
  }
  if (result === 'abandoned') {
    events.emit('job_returned', { job: run.ref(), why: 'its outcome could not be written in time' })
    return
  }
  switch (settlement.kind) {
    case 'finish':
      finished(events, run, settlement)
      break
    case 'requeue':
      if (settlement.failure !== null) {
        const { failure, delayMs } = settlement
        events.emit('job_retry_scheduled', { job: run.ref(), failure, delayMs: delayMs ?? 0 })
        if (events.has('job_failed')) events.emit('job_failed', { ...endOf(run), failure, willRetry: true })
      } else if (settlement.crash === 'clear') {
        events.emit('job_snoozed', { job: run.ref(), delayMs: settlement.delayMs ?? 0 })
        if (run.refusedBy !== undefined) events.emit('budget_hold', { job: run.ref(), budget: run.refusedBy })
      }
      break
    case 'bury': {
      const { reason, failure, drop: dropped } = settlement
      events.emit('job_died', { job: run.ref(), reason, failure, dropped })
      if (events.has('job_failed')) events.emit('job_failed', { ...endOf(run), failure, willRetry: false })
      break
    }
  }
}

function finished(events: Events, run: Run, { status, reason }: Extract<Settlement, { kind: 'finish' }>): void {
  if (status === 'cancelled') {
    events.emit('job_cancelled', { ...endOf(run), reason: reason ?? '' })
    if (run.refusedBy !== undefined) events.emit('budget_hard_stop', { job: run.ref(), budget: run.refusedBy })
    return
  }
  if (events.has('job_completed'))
    events.emit('job_completed', { job: run.ref(), durationMs: monotonicMs() - run.startedAtMs })
  if (events.has('job_succeeded')) events.emit('job_succeeded', endOf(run))
}

/** The handler of a run that was fenced off may go on: then it has taken as long as it has until now. */
function endOf(run: Run): RunEnd {
  return {
    job: run.ref(),
    durationMs: (run.returnedAtMs || monotonicMs()) - run.startedAtMs,
    ageMs: run.ageMs(null),
  }
}
