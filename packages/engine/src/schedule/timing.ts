// When a schedule fires: plain data that is stored in its row, shown by previews and edited at run time.

/** 0 is Sunday. */
export type Weekday = 0 | 1 | 2 | 3 | 4 | 5 | 6

export type Timing = CronTiming | IntervalTiming | CalendarTiming

/** As a row holds it. */
export type StoredTiming = Timing | ChangedTiming

/** It was edited while fire times were due: those count by the timing before. */
export interface ChangedTiming {
  kind: 'changed'
  before: StoredTiming
  /** The time of the edit, as ISO time: up to then, itself included, `before` counts. */
  at: string
  after: Timing
}

/** The one that counts now. */
export const latestOf = (timing: StoredTiming): Timing => (timing.kind === 'changed' ? timing.after : timing)

export interface CronTiming {
  kind: 'cron'
  /** Five fields, six with seconds in front, or the Quartz form with `?`. As the author wrote it. */
  expression: string
  timeZone: string
  /** No fire is before, as ISO time: with an initial delay. */
  startsAt?: string
}

export interface IntervalTiming {
  kind: 'every'
  everyMs: number
  /** The first fire, as ISO time: the others are whole intervals after it. */
  startsAt: string
}

export interface CalendarTiming {
  kind: 'calendar'
  timeZone: string
  /** The first that covers a moment decides. */
  rules: CalendarRule[]
  /** Days, as '2026-12-25', on which only rules with `onHolidays` count. */
  holidays: string[]
}

export interface CalendarRule {
  days: Weekday[]
  /** Local time of day, '09:30'; fires begin there. */
  from: string
  /** Local time of day at which the last fire may be, at the latest; '24:00' is the end of the day. */
  to: string
  everyMs: number
  onHolidays: boolean
}
