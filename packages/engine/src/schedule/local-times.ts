// From times on a clock to instants, with what daylight saving does to them. The rule, for crons and calendars alike:
//
//   fixed     times of day, like 02:30. One that clocks skip fires once, at the end of the gap; one that they show twice
//             fires the first time only.
//   frequent  with `*`, a range or a step in its time of day, like every 15 minutes. It fires whenever clocks show a time
//             that fits: not in the gap, and in both of two equal hours, so that the distance stays even in real time.
//
// Where clocks skip more than three hours, a zone has changed sides of the date line: that day does not exist, nor do
// its fires.
import { DAY_MS, type Zone } from './zone.ts'

/** Times on a clock that knows no daylight saving. */
export interface LocalTimes {
  readonly isFixed: boolean
  /** The first strictly after that local time. */
  after(local: number): number | undefined
}

/** 29 February on a given weekday can be forty years away. What does not fire in fifty never does. */
const HORIZON_MS = 50 * 366 * DAY_MS
const LONGEST_SHIFT_MS = 3 * 3_600_000

/** The first instant strictly after that one. */
export function nextInstant(times: LocalTimes, zone: Zone, after: number): number | undefined {
  return times.isFixed ? nextFixed(times, zone, after) : nextFrequent(times, zone, after)
}

function nextFixed(times: LocalTimes, zone: Zone, after: number): number | undefined {
  const start = latestShown(zone, after)
  let local = times.after(start)
  while (local !== undefined && local - start < HORIZON_MS) {
    const found = zone.instantsOf(local)
    if (!('gapEnd' in found)) return found.times[0]
    if (found.gapMs <= LONGEST_SHIFT_MS) return found.gapEnd
    local = times.after(local)
  }
  return undefined
}

/** The latest time that clocks have shown up to then: after they were set back, later than the one they show. */
function latestShown(zone: Zone, instant: number): number {
  const local = instant + zone.offsetAt(instant)
  const change = zone.changeIn(instant - DAY_MS, instant)
  return change === undefined ? local : Math.max(local, change - 1 + zone.offsetAt(change - 1))
}

function nextFrequent(times: LocalTimes, zone: Zone, after: number): number | undefined {
  /** Nothing fires between `after` and this, but for `local` and later. */
  let from = after
  let local = after + zone.offsetAt(after)
  while (from - after < HORIZON_MS) {
    const next = times.after(local)
    const expected = next === undefined ? Number.POSITIVE_INFINITY : next - zone.offsetAt(from)
    const soon = Math.min(expected, from + DAY_MS)
    const change = zone.changeIn(from, soon)
    if (change !== undefined) {
      from = change
      local = change + zone.offsetAt(change) - 1
    } else if (expected === soon) {
      return expected
    } else if (next === undefined) {
      return undefined
    } else {
      // Changes on the way do not matter: no time that fits is between, so none is skipped or repeated.
      from = Math.max(soon, expected - 2 * DAY_MS)
      local = from + zone.offsetAt(from)
    }
  }
  return undefined
}
