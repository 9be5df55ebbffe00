// From the text of a value to what it means for its kind of field.
import { didYouMean } from '../did-you-mean.ts'
import { type Field, STATUSES } from './fields.ts'
import type { Match, Moment, Operator } from './query.ts'
import { quoted, Unreadable, type Value } from './terms.ts'

type Read = (field: string, value: Value) => Match

export function matchOf(field: Field, shownName: string, value: Value): Match {
  if (value.text === '' && !value.isQuoted) {
    throw new Unreadable(`${shownName} needs a value, like ${field.example}.`, value)
  }
  if (value.text === '*' && !value.isQuoted && value.operator === null && field.kind !== 'status')
    return { kind: 'any' }
  return READERS[field.kind](shownName, value)
}

const READERS: Record<Field['kind'], Read> = {
  status(field, value) {
    demandPlain(field, value)
    if ((STATUSES as readonly string[]).includes(value.text)) return { kind: 'is', value: value.text }
    const near = didYouMean(value.text, STATUSES)
    const hint = near === undefined ? `Expected one of ${STATUSES.join(', ')}.` : `Did you mean "${near}"?`
    throw new Unreadable(`There is no status "${value.text}". ${hint}`, value, near ?? null)
  },
  name: textMatch,
  text: textMatch,
  number(field, value) {
    const number = Number(value.text)
    if (!/^-?\d{1,15}$/.test(value.text))
      throw new Unreadable(`${field} takes a whole number, like 3 or >3, and got "${value.text}".`, value)
    return comparison(field, value, number) ?? { kind: 'is', value: String(number) }
  },
  id(field, value) {
    if (!/^\d{1,18}$/.test(value.text))
      throw new Unreadable(`${field} takes an id, which is a number, and got "${value.text}".`, value)
    return comparison(field, value, value.text) ?? { kind: 'is', value: value.text }
  },
  uuid(field, value) {
    demandPlain(field, value)
    if (/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(value.text)) return { kind: 'is', value: value.text }
    throw new Unreadable(`${field} takes a whole id like ${EXAMPLE_ID}, and got "${value.text}".`, value)
  },
  fingerprint(field, value) {
    demandPlain(field, value)
    const text = value.text.toLowerCase().replace(/\*$/, '')
    if (/^[\da-f]{1,64}$/.test(text)) return { kind: 'starts', value: text }
    throw new Unreadable(`${field} takes a fingerprint or its beginning, like 9f3a, and got "${value.text}".`, value)
  },
  time(field, value) {
    const time = timeOf(value)
    if (time === undefined) {
      const expected = 'a time like -2h, +30m, 2026-11-18 or 2026-11-18T14:30Z'
      throw new Unreadable(`${field} takes ${expected}, and got "${value.text}".`, value)
    }
    const compared = comparison(field, value, time.moment)
    if (compared !== undefined) return compared
    if ('end' in time) return { kind: 'during', from: time.moment, to: { at: time.end } }
    const meant = `${time.moment.fromNowMs < 0 ? '>' : '<'}${value.text}`
    throw new Unreadable(`${field}:${value.text} is a single moment. Did you mean "${meant}"?`, value, meant)
  },
  duration(field, value) {
    const ms = durationMs(value.text)
    if (ms === undefined)
      throw new Unreadable(`${field} takes a length of time, like >5m or <30s, and got "${value.text}".`, value)
    const compared = comparison(field, value, ms)
    if (compared !== undefined) return compared
    throw new Unreadable(
      `${field}:${value.text} hits no job exactly. Did you mean ">${value.text}"?`,
      value,
      `>${value.text}`,
    )
  },
  payload(field, value) {
    if (value.operator === null || value.operator === '~') return textMatch(field, value)
    const number = Number(value.text)
    if (value.text.trim() !== '' && Number.isFinite(number)) return compareWith(value.operator, number)
    throw new Unreadable(`Only numbers can be compared in a payload, and "${value.text}" is none.`, value)
  },
}

const EXAMPLE_ID = '0190c2d4-5e0a-7aa1-8a51-0b9f1d2c3e4f'

function textMatch(field: string, value: Value): Match {
  if (value.operator === '~') return { kind: 'contains', value: value.text }
  if (value.operator !== null) {
    const meant = quoted(value.text)
    throw new Unreadable(`${field} is a text and has no order: ${value.operator} does not apply.`, value, meant)
  }
  const isPrefix = !value.isQuoted && value.text.endsWith('*')
  return isPrefix ? { kind: 'starts', value: value.text.slice(0, -1) } : { kind: 'is', value: value.text }
}

function demandPlain(field: string, value: Value): void {
  if (value.operator === null) return
  throw new Unreadable(`${field} takes a value without ${value.operator}.`, value, quoted(value.text))
}

function comparison(field: string, value: Value, operand: number | string | Moment): Match | undefined {
  if (value.operator === '~') throw new Unreadable(`~ looks for a part of a text, and ${field} is none.`, value)
  return value.operator === null ? undefined : compareWith(value.operator, operand)
}

const compareWith = (operator: Operator, value: number | string | Moment): Match => ({
  kind: 'compare',
  operator,
  value,
})

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const
/** Ten years: further than anything is kept. */
const LONGEST_MS = 3_650 * UNITS.d

function durationMs(text: string): number | undefined {
  const match = /^(\d{1,12}(?:\.\d{1,3})?)(ms|s|m|h|d|w)$/.exec(text)
  const ms = match === null ? Number.NaN : Number(match[1]) * UNITS[match[2] as keyof typeof UNITS]
  return ms <= LONGEST_MS ? ms : undefined
}

const TIME = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d)(:\d\d(?:\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)?)?$/

/** A moment, and the end of the day, minute or second that its text names. */
function timeOf({ text }: Value): { moment: { at: Date }; end: Date } | { moment: { fromNowMs: number } } | undefined {
  if (text === 'now') return { moment: { fromNowMs: 0 } }
  const sign = text[0] === '-' ? -1 : 1
  const relativeMs = /^[+-]/.test(text) ? durationMs(text.slice(1)) : undefined
  if (relativeMs !== undefined) return { moment: { fromNowMs: sign * relativeMs } }
  const match = TIME.exec(text)
  if (match === null) return undefined
  const [, day, minute = '00:00', second = ':00', zone = 'Z'] = match
  const at = new Date(`${day}T${minute}${second}${zone}`)
  if (Number.isNaN(at.getTime()) || !isDay(day as string)) return undefined
  const lengthMs = match[2] === undefined ? UNITS.d : match[3] === undefined ? UNITS.m : UNITS.s
  return { moment: { at }, end: new Date(at.getTime() + lengthMs) }
}

/** JavaScript takes the 31st of February for the 3rd of March. */
const isDay = (day: string): boolean => new Date(`${day}T00:00:00Z`).toISOString().startsWith(day)
