// Which fire times are due, which were missed, and what comes next. Pure: the database's clock is an argument.
import type { MissedPolicy } from './define.ts'
import { fires, nextFire } from './next-fire.ts'
import { latestOf, type StoredTiming, type Timing } from './timing.ts'

/** With 'all', so many catch up. */
export const MOST_CAUGHT_UP = 100
/** With 'skip', a tick that is later than this is missed. */
const TOLERATED_MS = 60_000
/** Beyond so many the missed ones are no longer counted one by one: a day of minutes, and some 30 ms of everybody's time. */
const MOST_COUNTED = 1_500

export interface Missed {
  readonly from: Date
  readonly to: Date
  /** At most MOST_COUNTED, and then there were at least so many. */
  readonly count: number
}

export interface TickPlan {
  /** Undefined: nothing is fired now. */
  readonly fireAt: Date | undefined
  readonly missed: Missed | undefined
  /** Undefined: it never fires again. */
  readonly nextAt: Date | undefined
}

export interface DueSchedule {
  readonly timing: StoredTiming
  readonly missed: MissedPolicy
  /** The first fire time that nobody has ticked. */
  readonly nextAt: Date
  readonly now: Date
}

/** What to do about a schedule whose `nextAt` is not after `now`. */
export function planTick({ timing, missed: policy, nextAt, now }: DueSchedule): TickPlan {
  const due = dueFires(timing, nextAt, now)
  const latest = due.last.at(-1) as Date
  if (policy === 'all') {
    const fireAt = due.last[Math.max(0, due.last.length - MOST_CAUGHT_UP)] as Date
    const passed = due.count - Math.min(due.last.length, MOST_CAUGHT_UP)
    return { fireAt, missed: span(timing, nextAt, fireAt, passed), nextAt: nextFire(timing, fireAt) }
  }
  if (policy === 'skip' && now.getTime() - latest.getTime() > TOLERATED_MS) return allMissed(timing, nextAt, due)
  return { fireAt: latest, missed: span(timing, nextAt, latest, due.count - 1), nextAt: nextFire(timing, latest) }
}

/** Nobody wants what is due any more: it is noted as missed. */
export function planGivingUp({ timing, nextAt, now }: Omit<DueSchedule, 'missed'>): TickPlan {
  return allMissed(timing, nextAt, dueFires(timing, nextAt, now))
}

function allMissed(timing: StoredTiming, from: Date, { last, count }: Due): TickPlan {
  const to = last.at(-1) as Date
  return { fireAt: undefined, missed: { from, to, count }, nextAt: nextFire(timing, to) }
}

function span(timing: StoredTiming, from: Date, before: Date, count: number): Missed | undefined {
  if (count === 0) return undefined
  return { from, to: previousFire(timing, before, from) ?? from, count }
}

interface Due {
  /** The last of them, oldest first, never none. */
  readonly last: readonly Date[]
  readonly count: number
}

/** The fire times from `first`, which is one, to `now`. */
function dueFires(timing: StoredTiming, first: Date, now: Date): Due {
  const last = [first]
  let count = 1
  for (const at of fires(timing, { from: new Date(first.getTime() + 1), to: now })) {
    if (count === MOST_COUNTED) return { last: lastFires(timing, first, now), count }
    last.push(at)
    if (last.length > MOST_CAUGHT_UP) last.shift()
    count++
  }
  return { last, count }
}

/** The last fire times after `from` up to `to`, without a walk over all of them: at least 100, if there are so many. */
function lastFires(timing: StoredTiming, from: Date, to: Date): Date[] {
  const earliest = from.getTime() + 1
  for (let backMs = 1_000; ; backMs *= 2) {
    const start = Math.max(earliest, to.getTime() - backMs)
    const found = [...fires(timing, { from: new Date(start), to })]
    if (found.length >= MOST_CAUGHT_UP || start === earliest) return found
  }
}

const FARTHEST_BACK_MS = 10 * 366 * 86_400_000

/** The last fire time before `at`, not before `notBefore`; undefined: there is none, or none in ten years. */
export function previousFire(timing: StoredTiming, at: Date, notBefore?: Date): Date | undefined {
  const earliest = Math.max(notBefore?.getTime() ?? 0, at.getTime() - FARTHEST_BACK_MS)
  const to = new Date(at.getTime() - 1)
  for (let backMs = 60_000; ; backMs *= 2) {
    const start = Math.max(earliest, to.getTime() - backMs)
    const last = [...fires(timing, { from: new Date(start), to })].at(-1)
    if (last !== undefined || start === earliest) return last
  }
}

/** Of a new schedule: a fire at this very moment counts. */
export function firstFire(timing: StoredTiming, now: Date): Date | null {
  return fires(timing, { from: now, count: 1 }).next().value ?? null
}

/** An edited timing goes on from where the one before began: a program that is deployed often does not put it off. */
export function inPhase(before: StoredTiming, after: Timing): Timing {
  const old = latestOf(before)
  if (old.kind === 'cron' && after.kind === 'cron') {
    const { startsAt: _, ...anytime } = after
    return old.startsAt === undefined ? anytime : { ...anytime, startsAt: old.startsAt }
  }
  if (old.kind !== 'every' || after.kind !== 'every') return after
  return Date.parse(old.startsAt) < Date.parse(after.startsAt) ? { ...after, startsAt: old.startsAt } : after
}

export interface EditedSchedule {
  readonly nextAt: Date | null
  readonly lastFireAt: Date | null
  readonly pausedAt: Date | null
  readonly pausedUntil: Date | null
  readonly now: Date
}

/** Another timing, which counts from now on: what is due by now is settled by the one before. */
export function afterEdit(
  before: StoredTiming,
  after: Timing,
  { nextAt, lastFireAt, pausedAt, pausedUntil, now }: EditedSchedule,
): { timing: StoredTiming; nextAt: Date | null } {
  const dueSince = pausedAt === null ? nextAt : pausedUntil
  if (dueSince !== null && dueSince <= now) {
    const isOver = before.kind === 'changed' && Date.parse(before.at) < dueSince.getTime()
    return { timing: { kind: 'changed', before: isOver ? before.after : before, at: now.toISOString(), after }, nextAt }
  }
  // After a fail-over the clock may be behind what was fired.
  return { timing: after, nextAt: nextFire(after, lastFireAt !== null && lastFireAt > now ? lastFireAt : now) ?? null }
}
