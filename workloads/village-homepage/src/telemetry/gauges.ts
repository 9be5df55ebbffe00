// Gauges that only the tables know. Read when the village starts, so that the first scrape has them, and every 15 seconds.
import type { Logger, Millrace } from 'millrace'
import { sessionAt } from '../stocks/pace.ts'
import { BUDGET_NAME } from '../tagging/budget.ts'
import type { VillageParts } from '../village-parts.ts'
import {
  budgetPercent,
  disabledSources,
  feedItems,
  marketOpen,
  stockRefreshedAt,
  taggedItems,
  taggingTokens,
  untaggedItems,
} from './metrics.ts'
import { percentOf } from './throttles.ts'

const EVERY_MS = 15_000

const READ = `
select
  (select count(*) from village.feed_items where not ai_tagged)::integer as untagged,
  (select count(*) from village.rss_sources where disabled_at is not null and not is_active)::integer as disabled,
  (select coalesce(extract(epoch from max(fetched_at)), 0) from village.stock_quotes)::float8 as refreshed_at,
  array(select id from village.rss_sources order by created_at limit 500) as sources`

interface Reading {
  readonly untagged: number
  readonly disabled: number
  readonly refreshed_at: number
  readonly sources: readonly string[]
}

export class VillageGauges {
  readonly #parts: VillageParts
  readonly #millrace: Millrace
  readonly #logger: Logger
  readonly #timer: ReturnType<typeof setInterval>
  #reading: Promise<void> = Promise.resolve()

  constructor(parts: VillageParts, { millrace, logger }: { millrace: Millrace; logger: Logger }) {
    this.#parts = parts
    this.#millrace = millrace
    this.#logger = logger
    this.#timer = setInterval(() => {
      this.#reading = this.refresh()
    }, EVERY_MS)
    this.#timer.unref()
  }

  /** Never rejects: a gauge that cannot be read keeps its value. */
  async refresh(): Promise<void> {
    try {
      const { rows } = await this.#parts.database.query(READ)
      this.#set(rows[0] as unknown as Reading)
      const { spent, limit } = await this.#millrace.budgets.get(BUDGET_NAME)
      budgetPercent.set(percentOf(spent, limit))
    } catch (error) {
      this.#logger.warn({ error: String(error) }, 'the gauges of the village could not be read')
    }
  }

  #set({ untagged, disabled, refreshed_at, sources }: Reading): void {
    untaggedItems.set(untagged)
    disabledSources.set(disabled)
    stockRefreshedAt.set(refreshed_at)
    marketOpen.set(sessionAt(this.#parts.clock.now()) === 'market' ? 1 : 0)
    // A series that is there before its first count shows that count as an increase.
    for (const status of ['new', 'duplicate']) for (const id of sources) feedItems.inc({ source_id: id, status }, 0)
    for (const status of ['success', 'failure']) taggedItems.inc({ status }, 0)
    for (const type of ['input', 'output']) taggingTokens.inc({ type }, 0)
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#reading
  }
}
