import { Cron } from 'croner'
import { InvalidDefinition } from '../errors.ts'
import { type CronFields, readCron } from './cron-fields.ts'
import type { LocalTimes } from './local-times.ts'

/** Parsed expressions: each takes a quarter of a millisecond and 80 kB. */
const parsed = new Map<string, LocalTimes>()
const MOST_PARSED = 100

/**
 * When an expression fires, on a clock without daylight saving. Where both days are given, either suffices, as in every cron.
 *
 * The library could count in time zones itself, but it takes `30 1,2 * * *` for frequent, and so loses the 02:30 of the day
 * on which clocks skip it. Hence it is asked for a clock that skips nothing, and `local-times.ts` does the rest.
 */
export function cronTimes(expression: string): LocalTimes {
  const known = parsed.get(expression)
  if (known !== undefined) return known
  const fields = readCron(expression)
  const { second, minute, hour, day, month, weekday, year } = fields
  const cron = new Cron([second, minute, hour, day, month, weekday, year].join(' '), { utcOffset: 0, mode: '7-part' })
  const times: LocalTimes = {
    isFixed: isFixed(fields),
    after: (local) => nextRun(cron, new Date(local))?.getTime(),
  }
  if (parsed.size >= MOST_PARSED) parsed.clear()
  parsed.set(expression, times)
  return times
}

/**
 * The library goes from 1 February to the 30th, finds itself on 2 March, and so has lost 1 March to `0 0 1,30 * *`. Asked from
 * the end of February it has not.
 */
function nextRun(cron: Cron, local: Date): Date | null {
  const next = cron.nextRun(local)
  if (next === null || local.getUTCMonth() !== 1) return next
  const march = Date.UTC(local.getUTCFullYear(), 2, 1)
  return next.getTime() < march ? next : cron.nextRun(new Date(march - 1))
}

/** Only values and lists of them: no `*`, no range, no step. */
const isFixed = ({ second, minute, hour }: CronFields): boolean =>
  [second, minute, hour].every((field) => /^[\d,]+$/.test(field))

/** An expression that can be read, and fires at some time. */
export function checkCron(expression: string): void {
  if (cronTimes(expression).after(0) === undefined)
    throw new InvalidDefinition(
      `The cron expression "${expression}" never fires: no day of the calendar fits it. Correct its day, month or year.`,
    )
}
