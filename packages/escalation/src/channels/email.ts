// Mail: at once, or one digest a day.
import { cron, InvalidDefinition, nextFire, timingOf } from 'millrace'
import { type Channel, cut, type Message } from '../channel.ts'
import { digestHtml, digestText } from '../digest-mail.ts'
import { headlineOf } from './slack.ts'

export interface EmailOptions {
  to: string
}

/** A mail for all that waits, at once. */
export function email({ to }: EmailOptions): Channel {
  const address = addressOf(to)
  return {
    kind: 'email',
    spacingMs: 1_000,
    isPerFault: false,
    grows: false,
    tells: ['resolved'],
    async send(message, { mailer }) {
      const subject = cut(`[Millrace] ${headlineOf(message)}`.replaceAll(/[\r\n]+/g, ' '), 200)
      await mailer.send({ ...mailOf(message, { subject, title: 'Escalation' }), to: address })
    },
  }
}

export interface DigestOptions {
  to: string
  /** Of the day, 0 to 23. Default 7. */
  hour?: number
  /** Default UTC. */
  timeZone?: string
}

/** One mail a day, if there is something to say. */
export function digest({ to, hour = 7, timeZone = 'UTC' }: DigestOptions): Channel {
  if (!Number.isInteger(hour) || hour < 0 || hour > 23)
    throw new InvalidDefinition(`digest({ hour }) is ${hour}: expected an integer from 0 to 23.`)
  const address = addressOf(to)
  const timing = timingOf(cron(`0 ${hour} * * *`, { timeZone }), { now: new Date() })
  const next = (after: Date): Date => nextFire(timing, after) as Date
  return {
    kind: 'digest',
    spacingMs: 0,
    isPerFault: false,
    grows: false,
    tells: [],
    digest: { next, last: (before) => lastBefore(before, next) },
    async send(message, { mailer }) {
      const day = message.at.toLocaleDateString('en-CA', { timeZone })
      const seen = message.faults.reduce((sum, { count }) => sum + count, 0)
      const subject = `[Millrace] Digest of ${day}: ${counted(message.faults.length, 'fault')}, seen ${counted(seen, 'time')}`
      await mailer.send({ ...mailOf(message, { subject, title: `Digest of ${day}` }), to: address })
    },
  }
}

/** The last fire at or before that time: days have 23 to 25 hours. */
function lastBefore(before: Date, next: (after: Date) => Date): Date {
  let last = next(new Date(before.getTime() - 50 * 3_600_000))
  for (let fire = last; fire <= before; fire = next(fire)) last = fire
  return last
}

function mailOf(message: Message, { subject, title }: { subject: string; title: string }) {
  return { key: message.key, subject, text: digestText(message, title), html: digestHtml(message, title) }
}

function addressOf(to: string): string {
  if (typeof to === 'string' && /^[^\s@]+@[^\s@]+$/.test(to)) return to
  throw new InvalidDefinition(`${JSON.stringify(to)} is no mail address: expected one like ops@example.com.`)
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
