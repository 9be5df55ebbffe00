// How a circuit breaker changes. Pure: time is an argument, and the database only keeps what comes out.
import type { BreakerSettings } from '../contract/service.ts'
import type { BreakerFacts, BreakerOverrides, Probe } from '../store/breakers.ts'

export const CLOSED: BreakerFacts = {
  state: 'closed',
  failureCount: 0,
  successCount: 0,
  lastFailureAt: null,
  openedAt: null,
  openUntil: null,
  halfOpenedAt: null,
  probe: null,
}

export type BreakerEvent =
  /** A call ended. `by`: the run that made it. */
  | { kind: 'failure'; by: Probe }
  | { kind: 'success'; by: Probe }
  /** A run wants to be the probe. `isProbeLive`: whether the run that is noted as such still runs. */
  | { kind: 'probe'; by: Probe; isProbeLive: boolean }
  /** A probe that is no job is over, and has shown nothing. */
  | { kind: 'end'; by: Probe }
  | { kind: 'reset' }
  /** By hand. `forMs` null: until somebody resets it. */
  | { kind: 'trip'; forMs: number | null }

/** The same object if nothing changes. */
export function nextBreaker(
  now: Date,
  facts: BreakerFacts,
  event: BreakerEvent,
  settings: BreakerSettings,
): BreakerFacts {
  switch (event.kind) {
    case 'failure':
      return afterFailure(now, facts, event.by, settings)
    case 'success':
      return afterSuccess(facts, event.by, settings)
    case 'probe':
      return mayProbe(now, facts, event.isProbeLive) ? withProbe(now, facts, event.by) : facts
    case 'end':
      return isProbe(facts, event.by) ? { ...facts, probe: null } : facts
    case 'reset':
      return isPristine(facts) ? facts : closed(facts)
    case 'trip':
      return opened(now, facts, event.forMs === null ? null : later(now, event.forMs))
  }
}

/** May a run try the service now? */
export function mayProbe(now: Date, { state, openUntil }: BreakerFacts, isProbeLive: boolean): boolean {
  if (state === 'half_open') return !isProbeLive
  return state === 'open' && openUntil !== null && openUntil <= now
}

export const isProbe = ({ state, probe }: BreakerFacts, run: Probe): boolean =>
  state === 'half_open' && probe !== null && probe.jobId === run.jobId && probe.runId === run.runId

function afterFailure(now: Date, facts: BreakerFacts, by: Probe, settings: BreakerSettings): BreakerFacts {
  const until = later(now, settings.openForMs)
  if (facts.state === 'closed') {
    const failed = { ...facts, failureCount: facts.failureCount + 1, lastFailureAt: now }
    return failed.failureCount >= settings.failures ? opened(now, failed, until) : failed
  }
  // A call that began before it opened says nothing new.
  return isProbe(facts, by)
    ? opened(now, { ...facts, failureCount: facts.failureCount + 1, lastFailureAt: now }, until)
    : facts
}

function afterSuccess(facts: BreakerFacts, by: Probe, { successes }: BreakerSettings): BreakerFacts {
  if (facts.state === 'closed') return facts.failureCount > 0 ? { ...facts, failureCount: 0 } : facts
  if (!isProbe(facts, by)) return facts
  const successCount = facts.successCount + 1
  // A job may call once more. A call outside of jobs is over.
  const probe = by.jobId === null ? null : facts.probe
  return successCount >= successes ? closed(facts) : { ...facts, successCount, probe }
}

function withProbe(now: Date, facts: BreakerFacts, probe: Probe): BreakerFacts {
  if (facts.state === 'half_open') return { ...facts, probe }
  return { ...facts, state: 'half_open', successCount: 0, halfOpenedAt: now, probe }
}

function opened(now: Date, facts: BreakerFacts, openUntil: Date | null): BreakerFacts {
  return { ...facts, state: 'open', successCount: 0, openedAt: now, openUntil, halfOpenedAt: null, probe: null }
}

/** When it last failed and opened stays to be seen. */
function closed(facts: BreakerFacts): BreakerFacts {
  return { ...CLOSED, lastFailureAt: facts.lastFailureAt, openedAt: facts.openedAt }
}

const isPristine = ({ state, failureCount, successCount }: BreakerFacts): boolean =>
  state === 'closed' && failureCount === 0 && successCount === 0

const later = (time: Date, ms: number): Date => new Date(time.getTime() + ms)

/** What was set at run time stands above the code. */
export function settingsOf(code: BreakerSettings, row: BreakerOverrides | undefined): BreakerSettings {
  return {
    failures: row?.failures ?? code.failures,
    openForMs: row?.openForMs ?? code.openForMs,
    successes: row?.successes ?? code.successes,
  }
}
