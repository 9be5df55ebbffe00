// SQL of the ranking. Each statement is a function of the data and of one moment, and writes only what changes.
import type { Queryable } from 'millrace'

export interface Ranked {
  readonly ranked: number
  readonly changed: number
}

/**
 * 0.55 × how sure we are that people like it (Wilson's lower bound at 95 %), 0.35 × how often it is clicked beside the most
 * clicked site, 0.10 × its health. A vote loses half of its weight in 30 days, a click in 7. A dead site is no longer listed.
 */
const SITES = `
with votes as (
  select site_id, sum(weight) as n, sum(weight) filter (where value = 1) as likes
  from (
    select site_id, value, 2 ^ (-extract(epoch from $1::timestamptz - voted_at)::float8 / (30 * 86400)) as weight
    from village.site_votes
    where voted_at <= $1
  ) as vote
  group by site_id
),
clicks as (
  select target_id as site_id,
    sum(clicks * 2 ^ (-extract(epoch from $1::timestamptz - hour)::float8 / (7 * 86400))) as clicks
  from village.click_rollups
  where target_kind = 'site'
    and hour <= $1
  group by target_id
),
facts as (
  select site.id, coalesce(n, 0) as n, coalesce(likes / nullif(n, 0), 0) as p, coalesce(clicks, 0) as clicks,
    coalesce(link.state, 'unknown') as state
  from village.good_sites as site
  left join votes on votes.site_id = site.id
  left join clicks on clicks.site_id = site.id
  left join village.site_links as link on link.site_id = site.id and link.url = site.url
),
ranked as (
  select id, state,
    case when state = 'dead' then 0 else round((
      0.55 * case when n = 0 then 0 else greatest(0,
        (p + 1.96 ^ 2 / (2 * n) - 1.96 * sqrt((p * (1 - p) + 1.96 ^ 2 / (4 * n)) / n)) / (1 + 1.96 ^ 2 / n)) end
      + 0.35 * coalesce(ln(1 + clicks) / nullif(ln(1 + max(clicks) over ()), 0), 0)
      + 0.10 * case state when 'ok' then 1 when 'broken' then 0 else 0.5 end
    )::numeric, 6)::float8 end as score
  from facts
),
changed as (
  update village.good_sites as site
  set score = ranked.score,
      status = case when ranked.state = 'dead' then 'unlisted' when site.status = 'unlisted' and ranked.state = 'ok' then 'listed'
        else site.status end
  from ranked
  where site.id = ranked.id
    and (site.score <> ranked.score
      or (ranked.state = 'dead' and site.status <> 'unlisted')
      or (ranked.state = 'ok' and site.status = 'unlisted'))
  returning site.id
)
select (select count(*) from ranked)::integer as ranked, (select count(*) from changed)::integer as changed`

/** (1 + ln(1 + clicks of a day)) × (0.8 + 0.2 × confidence) / (hours + 2)^1.5, and nothing after a week. */
const ITEMS = `
with clicks as (
  select target_id as item_id, sum(clicks) as clicks
  from village.click_rollups
  where target_kind = 'item'
    and hour > $1::timestamptz - interval '24 hours'
    and hour <= $1
  group by target_id
),
ranked as (
  select id,
    case when published_at <= $1::timestamptz - interval '7 days' then 0 else round((
      (1 + ln(1 + coalesce(clicks, 0)::float8)) * (0.8 + 0.2 * coalesce((ai_tags ->> 'confidence')::float8, 0))
        / (greatest(0, extract(epoch from $1::timestamptz - published_at)::float8 / 3600) + 2) ^ 1.5
    )::numeric, 6)::float8 end as score
  from village.feed_items
  left join clicks on clicks.item_id = id
  where published_at > $1::timestamptz - interval '7 days'
     or rank_score <> 0
),
changed as (
  update village.feed_items as item
  set rank_score = ranked.score
  from ranked
  where item.id = ranked.id
    and item.rank_score <> ranked.score
  returning item.id
)
select (select count(*) from ranked)::integer as ranked, (select count(*) from changed)::integer as changed`

async function run(db: Queryable, statement: string, asOf: Date): Promise<Ranked> {
  const { rows } = await db.query(statement, [asOf])
  return rows[0] as unknown as Ranked
}

export const rankSites = (db: Queryable, asOf: Date): Promise<Ranked> => run(db, SITES, asOf)
export const rankItems = (db: Queryable, asOf: Date): Promise<Ranked> => run(db, ITEMS, asOf)
