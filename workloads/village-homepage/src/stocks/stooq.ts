// Stooq, the fallback: one CSV for all symbols, without a key. It does not tell the previous close.
import type { Outside } from '../outside/outside.ts'
import { ServiceFailed, textOf } from '../outside/service-call.ts'
import type { Answer, KeptQuote } from './quote.ts'

const NAME = 'Stooq'
const HEADER = 'Symbol,Date,Time,Open,High,Low,Close,Volume'

export interface StooqQuestion {
  readonly symbols: readonly string[]
  /** What is known already: it has the close of the day before. */
  readonly known: ReadonlyMap<string, KeptQuote>
  readonly signal: AbortSignal
}

export async function askStooq(outside: Outside, question: StooqQuestion): Promise<Map<string, Answer> | 'limited'> {
  const { symbols, known, signal } = question
  const names = symbols.map((symbol) => `${symbol.toLowerCase()}.us`).join('+')
  const url = `${outside.addresses.stooq.baseUrl}/q/l/?s=${names}&f=sd2t2ohlcv&h&e=csv`
  const text = await textOf(outside, { service: NAME, url, signal })
  if (/^Exceeded the daily hits limit/i.test(text)) return 'limited'
  const [header, ...lines] = text.trim().split(/\r?\n/)
  if (header !== HEADER) throw new ServiceFailed(NAME, 'answered in a form that is not known')
  const rows = new Map(lines.map((line) => [line.split(',')[0]?.replace(/\.US$/, '') ?? '', line.split(',')]))
  return new Map(symbols.map((symbol) => [symbol, quoteOf(symbol, rows.get(symbol), known.get(symbol))]))
}

function quoteOf(symbol: string, row: readonly string[] | undefined, known: KeptQuote | undefined): Answer {
  const [, tradingDay = '', , open, , , close] = row ?? []
  const [opened, price] = [Number(open), Number(close)]
  if (!/^\d{4}-\d\d-\d\d$/.test(tradingDay) || !Number.isFinite(opened) || !Number.isFinite(price) || price <= 0)
    return { refused: `${NAME} does not know the symbol` }
  const previousClose = previousOf(known, tradingDay) ?? opened
  const change = price - previousClose
  return { symbol, price, change, changePercent: (change / previousClose) * 100, previousClose, tradingDay }
}

function previousOf(known: KeptQuote | undefined, tradingDay: string): number | undefined {
  if (known === undefined || known.tradingDay > tradingDay) return undefined
  return known.tradingDay === tradingDay ? known.previousClose : known.price
}
