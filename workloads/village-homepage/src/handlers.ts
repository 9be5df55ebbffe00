// The handlers of all job types that are built.
import { type Implementation, implement } from 'millrace'
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
  const { contracts } = parts
  const stocks = new StockRefresh(parts)
  const relay = new MessageRelay(parts)
  const inbound = new InboundEmail(parts)
  const listings = new ListingExpiration(parts)
  const links = new LinkHealthCheck(parts)
  const social = new SocialRefresh(parts)
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
  ]
}
