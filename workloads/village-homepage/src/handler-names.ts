// What spans call the handlers (`job.handler`): the classes of the job type registry.
import type { CdnContracts } from './cdn/contracts.ts'
import type { VillageJobType } from './contracts.ts'

type NamedType = VillageJobType | keyof CdnContracts

const CLASSES: Readonly<Record<NamedType, string>> = {
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
  CDN_UPLOAD: 'CdnUploadHandler',
  CDN_REMOVE: 'CdnRemoveHandler',
}

/** For implement(contract, handler, named('RSS_FEED_REFRESH')). */
export const named = (type: NamedType): { name: string } => ({
  name: `villagecompute.homepage.jobs.${CLASSES[type]}`,
})
