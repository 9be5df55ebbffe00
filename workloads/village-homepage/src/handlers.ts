// The handlers of all job types that are built.
import { type Implementation, implement } from 'millrace'
import { Cdn } from './cdn/cdn.ts'
import { clickRollup } from './clicks/rollup.ts'
import { rssFeedRefresh } from './feeds/refresh.ts'
import { named } from './handler-names.ts'
import { LinkHealthCheck } from './links/check-links.ts'
import { InboundEmail } from './mail/inbound.ts'
import { MessageRelay } from './mail/relay.ts'
import { ListingExpiration } from './market/expiration.ts'
import { rankRecalculation } from './ranking/rank.ts'
import { sitemapGeneration } from './sitemap/generate.ts'
import { SocialRefresh } from './social/refresh.ts'
import { StockRefresh } from './stocks/refresh.ts'
import { tagItems } from './tagging/tag-items.ts'
import type { VillageParts } from './village-parts.ts'
import { WeatherRefresh } from './weather/refresh.ts'

export function villageHandlers(parts: VillageParts): Implementation[] {
  const { contracts, cdnContracts } = parts
  const stocks = new StockRefresh(parts)
  const relay = new MessageRelay(parts)
  const inbound = new InboundEmail(parts)
  const listings = new ListingExpiration(parts)
  const links = new LinkHealthCheck(parts)
  const social = new SocialRefresh(parts)
  const cdn = new Cdn(parts)
  const weather = new WeatherRefresh(parts)
  return [
    rssFeedRefresh(parts),
    implement(contracts.STOCK_REFRESH, (payload, ctx) => stocks.run(payload, ctx), named('STOCK_REFRESH')),
    implement(contracts.MESSAGE_RELAY, (payload, ctx) => relay.run(payload, ctx), named('MESSAGE_RELAY')),
    implement(contracts.INBOUND_EMAIL, (payload, ctx) => inbound.run(payload, ctx), named('INBOUND_EMAIL')),
    implement(contracts.LISTING_EXPIRATION, (payload, ctx) => listings.run(payload, ctx), named('LISTING_EXPIRATION')),
    implement(contracts.WEATHER_REFRESH, (payload, ctx) => weather.run(payload, ctx), named('WEATHER_REFRESH')),
    implement(contracts.SOCIAL_REFRESH, (payload, ctx) => social.run(payload, ctx), named('SOCIAL_REFRESH')),
    implement(contracts.LINK_HEALTH_CHECK, (payload, ctx) => links.run(payload, ctx), named('LINK_HEALTH_CHECK')),
    tagItems(parts),
    rankRecalculation(parts),
    clickRollup(parts),
    sitemapGeneration(parts),
    implement(contracts.IMAGE_PROCESSING, isolated(IMAGES, 384), named('IMAGE_PROCESSING')),
    implement(contracts.SCREENSHOT_CAPTURE, isolated(CAPTURES, 256), named('SCREENSHOT_CAPTURE')),
    implement(cdnContracts.CDN_UPLOAD, (payload, ctx) => cdn.upload(payload, ctx), named('CDN_UPLOAD')),
    implement(cdnContracts.CDN_REMOVE, (payload, ctx) => cdn.remove(payload, ctx), named('CDN_REMOVE')),
  ]
}

/** In processes of their own, which are ended when they have had nothing to do for a while. */
const isolated = (module: URL, memoryMb: number) => ({ isolation: 'process', module, memoryMb, warm: 0 }) as const

const IMAGES = new URL('./media/image-process.js', import.meta.url)
const CAPTURES = new URL('./sites/capture-process.js', import.meta.url)
