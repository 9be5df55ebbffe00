// SQL of the page. Everything is bounded: a page must not get slow as the village grows.
import type { Queryable } from 'millrace'
import type { KeptQuote } from '../stocks/quote.ts'
import { quotesOf } from '../stocks/quote-store.ts'
import type { Current, ForecastDay } from '../weather/weather.ts'

/**
 * One feed that talks much does not fill the page. A story that has come since the last ranking stands where that would put it
 * without tags and clicks.
 */
const STORIES = `
with standing as (
  select
    item.*, source.name as source_name,
    coalesce(nullif(rank_score, 0),
      0.8 / (greatest(0, extract(epoch from $1::timestamptz - published_at)::float8 / 3600) + 2) ^ 1.5) as score
  from village.feed_items as item
  join village.rss_sources as source on source.id = item.source_id
  where item.published_at > $1::timestamptz - interval '7 days'
    and ($2::text is null or item.ai_tags -> 'categories' ? $2)
),
ranked as (
  select *, row_number() over (partition by source_id order by score desc, published_at desc) as place
  from standing
)
select
  id, title, url, source_name as source, published_at as "publishedAt", ai_tags as tags
from ranked
where place <= $3
order by score desc, published_at desc
limit $4`

const CATEGORIES = `
select category as name, count(*)::integer as count
from village.feed_items as item
cross join jsonb_array_elements_text(item.ai_tags -> 'categories') as category
where item.published_at > $1::timestamptz - interval '7 days'
group by category
order by count(*) desc, category`

const FEEDS = `
select
  count(*) filter (where is_active)::integer as active,
  count(*) filter (where disabled_at is not null and not is_active)::integer as disabled,
  max(last_fetched_at) as "fetchedAt"
from village.rss_sources`

const TAGGED = `
select count(*) filter (where ai_tagged)::integer as tagged, count(*)::integer as "all"
from village.feed_items
where published_at > $1::timestamptz - interval '7 days'`

const FORECASTS = `
select place.name, place.time_zone as "timeZone", forecast.current, forecast.days, forecast.fetched_at as "fetchedAt"
from village.weather_locations as place
left join village.weather_forecasts as forecast on forecast.location_id = place.id
order by place.name`

const ALERTS = `
select place.name as place, place.time_zone as "timeZone", event, severity, headline, expires_at as "expiresAt"
from village.weather_alerts as alert
join village.weather_locations as place on place.id = alert.location_id
where alert.ended_at is null
  and (alert.expires_at is null or alert.expires_at > $1)
order by alert.expires_at nulls last, place.name, alert.alert_id
limit 10`

/** Best first. At the end those that visitors have submitted within a day, and that wait for their picture. */
const SITES = `
with shown as (
  (select * from village.good_sites where status = 'listed' order by score desc, title, id limit $2)
  union all
  (select * from village.good_sites where status = 'pending' and created_at > $1::timestamptz - interval '1 day'
    order by created_at desc limit 3)
)
select site.id, title, site.url, category, score, status, coalesce(link.state, 'unknown') as state,
  site.created_at > $1::timestamptz - interval '10 minutes' as "isNew"
from shown as site
left join village.site_links as link on link.site_id = site.id and link.url = site.url
order by status, score desc, title, site.id`

const ONE_SITE = `
select site.id, site.title, site.url, site.category, site.score, coalesce(link.state, 'unknown') as state
from village.good_sites as site
left join village.site_links as link on link.site_id = site.id and link.url = site.url
where site.id = $1
  and site.status = 'listed'`

export type ListedSite = Pick<SiteRow, 'id' | 'title' | 'url' | 'category' | 'score' | 'state'>

/** Undefined: there is none, or it is not listed. */
export async function listedSite(db: Queryable, id: string): Promise<ListedSite | undefined> {
  return ((await db.query(ONE_SITE, [id])).rows as unknown as ListedSite[])[0]
}

export interface SiteRow {
  readonly id: string
  readonly title: string
  readonly url: string
  readonly category: string
  readonly score: number
  readonly status: 'listed' | 'pending'
  readonly state: string
  /** Since minutes. */
  readonly isNew: boolean
}

export async function shownSites(db: Queryable, { now, most }: { now: Date; most: number }): Promise<SiteRow[]> {
  return (await db.query(SITES, [now, most])).rows as unknown as SiteRow[]
}

export interface StoryTags {
  readonly topics: readonly string[]
  readonly sentiment: string
  readonly categories: readonly string[]
  readonly confidence: number
}

export interface StoryRow {
  readonly id: string
  readonly title: string
  readonly url: string
  readonly source: string
  readonly publishedAt: Date
  /** Null: it was not tagged yet. */
  readonly tags: StoryTags | null
}

export interface StoryFilter {
  readonly now: Date
  readonly category: string | undefined
  readonly perSource: number
  readonly most: number
}

export async function storiesOf(db: Queryable, { now, category, perSource, most }: StoryFilter): Promise<StoryRow[]> {
  return (await db.query(STORIES, [now, category ?? null, perSource, most])).rows as StoryRow[]
}

export async function categoriesOf(db: Queryable, now: Date): Promise<{ name: string; count: number }[]> {
  return (await db.query(CATEGORIES, [now])).rows as { name: string; count: number }[]
}

export interface FeedFacts {
  readonly active: number
  readonly disabled: number
  readonly fetchedAt: Date | null
}

export async function feedFacts(db: Queryable): Promise<FeedFacts> {
  return (await db.query(FEEDS)).rows[0] as FeedFacts
}

export async function taggedFacts(db: Queryable, now: Date): Promise<{ tagged: number; all: number }> {
  return (await db.query(TAGGED, [now])).rows[0] as { tagged: number; all: number }
}

export interface ForecastRow {
  readonly name: string
  readonly timeZone: string
  /** Null: there is none yet. */
  readonly current: Current | null
  readonly days: readonly ForecastDay[] | null
  readonly fetchedAt: Date | null
}

export async function forecastsOf(db: Queryable): Promise<ForecastRow[]> {
  return (await db.query(FORECASTS)).rows as ForecastRow[]
}

export interface AlertRow {
  readonly place: string
  readonly timeZone: string
  readonly event: string
  readonly severity: string
  readonly headline: string
  readonly expiresAt: Date | null
}

export async function activeAlerts(db: Queryable, now: Date): Promise<AlertRow[]> {
  return (await db.query(ALERTS, [now])).rows as AlertRow[]
}

/** In the order of the configuration. */
export async function shownQuotes(db: Queryable, symbols: readonly string[]): Promise<KeptQuote[]> {
  const kept = await quotesOf(db)
  return symbols.flatMap((symbol) => kept.get(symbol) ?? [])
}
