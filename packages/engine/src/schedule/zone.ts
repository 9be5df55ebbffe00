// What the clocks of a time zone show. A local time is held as milliseconds, as if it were UTC: 08:00 in Helsinki is 08:00Z.
import { suggestion } from '../did-you-mean.ts'
import { InvalidDefinition } from '../errors.ts'

export const DAY_MS = 86_400_000

export interface Zone {
  /** How far its clocks are ahead of UTC. */
  offsetAt(instant: number): number
  /** The first instant after `from`, and not after `to`, with another offset than at `from`. At most one may lie there. */
  changeIn(from: number, to: number): number | undefined
  /** Where a local time falls: once, twice (clocks were set back), or into a gap (they were set forward). */
  instantsOf(local: number): Instants
}

/** `times` is empty in a gap, whose end is `gapEnd`. */
export type Instants = { times: number[] } | { times: []; gapEnd: number; gapMs: number }

const formats = new Map<string, Intl.DateTimeFormat>()

export function zoneOf(timeZone: string): Zone {
  const format = formatOf(timeZone)

  function offsetAt(instant: number): number {
    const second = Math.floor(instant / 1_000) * 1_000
    const [month = 0, day = 0, year = 0, ...clock] = (format.format(second).match(/\d+/g) ?? []).map(Number)
    return Date.UTC(year, month - 1, day, clock[0], clock[1], clock[2]) - second
  }

  function changeIn(from: number, to: number): number | undefined {
    const before = offsetAt(from)
    if (to <= from || offsetAt(to) === before) return undefined
    let [low, high] = [from, to]
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      if (offsetAt(middle) === before) low = middle
      else high = middle
    }
    return high
  }

  function instantsOf(local: number): Instants {
    const before = offsetAt(local - DAY_MS)
    const after = offsetAt(local + DAY_MS)
    const offsets = before === after ? [before] : [before, after]
    const times = offsets.map((offset) => local - offset).filter((instant) => instant + offsetAt(instant) === local)
    if (times.length > 0) return { times: times.sort((a, b) => a - b) }
    const gapEnd = changeIn(local - after, local - before) ?? local - before
    return { times: [], gapEnd, gapMs: after - before }
  }

  return { offsetAt, changeIn, instantsOf }
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  let format = formats.get(timeZone)
  if (format === undefined) {
    checkTimeZone(timeZone)
    format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      ...{ year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' },
    })
    formats.set(timeZone, format)
  }
  return format
}

/** Offsets like +02:00 are refused: some versions of Node know them, and they do not follow anybody's clocks. */
export function checkTimeZone(timeZone: string): void {
  try {
    if (typeof timeZone !== 'string' || /^[+-]/.test(timeZone)) throw new RangeError()
    new Intl.DateTimeFormat('en-US', { timeZone })
  } catch {
    throw new InvalidDefinition(
      `There is no time zone ${JSON.stringify(timeZone)}.${nearestZone(String(timeZone))} Expected a name of the IANA database, like 'Europe/Helsinki' or 'UTC'.`,
    )
  }
}

/** People often know the city alone. */
function nearestZone(given: string): string {
  const known = ['UTC', ...Intl.supportedValuesOf('timeZone')]
  const city = `/${given.trim().replaceAll(' ', '_').toLowerCase()}`
  const ofCity = known.find((name) => name.toLowerCase().endsWith(city))
  return ofCity === undefined ? suggestion(given, known) : ` Did you mean "${ofCity}"?`
}
