// When the village's jobs come by themselves. A schedule without a handler would be orphaned: only built types have one.
import { cron, defineSchedule, every, type Implementation, type Schedule, skip } from 'millrace'
import { untaggedCount } from './feeds/feed-store.ts'
import { stockSchedule } from './stocks/schedule.ts'
import type { VillageParts } from './village-parts.ts'

export function villageSchedules(parts: VillageParts, handlers: readonly Implementation[]): Schedule[] {
  const built = new Set(handlers.map(({ contract }) => contract.type))
  return allSchedules(parts).filter(({ job }) => built.has(job.type))
}

function allSchedules(parts: VillageParts): Schedule[] {
  const { contracts, database } = parts
  const { RSS_FEED_REFRESH, WEATHER_REFRESH, AI_TAGGING, CLICK_ROLLUP, RANK_RECALCULATION } = contracts
  const { SOCIAL_REFRESH, LINK_HEALTH_CHECK, SITEMAP_GENERATION, INBOUND_EMAIL, LISTING_EXPIRATION } = contracts
  return [
    stockSchedule(parts),
    defineSchedule({ name: 'rss-feed-refresh', job: RSS_FEED_REFRESH, when: cron('*/5 * * * *'), payload: {} }),
    defineSchedule({
      name: 'weather-forecast',
      job: WEATHER_REFRESH,
      when: cron('0 * * * *'),
      payload: { kind: 'forecast' },
      missed: 'skip',
    }),
    defineSchedule({
      name: 'weather-alerts',
      job: WEATHER_REFRESH,
      when: cron('*/15 * * * *'),
      payload: { kind: 'alerts' },
      missed: 'skip',
    }),
    defineSchedule({
      name: 'listing-expiration',
      job: LISTING_EXPIRATION,
      when: cron('0 2 * * *'),
      payload: ({ fireAt }) => ({ as_of: fireAt.toISOString() }),
    }),
    defineSchedule({ name: 'inbound-email', job: INBOUND_EMAIL, when: every('1m'), payload: {}, missed: 'skip' }),
    defineSchedule({ name: 'social-refresh', job: SOCIAL_REFRESH, when: cron('*/30 * * * *'), payload: {} }),
    defineSchedule({ name: 'link-health-check', job: LINK_HEALTH_CHECK, when: cron('0 4 * * 0'), payload: {} }),
    defineSchedule({
      name: 'sitemap-generation',
      job: SITEMAP_GENERATION,
      when: cron('0 3 * * *'),
      payload: ({ fireAt }) => ({ as_of: fireAt.toISOString() }),
    }),
    defineSchedule({ name: 'click-rollup', job: CLICK_ROLLUP, when: cron('5 * * * *'), payload: {} }),
    defineSchedule({
      name: 'rank-recalculation',
      job: RANK_RECALCULATION,
      when: cron('10 * * * *'),
      payload: ({ fireAt }) => ({ as_of: fireAt.toISOString() }),
    }),
    defineSchedule({
      name: 'ai-tagging',
      job: AI_TAGGING,
      when: cron('0 * * * *'),
      async payload() {
        const untagged = await untaggedCount(database)
        return untagged === 0 ? skip('nothing to tag') : { trigger: 'scheduled' as const, untagged_count: untagged }
      },
    }),
  ]
}
