// STOCK_REFRESH: asks for the quotes that are oldest, as far as the day's requests go. The rest is served as it is kept.
import { setTimeout as sleep } from 'node:timers/promises'
import type { JobContext } from 'millrace'
import { stockRefreshedAt } from '../telemetry/metrics.ts'
import type { VillageParts } from '../village-parts.ts'
import { askAlphaVantage } from './alpha-vantage.ts'
import { exchangeTime } from './market-days.ts'
import { allowedBy, type Session, sessionAt } from './pace.ts'
import { type Answer, type Asked, isQuote, type KeptQuote } from './quote.ts'
import {
  chosenSource,
  DailyRequests,
  keepQuote,
  keepRefused,
  type QuoteSource,
  quotesOf,
  refusedOn,
} from './quote-store.ts'
import { isStale } from './staleness.ts'
import { askStooq } from './stooq.ts'

export interface StockPayload {
  readonly session?: Session | undefined
  readonly symbols?: readonly string[] | undefined
}

export interface StockResult {
  readonly session: Session
  readonly source: QuoteSource
  readonly refreshed: number
  readonly stale: number
  readonly requests_left: number
}

/** What a run works on. */
interface Round {
  readonly symbols: readonly string[]
  readonly known: ReadonlyMap<string, KeptQuote>
  readonly requests: DailyRequests
  readonly day: string
  readonly ctx: JobContext
}

interface Outcome {
  refreshed: number
  readonly refused: Record<string, string>
}

export class StockRefresh {
  readonly #parts: VillageParts

  constructor(parts: VillageParts) {
    this.#parts = parts
  }

  async run({ session, symbols }: StockPayload, ctx: JobContext): Promise<StockResult> {
    const { config, database, clock } = this.#parts
    const now = clock.now()
    const day = exchangeTime(now).date
    const requests = new DailyRequests(database, { provider: 'alpha-vantage', day, limit: config.stocks.dailyRequests })
    const known = await quotesOf(database)
    const source = (await chosenSource(database)) ?? config.stocks.source
    const refused = await refusedOn(database, day)
    const wanted = (symbols ?? config.stocks.symbols).filter((symbol) => !Object.hasOwn(refused, symbol))
    const round = { symbols: oldestFirst(wanted, known), known, requests, day, ctx }
    const outcome: Outcome = { refreshed: 0, refused: { ...refused } }
    if (source === 'stooq') await this.#fromStooq(round, outcome)
    else await this.#fromAlphaVantage(round, outcome, symbols === undefined)
    if (Object.keys(outcome.refused).length > Object.keys(refused).length)
      await keepRefused(database, day, outcome.refused)
    if (outcome.refreshed > 0) stockRefreshedAt.set(clock.now().getTime() / 1_000)
    return {
      session: session ?? sessionAt(now),
      ...{ source, refreshed: outcome.refreshed },
      stale: await this.#staleCount(source, requests),
      requests_left: await requests.left(),
    }
  }

  /** The first failure ends the run: a service that is down is not asked for each symbol. */
  async #fromAlphaVantage(round: Round, outcome: Outcome, isPaced: boolean): Promise<void> {
    const { ctx } = round
    const most = isPaced ? await this.#allowance(round) : round.symbols.length
    for (const [i, symbol] of round.symbols.slice(0, most).entries()) {
      if (i > 0) await sleep(this.#parts.config.stocks.requestInterval * 1_000, undefined, { signal: ctx.signal })
      try {
        const asked = await this.#ask(symbol, round)
        if (asked === 'limited') return
        await this.#keep(symbol, asked, { outcome, source: 'alpha-vantage', ctx })
      } catch (error) {
        ctx.signal.throwIfAborted()
        if (outcome.refreshed === 0) throw error
        ctx.log.warn({ err: error, symbol }, 'the quotes after this one were not asked for')
        return
      }
    }
  }

  /** A symbol without a quote does not wait for its turn: a new village is not to look empty until tomorrow. */
  async #allowance({ symbols, known, requests }: Round): Promise<number> {
    const { config, clock } = this.#parts
    const byPace = allowedBy(clock.now(), config.stocks.dailyRequests) - (await requests.used())
    return Math.max(byPace, symbols.filter((symbol) => !known.has(symbol)).length)
  }

  /** Counted before it is sent. Without an answer the count is given back, or the retry would find nothing left to ask. */
  async #ask(symbol: string, { requests, ctx }: Round): Promise<Asked> {
    const { outside } = this.#parts
    return ctx.breaker('alpha-vantage', async () => {
      if (!(await requests.take())) return 'limited'
      try {
        const asked = await askAlphaVantage(outside, symbol, ctx.signal)
        if (asked === 'limited') await requests.useUp()
        return asked
      } catch (error) {
        await requests.giveBack()
        throw error
      }
    })
  }

  async #fromStooq({ symbols, known, ctx }: Round, outcome: Outcome): Promise<void> {
    if (symbols.length === 0) return
    const { outside } = this.#parts
    const answers = await ctx.breaker('stooq', () => askStooq(outside, { symbols, known, signal: ctx.signal }))
    if (answers === 'limited') return
    for (const [symbol, asked] of answers) await this.#keep(symbol, asked, { outcome, source: 'stooq', ctx })
  }

  async #keep(
    symbol: string,
    asked: Answer,
    { outcome, source, ctx }: { outcome: Outcome; source: QuoteSource; ctx: JobContext },
  ): Promise<void> {
    const { database, clock } = this.#parts
    if (isQuote(asked)) {
      await keepQuote(database, asked, { source, now: clock.now() })
      outcome.refreshed += 1
      return
    }
    outcome.refused[symbol] = asked.refused
    ctx.log.warn({ symbol, source }, `no quote of this symbol: ${asked.refused}`)
  }

  async #staleCount(source: QuoteSource, requests: DailyRequests): Promise<number> {
    const { config, database, clock } = this.#parts
    const kept = await quotesOf(database)
    const facts = { now: clock.now(), daily: config.stocks.dailyRequests, symbols: config.stocks.symbols.length }
    const isSpent = source === 'alpha-vantage' && (await requests.left()) === 0
    return config.stocks.symbols.filter((symbol) => isStale(kept.get(symbol), { ...facts, isSpent })).length
  }
}

function oldestFirst(symbols: readonly string[], known: ReadonlyMap<string, KeptQuote>): string[] {
  const ageOf = (symbol: string): number => known.get(symbol)?.fetchedAt.getTime() ?? 0
  return [...symbols].sort((a, b) => ageOf(a) - ageOf(b))
}
