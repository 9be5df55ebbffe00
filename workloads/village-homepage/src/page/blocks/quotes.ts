// Quotes: up or down by a sign and a word, never by colour alone, and "stale" where they are.
import { html } from 'hono/html'
import { exchangeTime } from '../../stocks/market-days.ts'
import { sessionAt } from '../../stocks/pace.ts'
import type { KeptQuote } from '../../stocks/quote.ts'
import { chosenSource, DailyRequests } from '../../stocks/quote-store.ts'
import { isStale, type StalenessFacts } from '../../stocks/staleness.ts'
import { jobNote } from '../job-note.ts'
import { shownQuotes } from '../page-store.ts'
import { dayAndTime } from '../time-words.ts'
import { type Block, type Html, timeZoneOf, type View } from '../view.ts'

const SESSIONS = {
  market: 'The exchange is open.',
  after_hours: 'The exchange is closed.',
  weekend: 'No trading today.',
}

export const quotes: Block = {
  name: 'quotes',
  async render(view) {
    const { parts, now } = view
    const kept = await shownQuotes(parts.database, parts.config.stocks.symbols)
    const facts = await factsOf(view)
    const latest = kept.map(({ fetchedAt }) => fetchedAt.getTime())
    const at = latest.length === 0 ? undefined : new Date(Math.max(...latest))
    const body =
      kept.length === 0
        ? html`<p class="empty">No quotes yet. They come with the first look at the exchange.</p>`
        : html`<table><caption class="hidden">Quotes</caption>
<thead class="hidden"><tr><th scope="col">Symbol</th><th scope="col">Price</th><th scope="col">Change</th></tr></thead>
<tbody>${kept.map((quote) => row(view, quote, facts))}</tbody></table>
<p class="note">${SESSIONS[sessionAt(now)]} Prices in USD.</p>`
    return html`<h2 id="quotes">Quotes</h2>
${body}
${jobNote(view, { type: 'STOCK_REFRESH', at, schedules: ['stock-refresh'] })}`
  },
}

async function factsOf({ parts, now }: View): Promise<StalenessFacts> {
  const { config, database } = parts
  const { dailyRequests: daily, symbols, source } = config.stocks
  const day = exchangeTime(now).date
  const left = await new DailyRequests(database, { provider: 'alpha-vantage', day, limit: daily }).left()
  const isLimited = ((await chosenSource(database)) ?? source) === 'alpha-vantage'
  return { now, daily, symbols: symbols.length, isSpent: isLimited && left === 0 }
}

function row(view: View, quote: KeptQuote, facts: StalenessFacts): Html {
  const { symbol, price, change, changePercent, fetchedAt } = quote
  const [sign, word] = change > 0 ? ['▲', 'up'] : change < 0 ? ['▼', 'down'] : ['●', 'unchanged']
  const time = dayAndTime(fetchedAt, { now: view.now, timeZone: timeZoneOf(view) })
  const asOf = `as of ${time}${isStale(quote, facts) ? ' · stale' : ''}`
  return html`<tr><th scope="row">${symbol}<small>${asOf}</small></th>
<td>${price.toFixed(2)}</td>
<td class="${word}"><span aria-hidden="true">${sign}</span> ${word} ${Math.abs(change).toFixed(2)}<small>${Math.abs(changePercent).toFixed(2)} %</small></td></tr>`
}
