// What the village measures itself. Each is exported from the first scrape, whatever has run until then.
import { type DefinedMetric, defineCounter, defineGauge, defineHistogram } from '@millrace/telemetry'
import { screenshotsTaken } from './permits.ts'

/** A fetch ends after 30 s. */
const FETCH_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30]

export const feedItems = defineCounter('rss_fetch_items_total', {
  help: 'Items of feeds, by source: new, or known already.',
  labels: ['source_id', 'status'],
})
export const feedErrors = defineCounter('rss_fetch_errors_total', {
  help: 'Fetches of feeds that failed, by source and type of error.',
  labels: ['source_id', 'error_type'],
})
export const feedDuration = defineHistogram('rss_fetch_duration', {
  help: 'Seconds to fetch and parse a feed, by source and result.',
  labels: ['source_id', 'result'],
  buckets: FETCH_SECONDS,
})
export const taggedItems = defineCounter('ai_tagging_items_total', {
  help: 'Items that were to be tagged, by status: success or failure.',
  labels: ['status'],
})
export const taggingTokens = defineCounter('ai_tagging_tokens_total', {
  help: 'Tokens of the tagging model, by type: input or output.',
  labels: ['type'],
})
export const taggingCost = defineCounter('ai_tagging_cost_cents', { help: 'Estimated cost of tagging in cents.' })
export const taggingThrottles = defineCounter('ai_tagging_budget_throttles', {
  help: 'Tagging jobs that the budget held or stopped.',
})
export const taggingConfidence = defineHistogram('ai_tagging_confidence', {
  help: 'How confident the model was of the tags of an item, from 0 to 1.',
  buckets: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1],
})
/** Every process reads the same tables, so the largest stands for all. */
export const budgetPercent = defineGauge('ai_budget_percent_used', {
  help: 'Used share of the monthly tagging budget in percent.',
  aggregate: 'max',
})
export const untaggedItems = defineGauge('ai_untagged_items', { help: 'Items without tags.', aggregate: 'max' })
export const disabledSources = defineGauge('rss_sources_disabled', {
  help: 'Feeds that errors have disabled.',
  aggregate: 'max',
})
export const stockRefreshedAt = defineGauge('stock_last_refresh_timestamp_seconds', {
  help: 'When a quote was last refreshed, in seconds since 1970; 0: never.',
  aggregate: 'max',
})
export const marketOpen = defineGauge('stock_market_open', {
  help: 'Whether the exchange is open: 1 or 0.',
  aggregate: 'max',
})
export const screenshotsInUse = defineGauge('screenshot_concurrency_utilization', {
  help: 'Screenshots that are being taken (P12).',
  read: () => screenshotsTaken(),
})

export const villageMetrics: DefinedMetric[] = [
  feedItems,
  feedErrors,
  feedDuration,
  taggedItems,
  taggingTokens,
  taggingCost,
  taggingThrottles,
  taggingConfidence,
  budgetPercent,
  untaggedItems,
  disabledSources,
  stockRefreshedAt,
  marketOpen,
  screenshotsInUse,
]
