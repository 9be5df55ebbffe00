// Axes: round numbers and round times. Pure.
import type { TimeZone } from '../text/format.ts'

/** The least round number that is at least `most` and has a round half. */
export function niceTop(most: number): number {
  if (!(most > 0)) return 2
  const power = 10 ** Math.floor(Math.log10(most))
  const step = [1, 2, 3, 4, 6, 8, 10].find((each) => each * power >= most) ?? 10
  return Math.max(2, power === 1 && step === 3 ? 4 : step * power)
}

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** As niceTop for durations in ms, whose round numbers are those of clocks. */
export function niceDurationTop(most: number): number {
  const tops = [10, 20, 50, 100, 200, 500, SECOND, 2 * SECOND, 5 * SECOND, 10 * SECOND, 20 * SECOND, 30 * SECOND]
  const longer = [MINUTE, 2 * MINUTE, 4 * MINUTE, 6 * MINUTE, 10 * MINUTE, 20 * MINUTE, 30 * MINUTE, HOUR]
  const longest = [2 * HOUR, 4 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 4 * DAY, 7 * DAY]
  return [...tops, ...longer, ...longest].find((top) => top >= most) ?? Math.ceil(most / DAY / 10) * 10 * DAY
}

export interface Tick {
  readonly at: number
  /** From 0 to 1. */
  readonly share: number
  readonly text: string
}

const STEPS = [
  MINUTE,
  2 * MINUTE,
  5 * MINUTE,
  10 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  3 * HOUR,
  6 * HOUR,
]
const LONG_STEPS = [12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY, 30 * DAY]

/** At most `most` round times between two. */
export function timeTicks(from: number, to: number, zone: TimeZone, most = 7): Tick[] {
  const length = to - from
  if (!(length > 0)) return []
  const step = [...STEPS, ...LONG_STEPS].find((each) => length / each <= most) ?? 30 * DAY
  const offset = zoneOffset(from, zone)
  const first = Math.ceil((from + offset) / step) * step - offset
  const options = { ...(zone !== 'local' && { timeZone: zone }) }
  const isDays = step >= DAY
  const format = new Intl.DateTimeFormat(
    'en-GB',
    isDays ? { ...options, day: 'numeric', month: 'short' } : { ...options, hour: '2-digit', minute: '2-digit' },
  )
  const ticks: Tick[] = []
  for (let at = first; at <= to; at += step) {
    const share = (at - from) / length
    // One at the very edge would be cut off.
    if (share > 0.03 && share < 0.97) ticks.push({ at, share, text: format.format(at) })
  }
  return ticks
}

/** How far the clocks of a zone are ahead of UTC, so that days begin at its midnight. */
function zoneOffset(at: number, zone: TimeZone): number {
  if (zone === 'UTC') return 0
  if (zone === 'local') return -new Date(at).getTimezoneOffset() * MINUTE
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    ...{ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' },
  }).formatToParts(at)
  const part = (type: string) => Number(parts.find((each) => each.type === type)?.value)
  const there = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'))
  return there - Math.floor(at / MINUTE) * MINUTE
}
