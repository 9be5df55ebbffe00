// Operations about quotes in the admin API: look, and choose the source that is asked.
import { type Route, route } from '@millrace/admin'
import { endpoint } from '@millrace/admin/contract'
import type { Millrace } from 'millrace'
import { z } from 'zod'
import { exchangeTime } from '../stocks/market-days.ts'
import { sessionAt } from '../stocks/pace.ts'
import { chooseSource, chosenSource, DailyRequests, quotesOf, refusedOn } from '../stocks/quote-store.ts'
import type { VillageParts } from '../village-parts.ts'

const PATH = '/admin/api/stocks'
const source = z.enum(['alpha-vantage', 'stooq'], { error: 'expected alpha-vantage or stooq' })

const shown = z.object({
  source,
  source_from: z.enum(['operator', 'configuration']),
  session: z.enum(['market', 'after_hours', 'weekend']),
  requests_used: z.int(),
  requests_left: z.int(),
  refused: z.record(z.string(), z.string()).describe('Symbols that the source does not know, with the reason'),
  quotes: z.array(
    z.object({
      symbol: z.string(),
      price: z.number(),
      change: z.number(),
      change_percent: z.number(),
      trading_day: z.iso.date(),
      source: z.string(),
      fetched_at: z.iso.datetime({ offset: true }),
    }),
  ),
})

const show = endpoint({
  method: 'GET',
  path: PATH,
  input: z.object({}),
  output: shown,
  permission: 'viewer',
  scope: 'all',
  summary: 'Show the quotes, their source and what is left of its requests',
})

const change = endpoint({
  method: 'PATCH',
  path: PATH,
  input: z.object({ source: source.nullable() }),
  output: shown,
  permission: 'operator',
  scope: 'all',
  summary: 'Choose the source of quotes',
  description:
    'It counts from the next refresh; one that waits for its retry is due at once. `{"source": null}` goes back to the configuration.',
})

export function stockRoutes(parts: VillageParts): Route[] {
  return [
    route(show, () => state(parts)),
    route(change, async ({ source }, { millrace, by }) => {
      await parts.database.transaction(async (tx) => {
        await chooseSource(tx, source)
        await millrace.audit.write({ by, action: 'stocks.source', details: { source } }, { tx })
      })
      await hurry(millrace, by)
      return state(parts)
    }),
  ]
}

async function state({ config, database, clock }: VillageParts) {
  const now = clock.now()
  const day = exchangeTime(now).date
  const { dailyRequests: limit, source } = config.stocks
  const requests = new DailyRequests(database, { provider: 'alpha-vantage', day, limit })
  const chosen = await chosenSource(database)
  const used = await requests.used()
  const quotes = [...(await quotesOf(database)).values()].sort((a, b) => (a.symbol < b.symbol ? -1 : 1))
  return {
    source: chosen ?? source,
    source_from: chosen === undefined ? ('configuration' as const) : ('operator' as const),
    session: sessionAt(now),
    requests_used: used,
    requests_left: Math.max(0, limit - used),
    refused: await refusedOn(database, day),
    quotes: quotes.map(({ symbol, price, change, changePercent, tradingDay, source: from, fetchedAt }) => ({
      ...{ symbol, price, change, change_percent: changePercent, trading_day: tradingDay },
      ...{ source: from, fetched_at: fetchedAt },
    })),
  }
}

/** A refresh that waits for the old source must not make the new one wait too. */
async function hurry(millrace: Millrace, by: string): Promise<void> {
  for (const status of ['pending', 'failed'] as const) {
    const waiting = await millrace.jobs({ type: 'STOCK_REFRESH', status })
    for (const { id } of waiting) await millrace.runNow(id, { by })
  }
}
