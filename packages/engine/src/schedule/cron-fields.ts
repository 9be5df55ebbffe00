// Reads a cron expression field by field, so that an error can name the field, and writes it in the one form that
// the library behind `cron.ts` takes: six fields and years, weekdays from 0 = Sunday.
import { suggestion } from '../did-you-mean.ts'
import { InvalidDefinition } from '../errors.ts'

export interface CronFields {
  second: string
  minute: string
  hour: string
  day: string
  month: string
  weekday: string
  year: string
}

interface Field {
  name: keyof CronFields
  min: number
  max: number
  example: string
  names?: string[]
}

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']
const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']

const FIELDS: Field[] = [
  { name: 'second', min: 0, max: 59, example: '*/10' },
  { name: 'minute', min: 0, max: 59, example: '*/15' },
  { name: 'hour', min: 0, max: 23, example: '8-17' },
  { name: 'day', min: 1, max: 31, example: '1,15' },
  { name: 'month', min: 1, max: 12, example: 'JAN-MAR', names: MONTHS },
  { name: 'weekday', min: 0, max: 7, example: 'MON-FRI', names: WEEKDAYS },
  { name: 'year', min: 1970, max: 2099, example: '2026-2028' },
]

const QUARTZ_FIELDS = FIELDS.map((field) => (field.name === 'weekday' ? { ...field, min: 1 } : field))

const NICKNAMES: Record<string, string> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

const FORMS =
  "Expected 5 fields (minute hour day month weekday), like '0 8 * * *'; 6 with seconds in front, like '30 0 8 * * *'; or the Quartz form with `?` for one of the days, like '0 0 8 * * ?'."

export function readCron(expression: string): CronFields {
  if (typeof expression !== 'string') throw unreadable(expression, `it is no text. ${FORMS}`)
  const trimmed = expression.trim()
  const texts = (trimmed.startsWith('@') ? nickname(expression, trimmed) : trimmed).toUpperCase().split(/\s+/)
  const isQuartz = texts.length >= 6 && texts.some((text) => text.includes('?'))
  checkForm(expression, texts, isQuartz)
  if (texts.length === 5) texts.unshift('0')
  const fields = isQuartz ? QUARTZ_FIELDS : FIELDS
  const read = fields.map((field, i) => {
    const items = (texts[i] ?? '*').split(',')
    return items.map((item) => readItem({ expression, field, item, isQuartz, isAlone: items.length === 1 })).join(',')
  })
  return Object.fromEntries(fields.map(({ name }, i) => [name, read[i]])) as unknown as CronFields
}

function nickname(expression: string, name: string): string {
  const found = NICKNAMES[name.toLowerCase()]
  if (found !== undefined) return found
  const known = Object.keys(NICKNAMES)
  const remedy = name.startsWith('@every')
    ? "Intervals are not cron: write every('15m')."
    : `Expected one of ${known.join(', ')}.`
  throw unreadable(expression, `there is no such nickname.${suggestion(name, known)} ${remedy}`)
}

function checkForm(expression: string, texts: string[], isQuartz: boolean): void {
  const { length } = texts
  if (length < 5 || length > 7)
    throw unreadable(expression, `it has ${length === 1 ? '1 field' : `${length} fields`}. ${FORMS}`)
  const marks = texts.flatMap((text, i) => (text.includes('?') ? [i] : []))
  if (isQuartz) {
    if (marks.length === 1 && (texts[3] === '?' || texts[5] === '?')) return
    const detail =
      'with `?` it is of the Quartz form (second minute hour day month weekday, perhaps year), where exactly'
    throw unreadable(expression, `${detail} one of day and weekday is \`?\`, like '0 0 8 * * ?'.`)
  }
  if (length === 7)
    throw unreadable(
      expression,
      `7 fields are the Quartz form, where one of the days is \`?\`, like '0 0 8 * * ? 2026'.`,
    )
  if (marks.length > 0)
    throw unreadable(expression, `\`?\` belongs to the Quartz form, which begins with seconds, like '0 0 8 * * ?'.`)
}

interface Item {
  expression: string
  field: Field
  item: string
  isQuartz: boolean
  isAlone: boolean
}

