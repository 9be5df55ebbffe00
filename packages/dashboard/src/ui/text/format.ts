// Numbers, spans and times as people read them. Pure: everything that shows one goes through here.

const WHOLE = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const ONE = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })

/** "3,918"; fractions get one digit below ten. */
export function formatNumber(value: number): string {
  return Math.abs(value) < 10 && !Number.isInteger(value) ? ONE.format(value) : WHOLE.format(value)
}

/** "48.2k", "1.3M": for places where the size matters, not the last digit. */
export function compactNumber(value: number): string {
  const size = Math.abs(value)
  if (size < 10_000) return formatNumber(value)
  const [divisor, unit] = size < 999_500 ? [1e3, 'k'] : size < 999_500_000 ? [1e6, 'M'] : [1e9, 'G']
  const scaled = value / divisor
  return `${Math.abs(scaled) < 100 ? ONE.format(scaled) : WHOLE.format(scaled)}${unit}`
}

/** A share from 0 to 1: "9.1 %", "<0.1 %". */
export function formatPercent(share: number): string {
  const percent = share * 100
  if (percent > 0 && percent < 0.1) return '<0.1 %'
  return `${Math.abs(percent) < 10 || !Number.isInteger(percent) ? percent.toFixed(1) : percent} %`
}

/** "1 job", "1,200 jobs". */
export const counted = (count: number, noun: string, plural = `${noun}s`): string =>
  `${formatNumber(count)} ${count === 1 ? noun : plural}`

const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
] as const

/** "6 min 12 s", "1.1 s", "300 ms": the two largest units. */
export function formatDuration(ms: number): string {
  if (ms < 0) return `−${formatDuration(-ms)}`
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 9_950) return `${(ms / 1_000).toFixed(1)} s`
  const rounded = ms < 60_000 ? Math.round(ms / 1_000) * 1_000 : ms
  const first = UNITS.findIndex(([unit]) => rounded >= unit)
  const [unit, name] = UNITS[first] ?? [1_000, 's']
  const whole = Math.floor(rounded / unit)
  const next = UNITS[first + 1]
  const rest = next === undefined ? 0 : Math.floor((rounded - whole * unit) / next[0])
  return next === undefined || rest === 0 ? `${whole} ${name}` : `${whole} ${name} ${rest} ${next[1]}`
}

/** One unit: "12 min", "3 h". For columns that are read at a glance. */
export function roughDuration(ms: number): string {
  const size = Math.abs(ms)
  if (size < 1_000) return size < 100 ? '0 s' : '<1 s'
  const [unit, name] = UNITS.find(([length]) => size >= length) ?? [1_000, 's']
  return `${Math.floor(size / unit)} ${name}`
}

/** "12 min ago", "in 3 min", "now". */
export function formatAge(ms: number): string {
  if (Math.abs(ms) < 1_500) return 'now'
  return ms > 0 ? `${roughDuration(ms)} ago` : `in ${roughDuration(ms)}`
}

/** A time zone by its IANA name, 'UTC', or 'local': the browser's own. */
export type TimeZone = string

const zoneOption = (zone: TimeZone) => (zone === 'local' ? {} : { timeZone: zone })

/** "14:02", or "14:02:11" if it is exact, of the same day, "17 Nov 14:02" of another. */
export function formatClock(at: Date, zone: TimeZone, now: Date, isExact = false): string {
  const options = zoneOption(zone)
  const day = new Intl.DateTimeFormat('en-GB', { ...options, day: 'numeric', month: 'short' })
  const clock = new Intl.DateTimeFormat('en-GB', {
    ...options,
    ...{ hour: '2-digit', minute: '2-digit' },
    ...(isExact && { second: '2-digit' }),
  }).format(at)
  return day.format(at) === day.format(now) ? clock : `${day.format(at)} ${clock}`
}

/** "18 November 2026, 14:02:11.042 UTC": nothing is left to guess. */
export function formatAbsolute(at: Date, zone: TimeZone): string {
  return new Intl.DateTimeFormat('en-GB', {
    ...zoneOption(zone),
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    fractionalSecondDigits: 3,
    timeZoneName: 'short',
  }).format(at)
}

/** "a, b and c". */
export function listed(names: readonly string[]): string {
  if (names.length < 2) return names[0] ?? ''
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}

const NUMBERS = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']

/** "two", "37": small numbers as words, for sentences. */
export const spelt = (count: number): string => NUMBERS[count] ?? formatNumber(count)

export const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
