// The course of one job: when it was enqueued, how each of its runs ended, and what became of it.
import { type Failure, failureFrom } from 'millrace/testing'
import { errorOf, FLAWS, type Flaw } from '../failures.ts'
import type { Profile } from '../profiles.ts'
import { type Dice, logNormal } from '../random.ts'

const HOUR_MS = 3_600_000
const CANCELLED = 0.003

export interface CourseRun {
  readonly dueAt: number
  readonly startedAt: number
  readonly endedAt: number
  readonly outcome: 'completed' | 'cancelled' | 'failed' | 'dead'
  readonly failure: Failure | null
}

export type CourseEnd =
  | { readonly status: 'completed' | 'cancelled'; readonly reason: string | null }
  | { readonly status: 'dead'; readonly reason: 'exhausted' | 'unrecoverable' }
  /** It goes on: due then. */
  | { readonly status: 'pending'; readonly runAt: number }

export interface Course {
  readonly runs: readonly CourseRun[]
  readonly end: CourseEnd
}

export interface CoursePlan {
  readonly profile: Profile
  readonly createdAt: number
  /** How much longer than usual it waits. */
  readonly delayed: number
  readonly now: number
  /** All of its attempts fail like this. */
  readonly flaw?: Flaw
}

/** Until it ended, or until now. */
export function courseOf(roll: Dice, { profile, createdAt, delayed, now, flaw: pinned }: CoursePlan): Course {
  const { retry, type } = profile.contract
  const runs: CourseRun[] = []
  const isCancelled = pinned === undefined && roll() < CANCELLED
  let flaw: Flaw | undefined
  let dueAt = createdAt
  for (let attempt = 1; ; attempt++) {
    const startedAt = dueAt + logNormal(roll, profile.waitMs * delayed)
    const endedAt = startedAt + logNormal(roll, profile.durationMs)
    // Its worker begins it later than this.
    if (endedAt >= now) return { runs, end: { status: 'pending', runAt: dueAt } }
    if (pinned !== undefined) flaw = pinned
    else if (flaw?.isLasting !== true || !lasts(flaw, startedAt, now))
      flaw = flawOf(roll, type, hoursBefore(now, startedAt))
    const run = { dueAt, startedAt, endedAt }
    if (isCancelled && flaw === undefined) {
      runs.push({ ...run, outcome: 'cancelled', failure: null })
      return { runs, end: { status: 'cancelled', reason: 'the order was withdrawn' } }
    }
    if (flaw === undefined) {
      runs.push({ ...run, outcome: 'completed', failure: null })
      return { runs, end: { status: 'completed', reason: null } }
    }
    const error = errorOf(flaw, roll)
    const isLast = flaw.isFinal === true || attempt >= retry.attempts
    runs.push({ ...run, outcome: isLast ? 'dead' : 'failed', failure: failureFrom(error) })
    if (isLast) return { runs, end: { status: 'dead', reason: flaw.isFinal ? 'unrecoverable' : 'exhausted' } }
    dueAt = endedAt + retry.backoff({ attempt, error, random: roll() })
  }
}

const hoursBefore = (now: number, at: number) => (now - at) / HOUR_MS

const lasts = ({ from = Number.POSITIVE_INFINITY, to = 0 }: Flaw, at: number, now: number) => {
  const hours = hoursBefore(now, at)
  return hours <= from && hours > to
}

function flawOf(roll: Dice, type: string, hours: number): Flaw | undefined {
  let at = roll()
  for (const flaw of FLAWS) {
    const { from = Number.POSITIVE_INFINITY, to = 0, share } = flaw
    if (flaw.type !== type || hours > from || hours <= to) continue
    if (at < share) return flaw
    at -= share
  }
  return undefined
}
