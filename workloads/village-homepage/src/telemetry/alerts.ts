// The alerts of the village beside the built-in ones, which watch its SLAs, breakers, dead letters and budget. Workers evaluate
// them, and ops/prometheus/village.yaml is made of them.
import { type AlertOptions, type AlertRule, defineAlert } from 'millrace'
import { exchangeTime, OPENS } from '../stocks/market-days.ts'
import { sessionAt } from '../stocks/pace.ts'
import type { VillageParts } from '../village-parts.ts'
import { disabledFeeds, fetchTimes, quoteAge, recentFailures, untaggedGrowth } from './alert-store.ts'

/** Of fewer calls a rate says little. */
const MIN_CALLS = 10
const RUNBOOK = 'docs/ops/ai-budget-management.md'

export const villageAlerts = (parts: VillageParts): AlertOptions => ({
  rules: [
    feedSourceDisabled(parts),
    feedFetchSlow(parts),
    tagFailures(parts),
    untaggedGrowing(parts),
    quotesStale(parts),
    screenshotsFull(parts),
  ],
})

const feedSourceDisabled = ({ database }: VillageParts): AlertRule =>
  defineAlert('feed_source_disabled', {
    severity: 'warning',
    summary: 'A feed failed so often in a row that the village no longer fetches it.',
    action: 'Look at its last error on /village/feeds. Correct its address, or enable it again.',
    async measure() {
      const feeds = await disabledFeeds(database)
      return feeds.map(({ name, url, error }) => ({
        ...{ subject: name, value: 1, queues: ['DEFAULT'] },
        why: `The feed "${name}" (${url}) is disabled: ${error.slice(0, 200)}`,
      }))
    },
    prometheus: (threshold) => `max(rss_sources_disabled) > ${threshold}`,
  })

const feedFetchSlow = ({ database }: VillageParts): AlertRule =>
  defineAlert('feed_fetch_slow', {
    severity: 'warning',
    summary: 'A feed answers slowly: P95 of its fetches. A fetch is broken off after 30 s.',
    action: 'Give it a longer interval, or tell its owner.',
    ...{ threshold: 20, clearAt: 15 },
    async measure() {
      const feeds = await fetchTimes(database)
      return feeds.map(({ name, url, runs, seconds }) => ({
        ...{ subject: name, value: seconds, queues: ['DEFAULT'] },
        why: `P95 of the last ${runs} fetches of "${name}" (${url}) is ${seconds.toFixed(1)} s.`,
      }))
    },
    prometheus: (threshold) =>
      `histogram_quantile(0.95, sum by (source_id, le) (rate(rss_fetch_duration_bucket[3h]))) > ${threshold}`,
  })

const tagFailures = ({ database }: VillageParts): AlertRule =>
  defineAlert('tag_failures', {
    severity: 'warning',
    summary: 'Many items could not be tagged within the last hour.',
    action: 'Look in the logs for "Failed to parse Claude response", and see the budget guide.',
    link: `${RUNBOOK}#high-tag-failure-rate`,
    ...{ threshold: 0.2, clearAt: 0.1 },
    async measure() {
      const { calls, failed } = await recentFailures(database)
      if (calls < MIN_CALLS) return []
      const why = `${failed} of ${calls} calls of the last hour gave an item no tags.`
      return [{ subject: 'AI_TAGGING', value: failed / calls, queues: ['BULK'], why }]
    },
    prometheus: (threshold) => {
      const items = (status: string) => `sum(increase(ai_tagging_items_total${status}[1h]))`
      return `${items('{status="failure"}')} / ${items('')} > ${threshold} and ${items('')} >= ${MIN_CALLS}`
    },
  })

/** A batch. */
const GROWN = 20

const untaggedGrowing = ({ database }: VillageParts): AlertRule =>
  defineAlert('untagged_growing', {
    severity: 'warning',
    summary: 'More items come in than are tagged, for six hours.',
    action: 'See what the budget allows: `GET /admin/api/ai-usage`. Look for a feed that sends more than usual.',
    link: `${RUNBOOK}#tags-not-being-generated-despite-job-running`,
    ...{ threshold: GROWN, clearAt: 0 },
    async measure() {
      const { untagged, grown } = await untaggedGrowth(database)
      const why = `${untagged} items have no tags: ${grown} more than six hours ago.`
      return [{ subject: 'items', value: grown, queues: ['BULK'], why }]
    },
    prometheus: (threshold) => `max(ai_untagged_items) - max(ai_untagged_items offset 6h) > ${threshold}`,
  })

/** In the first hour after the opening the last refresh may be that of the day before. */
const QUOTE_SECONDS = 3_600

const quotesStale = ({ database, clock }: VillageParts): AlertRule =>
  defineAlert('quotes_stale', {
    severity: 'warning',
    summary: 'No quote was refreshed for an hour, though the exchange is open.',
    action: 'Look at the failures of STOCK_REFRESH. Switch the source: PATCH /admin/api/stocks {"source": "stooq"}.',
    threshold: QUOTE_SECONDS,
    async measure() {
      const now = clock.now()
      const isOpen = sessionAt(now) === 'market' && exchangeTime(now).minutes >= OPENS + QUOTE_SECONDS / 60
      const age = isOpen ? await quoteAge(database) : null
      if (age === null) return []
      const why = `The last quote was refreshed ${Math.round(age / 60)} minutes ago.`
      return [{ subject: 'quotes', value: age, queues: ['HIGH'], why }]
    },
    prometheus: (threshold) =>
      `time() - max(stock_last_refresh_timestamp_seconds) > ${threshold} and on () min_over_time((max(stock_market_open))[1h:5m]) == 1`,
  })

const screenshotsFull = ({ contracts: { SCREENSHOT_CAPTURE } }: VillageParts): AlertRule => {
  const permits = SCREENSHOT_CAPTURE.limits[0]?.perProcess ?? 1
  return defineAlert('screenshots_full', {
    severity: 'warning',
    summary: 'Every permit for a screenshot has been in use for ten minutes.',
    action: 'Look for sites that never finish loading, or start another SCREENSHOT worker.',
    ...{ threshold: 1, compare: '>=', for: '10m' },
    measure({ types, lanes }) {
      const running = types.find(({ type }) => type === SCREENSHOT_CAPTURE.type)?.running ?? 0
      const workers = lanes
        .filter(({ queues }) => queues.includes('SCREENSHOT'))
        .reduce((sum, lane) => sum + lane.workers, 0)
      const places = permits * Math.max(1, workers)
      const why = `${running} of ${places} permits for screenshots are in use.`
      return [{ subject: 'screenshots', value: running / places, queues: ['SCREENSHOT'], why }]
    },
    prometheus: (threshold) => `max(screenshot_concurrency_utilization) / ${permits} >= ${threshold}`,
  })
}
