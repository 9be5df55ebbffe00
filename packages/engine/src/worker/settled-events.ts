import { monotonicMs } from '../clock.ts'
import type { Events } from '../events.ts'
import type { Entry, SettleResult } from './acker.ts'
import { endRunSpan } from './run-span.ts'

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
      if (settlement.status === 'cancelled') {
        events.emit('job_cancelled', { job: run.ref(), reason: settlement.reason ?? '' })
        if (run.refusedBy !== undefined) events.emit('budget_hard_stop', { job: run.ref(), budget: run.refusedBy })
      } else if (events.has('job_completed')) {
        events.emit('job_completed', { job: run.ref(), durationMs: monotonicMs() - run.startedAtMs })
      }
      break
    case 'requeue':
      if (settlement.failure !== null) {
        events.emit('job_retry_scheduled', {
          job: run.ref(),
          failure: settlement.failure,
          delayMs: settlement.delayMs ?? 0,
        })
      } else if (settlement.crash === 'clear') {
        events.emit('job_snoozed', { job: run.ref(), delayMs: settlement.delayMs ?? 0 })
        if (run.refusedBy !== undefined) events.emit('budget_hold', { job: run.ref(), budget: run.refusedBy })
      }
      break
    case 'bury':
      events.emit('job_died', {
        job: run.ref(),
        reason: settlement.reason,
        failure: settlement.failure,
        dropped: settlement.drop,
      })
      break
  }
}
