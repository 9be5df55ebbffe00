// SQL about quotes, the requests of a day, and which source is asked.
import type { Queryable } from 'millrace'
import type { KeptQuote, Quote } from './quote.ts'

export type QuoteSource = 'alpha-vantage' | 'stooq'

const QUOTES = `
select
  symbol, price::float8, change::float8, change_percent::float8 as "changePercent",
  previous_close::float8 as "previousClose", trading_day::text as "tradingDay", source, fetched_at as "fetchedAt"
from village.stock_quotes`

const KEEP = `
insert into village.stock_quotes as quote
  (symbol, price, change, change_percent, previous_close, trading_day, source, fetched_at)
values ($1, $2, $3, $4, $5, $6, $7, $8)
on conflict (symbol) do update
set price = excluded.price,
    change = excluded.change,
    change_percent = excluded.change_percent,
    previous_close = excluded.previous_close,
    trading_day = excluded.trading_day,
    source = excluded.source,
    fetched_at = excluded.fetched_at
where quote.fetched_at <= excluded.fetched_at`

/** No row is answered when the day's requests are used, however many processes ask at once. */
const TAKE = `
insert into village.provider_usage as usage (provider, day, used)
select $1, $2::date, 1
where $3 > 0
on conflict (provider, day) do update
set used = usage.used + 1
where usage.used < $3
returning used`

const GIVE_BACK = `
update village.provider_usage
set used = used - 1
where provider = $1
  and day = $2::date
  and used > 0`

const USE_UP = `
insert into village.provider_usage as usage (provider, day, used)
values ($1, $2::date, $3)
on conflict (provider, day) do update
set used = greatest(usage.used, $3)`

const USED = 'select used from village.provider_usage where provider = $1 and day = $2::date'

const SETTING = 'select value from village.settings where key = $1'

const SET = `
insert into village.settings (key, value)
values ($1, $2::jsonb)
on conflict (key) do update
set value = excluded.value, updated_at = now()`

const UNSET = 'delete from village.settings where key = $1'

const SOURCE = 'stocks.source'
const REFUSED = 'stocks.refused'

export async function quotesOf(db: Queryable): Promise<Map<string, KeptQuote>> {
  const { rows } = await db.query(QUOTES)
  return new Map((rows as KeptQuote[]).map((quote) => [quote.symbol, quote]))
}

export async function keepQuote(
  db: Queryable,
  quote: Quote,
  { source, now }: { source: QuoteSource; now: Date },
): Promise<void> {
  const { symbol, price, change, changePercent, previousClose, tradingDay } = quote
  await db.query(KEEP, [symbol, price, change, changePercent, previousClose, tradingDay, source, now])
}

/** The requests of one provider on one day. */
export class DailyRequests {
  readonly #db: Queryable
  readonly #key: readonly [provider: string, day: string]
  readonly #limit: number

  constructor(db: Queryable, { provider, day, limit }: { provider: string; day: string; limit: number }) {
    this.#db = db
    this.#key = [provider, day]
    this.#limit = limit
  }

  /** False: none is left. */
  async take(): Promise<boolean> {
    return (await this.#db.query(TAKE, [...this.#key, this.#limit])).rows.length > 0
  }

  async giveBack(): Promise<void> {
    await this.#db.query(GIVE_BACK, [...this.#key])
  }

  async useUp(): Promise<void> {
    await this.#db.query(USE_UP, [...this.#key, this.#limit])
  }

  async used(): Promise<number> {
    const [row] = (await this.#db.query(USED, [...this.#key])).rows as { used: number }[]
    return row?.used ?? 0
  }

  async left(): Promise<number> {
    return Math.max(0, this.#limit - (await this.used()))
  }
}

/** The source that an operator chose; undefined: the configuration decides. */
export async function chosenSource(db: Queryable): Promise<QuoteSource | undefined> {
  const [row] = (await db.query(SETTING, [SOURCE])).rows as { value: QuoteSource }[]
  return row?.value
}

export async function chooseSource(db: Queryable, source: QuoteSource | null): Promise<void> {
  if (source === null) await db.query(UNSET, [SOURCE])
  else await db.query(SET, [SOURCE, JSON.stringify(source)])
}

/** Symbols that their source does not know, with the reason. They are asked for again on the next day. */
export async function refusedOn(db: Queryable, day: string): Promise<Record<string, string>> {
  const [row] = (await db.query(SETTING, [REFUSED])).rows as {
    value: { day: string; symbols: Record<string, string> }
  }[]
  return row?.value.day === day ? row.value.symbols : {}
}

export async function keepRefused(db: Queryable, day: string, symbols: Record<string, string>): Promise<void> {
  await db.query(SET, [REFUSED, JSON.stringify({ day, symbols })])
}
