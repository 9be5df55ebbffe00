// What spans call the handlers (`job.handler`): the classes of the job type registry.
import type { VillageJobType } from './contracts.ts'

const CLASSES: Readonly<Record<VillageJobType, string>> = {
  RSS_FEED_REFRESH: 'RssFeedRefreshHandler',
  WEATHER_REFRESH: 'WeatherRefreshJobHandler',
  LISTING_EXPIRATION: 'ListingExpirationHandler',
  RANK_RECALCULATION: 'RankRecalculationHandler',
  INBOUND_EMAIL: 'InboundEmailHandler',
  STOCK_REFRESH: 'StockRefreshJobHandler',
  MESSAGE_RELAY: 'MessageRelayHandler',
  SOCIAL_REFRESH: 'SocialRefreshHandler',
  LINK_HEALTH_CHECK: 'LinkHealthCheckHandler',
  SITEMAP_GENERATION: 'SitemapGenerationHandler',
  CLICK_ROLLUP: 'ClickRollupHandler',
  AI_TAGGING: 'AiTaggingJobHandler',
  IMAGE_PROCESSING: 'ImageProcessingHandler',
  SCREENSHOT_CAPTURE: 'ScreenshotCaptureHandler',
}

/** For implement(contract, handler, named('RSS_FEED_REFRESH')). */
export const named = (type: VillageJobType): { name: string } => ({
  name: `villagecompute.homepage.jobs.${CLASSES[type]}`,
})
