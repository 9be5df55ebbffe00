// When quotes are looked at: every 5 minutes while the exchange is open, else every hour, on days without trading every 6 hours.
import { calendar, defineSchedule, type Schedule, skip } from 'millrace'
import type { VillageParts } from '../village-parts.ts'
import { closeOf, EXCHANGE_ZONE, exchangeTime, holidaysOf, isEarlyClose } from './market-days.ts'
import { sessionAt } from './pace.ts'

/** Holidays of so many years are declared; each start of a worker declares them anew. */
const YEARS = 5

export const stockSchedule = ({ contracts, clock }: Pick<VillageParts, 'contracts' | 'clock'>): Schedule =>
  defineSchedule({
    name: 'stock-refresh',
    job: contracts.STOCK_REFRESH,
    when: calendar({
      timeZone: EXCHANGE_ZONE,
      rules: [
        { days: 'mon-fri', from: '09:30', to: '16:00', every: '5m' },
        { days: 'mon-fri', every: '1h' },
        { days: 'sat,sun,holidays', every: '6h' },
      ],
      holidays: holidaysFrom(clock.now().getUTCFullYear() - 1),
    }),
    missed: 'skip',
    payload: ({ fireAt }) => payloadAt(fireAt),
  })

/** The calendar cannot end a day early, so on such days its ticks of the afternoon are those of any other hour. */
export function payloadAt(fireAt: Date) {
  const { date, minutes } = exchangeTime(fireAt)
  const isAfterClose = isEarlyClose(date) && minutes > (closeOf(date) ?? 0)
  if (isAfterClose && minutes % 60 !== 0) return skip('the exchange closed at 13:00')
  return { session: sessionAt(fireAt) }
}

const holidaysFrom = (first: number): string[] => Array.from({ length: YEARS }, (_, i) => holidaysOf(first + i)).flat()
