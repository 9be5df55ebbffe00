// By when somebody should look after a fault: '15m', '4h business hours' or 'next business day'.
import { type CalendarTiming, calendar, InvalidDefinition, nextFire } from 'millrace'

export interface BusinessHours {
  /** Default 'mon-fri'. */
  days?: string
  /** Local times of day. Default '09:00' and '17:00'. */
  from?: string
  to?: string
  /** Default UTC. */
  timeZone?: string
  /** Days without business, as '2026-12-25'. */
  holidays?: readonly string[]
}

export interface Office {
  readonly opens: CalendarTiming
  readonly closes: CalendarTiming
}

const SPAN = /^(\d+)(m|h|d)( business hours)?$/
const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const
const DAYS_AHEAD = 400

export function officeOf({
  days = 'mon-fri',
  from = '09:00',
  to = '17:00',
  timeZone = 'UTC',
  holidays = [],
}: BusinessHours): Office {
  if (from >= to) throw new InvalidDefinition(`businessHours end at ${to}, before they begin at ${from}.`)
  const at = (time: string) => calendar({ timeZone, holidays, rules: [{ days, from: time, to: time, every: '1d' }] })
  return { opens: at(from), closes: at(to) }
}

export function checkRespondWithin(text: string, where: string): void {
  if (text === 'next business day' || SPAN.test(text)) return
  throw new InvalidDefinition(
    `${where} has respondWithin ${JSON.stringify(text)}: expected like '15m', '4h business hours' or 'next business day'.`,
  )
}

export function respondBy(text: string, from: Date, office: Office): Date {
  if (text === 'next business day') return closing(office, opening(office, from))
  const [, amount, unit, isInBusinessHours] = SPAN.exec(text) as unknown as [
    string,
    string,
    keyof typeof UNITS,
    string?,
  ]
  const ms = Number(amount) * UNITS[unit]
  return isInBusinessHours === undefined ? new Date(from.getTime() + ms) : withinHours(office, from, ms)
}

function withinHours(office: Office, from: Date, ms: number): Date {
  let at = from
  let left = ms
  for (let day = 0; day < DAYS_AHEAD; day++) {
    const closes = closing(office, at)
    const opens = opening(office, at)
    if (opens < closes) {
      at = opens
      continue
    }
    const room = closes.getTime() - at.getTime()
    if (left <= room) return new Date(at.getTime() + left)
    left -= room
    at = closes
  }
  return at
}

const opening = ({ opens }: Office, after: Date): Date => nextFire(opens, after) ?? new Date(8.64e15)
const closing = ({ closes }: Office, after: Date): Date => nextFire(closes, after) ?? new Date(8.64e15)
