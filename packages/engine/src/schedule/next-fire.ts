import { calendarTimes } from './calendar.ts'
import { cronTimes } from './cron.ts'
import { type LocalTimes, nextInstant } from './local-times.ts'
import type { ChangedTiming, CronTiming, IntervalTiming, StoredTiming } from './timing.ts'
import { zoneOf } from './zone.ts'

export interface FireRange {
  /** A fire at this very time counts. */
  from: Date
  /** So does one at this. */
  to?: Date
  count?: number
}

/** The first fire strictly after that time; undefined if there will be none. */
export function nextFire(timing: StoredTiming, after: Date): Date | undefined {
  const next = nextOf(timing)(after.getTime())
  return next === undefined ? undefined : new Date(next)
}

/** The fires of a range, one by one: without `to` and `count` there may be no end to them. */
export function* fires(
  timing: StoredTiming,
  { from, to, count = Number.POSITIVE_INFINITY }: FireRange,
): Generator<Date> {
  const next = nextOf(timing)
  let fire = next(from.getTime() - 1)
  for (let i = 0; i < count && fire !== undefined; i++) {
    if (to !== undefined && fire > to.getTime()) return
    yield new Date(fire)
    fire = next(fire)
  }
}

function nextOf(timing: StoredTiming): (after: number) => number | undefined {
  switch (timing.kind) {
    case 'cron':
      return nextOfCron(timing)
    case 'calendar':
      return nextOfTimes(calendarTimes(timing), timing.timeZone)
    case 'every':
      return (after) => nextOfInterval(timing, after)
    case 'changed':
      return nextOfChanged(timing)
  }
}

function nextOfCron({ expression, timeZone, startsAt }: CronTiming): (after: number) => number | undefined {
  const next = nextOfTimes([cronTimes(expression)], timeZone)
  if (startsAt === undefined) return next
  const start = Date.parse(startsAt)
  return (after) => next(Math.max(after, start - 1))
}

function nextOfTimes(times: LocalTimes[], timeZone: string): (after: number) => number | undefined {
  const zone = zoneOf(timeZone)
  return (after) => {
    const found = times.flatMap((each) => nextInstant(each, zone, after) ?? [])
    return found.length === 0 ? undefined : Math.min(...found)
  }
}

function nextOfChanged({ before, at, after: now }: ChangedTiming): (after: number) => number | undefined {
  const changedAt = Date.parse(at)
  const [nextBefore, nextNow] = [nextOf(before), nextOf(now)]
  return (after) => {
    const old = after < changedAt ? nextBefore(after) : undefined
    return old !== undefined && old <= changedAt ? old : nextNow(Math.max(after, changedAt))
  }
}

function nextOfInterval({ everyMs, startsAt }: IntervalTiming, after: number): number {
  const start = Date.parse(startsAt)
  return after < start ? start : start + (Math.floor((after - start) / everyMs) + 1) * everyMs
}