function readItem(given: Item): string {
  const { field, item, isQuartz } = given
  if (item === '*' || item === '?') return '*'
  if (field.name === 'day') {
    if (item === 'L' || (item === 'LW' && given.isAlone)) return item
    const [, near] = /^(\d+)W$/.exec(item) ?? []
    if (near !== undefined) return `${numberOf(given, near)}W`
  }
  if (field.name === 'weekday') {
    if (item === 'L' && isQuartz) return '6'
    const [, day, which] = /^(\w+?)(L|#[1-5])$/.exec(item) ?? []
    if (day !== undefined) return `${weekdayOf(given, day)}${which}`
  }
  const [, first = '', last, step] = /^(\*|\w+)(?:-(\w+))?(?:\/(\d+))?$/.exec(item) ?? []
  if (first === '' || (first === '*' && last !== undefined)) throw misread(given, 'which is not of a known form')
  if (step !== undefined) checkStep(given, Number(step))
  // The library would count years from 0.
  if (first === '*') return field.name === 'year' ? `${field.min}-${field.max}/${step}` : `*/${step}`
  if (last === undefined && step !== undefined && !isQuartz)
    throw misread(given, `which can mean two things: write ${first}-${field.max}/${step}, or */${step}`)
  return rangeOf(given, { first, last, step })
}

interface Range {
  first: string
  last: string | undefined
  step: string | undefined
}

function rangeOf(given: Item, { first, last, step }: Range): string {
  const { field } = given
  if (field.name === 'weekday') return weekdaysOf(given, { first, last, step })
  const from = numberOf(given, first)
  if (last === undefined && step === undefined) return String(from)
  const to = last === undefined ? field.max : numberOf(given, last)
  if (to < from)
    throw misread(given, `which goes backwards: write ${from}-${field.max},${field.min}-${to} if that is meant`)
  return `${from}-${to}${step === undefined ? '' : `/${step}`}`
}

/** Spelt out, because a week has no first day that all agree on: FRI-MON is four days. */
function weekdaysOf(given: Item, { first, last, step }: Range): string {
  const from = weekdayOf(given, first)
  if (last === undefined && step === undefined) return String(from)
  const to = last === undefined ? 6 : weekdayOf(given, last)
  // From Sunday to Sunday, as in 0-7, is the whole week.
  const length = to > from || (to === from && first === last) ? to - from : to - from + 7
  const days: number[] = []
  for (let i = 0; i <= length; i += Number(step ?? 1)) days.push((from + i) % 7)
  return [...new Set(days)].join(',')
}

/** 0 is Sunday, whatever the form. */
function weekdayOf(given: Item, text: string): number {
  const value = numberOf(given, text)
  const isName = given.field.names?.includes(text)
  return given.isQuartz && !isName ? value - 1 : value % 7
}

function numberOf(given: Item, text: string): number {
  const { min, max, name, names } = given.field
  const named = names?.indexOf(text) ?? -1
  if (named >= 0) return name === 'month' ? named + 1 : named
  const value = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= max) return value
  throw misread(
    given,
    text === given.item ? 'which is not one of its values' : `where "${text}" is not one of its values`,
  )
}

function checkStep(given: Item, step: number): void {
  const { min, max } = given.field
  if (step >= 1 && step <= max - min) return
  throw misread(
    given,
    `whose step is ${step}, where 1 to ${max - min} is possible (for other intervals there is every('90m'))`,
  )
}

function misread({ expression, field, item, isQuartz }: Item, problem: string): InvalidDefinition {
  const { name, min, max, names, example } = field
  const numbers = name === 'weekday' ? (isQuartz ? ' (1 is Sunday)' : ' (0 and 7 are Sunday)') : ''
  const named = names === undefined ? '' : ` or ${names[0]} to ${names.at(-1)}`
  const more = name === 'day' ? ', L, LW or 15W' : name === 'weekday' ? ', or with L or #, as FRIL and MON#1' : ''
  return unreadable(
    expression,
    `its ${name} field has "${item}", ${problem}. Expected ${min} to ${max}${numbers}${named}, also as list, range or step${more}; for example ${example}.`,
  )
}

const unreadable = (expression: unknown, why: string): InvalidDefinition =>
  new InvalidDefinition(`The cron expression ${JSON.stringify(expression)} cannot be read: ${why}`)
