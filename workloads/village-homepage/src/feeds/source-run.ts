// One refresh of one source: fetch, parse, clean, store. Items, the state of the source and the job's completion commit
// together, so that a run that dies leaves nothing half-done.
import { discard, type JobContext, type Outcome, RetryAfter } from 'millrace'
import { feedDuration, feedErrors, feedItems } from '../telemetry/metrics.ts'
import { spanEvent } from '../telemetry/span-events.ts'
import type { VillageParts } from '../village-parts.ts'
import { type Entries, entriesOf } from './entries.ts'
import { addItems } from './feed-store.ts'
import { type FetchedFeed, fetchFeed } from './fetch-feed.ts'
import { parseFeed } from './parse-feed.ts'
import { FeedError } from './source-errors.ts'
import { type RssSource, sourceFailed, sourceFetched, sourceNotModified } from './source-store.ts'

type Status = 'fetched' | 'not_modified' | 'inactive' | 'not_found'

interface SourceResult {
  source_id: string
  status: Status
  fetched: number
  new: number
  duplicate: number
  skipped: number
}

interface Run {
  readonly source: RssSource
  readonly isForced: boolean
  readonly ctx: JobContext
}

const LONGEST_WAIT_MS = 86_400_000
const LONGEST_MESSAGE = 500

export class SourceRun {
  readonly #parts: VillageParts
  readonly #run: Run

  constructor(parts: VillageParts, run: Run) {
    this.#parts = parts
    this.#run = run
  }

  async refresh(): Promise<SourceResult | Outcome> {
    const { source } = this.#run
    const startedAt = performance.now()
    const observe = (result: 'success' | 'failure') =>
      feedDuration.observe({ source_id: source.id, result }, (performance.now() - startedAt) / 1_000)
    let feed: (FetchedFeed & Entries) | 'not_modified'
    try {
      feed = await this.#read()
    } catch (error) {
      if (!(error instanceof FeedError)) throw error
      observe('failure')
      return this.#failed(error)
    }
    observe('success')
    return feed === 'not_modified' ? this.#keep() : this.#store(feed)
  }

  async #read(): Promise<(FetchedFeed & Entries) | 'not_modified'> {
    const { outside, config, clock } = this.#parts
    const { source, isForced, ctx } = this.#run
    const now = clock.now()
    spanEvent('fetch.started', { source_id: source.id, source_url: source.url })
    const { signal } = ctx
    const fetched = await fetchFeed(source, { outside, feeds: config.feeds, signal, isForced, now })
    if (fetched === 'not_modified') return fetched
    const parsed = parseFeed(fetched.text)
    spanEvent('parse.completed', { items_fetched: parsed.entries.length })
    const entries = await entriesOf(parsed, { feedUrl: fetched.url, limit: source.entryLimit, now })
    for (const { guid, missing } of entries.skipped) {
      spanEvent('entry.missing_fields', { guid })
      ctx.log.warn({ guid, missing }, 'an entry was skipped')
    }
    if (entries.cutOff > 0)
      ctx.log.warn(
        { cutOff: entries.cutOff, entryLimit: source.entryLimit },
        'the feed has more entries than its limit',
      )
    return { ...fetched, ...entries }
  }

  /** The feed has not changed. */
  async #keep(): Promise<SourceResult> {
    const result = await this.#run.ctx.transaction(async (tx) =>
      this.#result((await sourceNotModified(tx, this.#run.source.id)) ? 'not_modified' : 'not_found'),
    )
    spanEvent('refresh.completed', { 'sources.success': 1, 'sources.failure': 0 })
    return result
  }

  async #store(feed: FetchedFeed & Entries): Promise<SourceResult> {
    const { source, ctx } = this.#run
    const { entries, skipped } = feed
    const result = await ctx.transaction(async (tx) => {
      if (!(await sourceFetched(tx, source.id, feed))) return this.#result('not_found')
      const added = await addItems(tx, source, entries)
      return this.#result('fetched', {
        fetched: entries.length + skipped.length,
        new: added,
        duplicate: entries.length - added,
        skipped: skipped.length,
      })
    })
    feedItems.inc({ source_id: source.id, status: 'new' }, result.new)
    feedItems.inc({ source_id: source.id, status: 'duplicate' }, result.duplicate)
    spanEvent('dedupe.completed', { new: result.new, duplicate: result.duplicate })
    spanEvent('refresh.completed', { 'sources.success': 1, 'sources.failure': 0 })
    return result
  }

  async #failed(error: FeedError): Promise<SourceResult | Outcome> {
    const { database, config } = this.#parts
    const { source, ctx } = this.#run
    const { errorType, retryAfterMs } = error
    const message = error.message.replaceAll('\0', '').slice(0, LONGEST_MESSAGE).toWellFormed()
    const threshold = config.feeds.errorThreshold
    const state = await sourceFailed(database, source.id, { errorType, message, threshold })
    // An operator disabled or removed it meanwhile: its failure is no news.
    if (state === undefined) return this.#result('inactive')
    const { errorCount, isActive } = state
    feedErrors.inc({ source_id: source.id, error_type: errorType })
    ctx.log.warn({ errorType, errorCount, url: source.url }, message)
    spanEvent('refresh.completed', { 'sources.success': 0, 'sources.failure': 1 })
    if (!isActive) return discard(this.#disabled(errorCount, message))
    if (retryAfterMs !== undefined) throw new RetryAfter(Math.min(retryAfterMs, LONGEST_WAIT_MS), message)
    throw error
  }

  #disabled(errorCount: number, message: string): string {
    const { id, name, url } = this.#run.source
    return `The feed "${name}" (${url}) is disabled after ${errorCount} failed fetches in a row. The last: ${message} To enable it again: PATCH /admin/api/rss-sources/${id} {"is_active": true, "error_count": 0}`
  }

  #result(status: Status, counts = { fetched: 0, new: 0, duplicate: 0, skipped: 0 }): SourceResult {
    return { source_id: this.#run.source.id, status, ...counts }
  }
}
