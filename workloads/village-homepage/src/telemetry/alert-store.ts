// SQL behind the alerts of the village.
import type { Queryable } from 'millrace'

const DISABLED = `
select name, url, coalesce(last_error_message, last_error_type, 'unknown') as error
from village.rss_sources
where not is_active
  and disabled_at is not null
order by name, url`

/** Whole runs, as jobs: fetching is nearly all that they do. */
const SLOW = `
select source.name, source.url, count(*)::integer as runs,
  percentile_cont(0.95) within group (order by extract(epoch from finished_at - started_at))::float8 as seconds
from millrace.jobs as job
join village.rss_sources as source on source.id::text = job.payload ->> 'source_id'
where job.type = 'RSS_FEED_REFRESH'
  and finished_at > now() - interval '3 hours'
group by source.id
having count(*) >= 3`

const FAILURES = `
select count(*)::integer as calls, count(*) filter (where outcome <> 'tagged')::integer as failed
from village.ai_calls
where outcome <> 'begun'
  and called_at > now() - interval '1 hour'`

const UNTAGGED = `
select count(*) filter (where not ai_tagged)::integer as untagged,
  (count(*) filter (where fetched_at > now() - interval '6 hours')
    - count(*) filter (where tagged_at > now() - interval '6 hours'))::integer as grown
from village.feed_items
where not ai_tagged
  or fetched_at > now() - interval '6 hours'
  or tagged_at > now() - interval '6 hours'`

const REFRESHED = 'select extract(epoch from now() - max(fetched_at))::float8 as age from village.stock_quotes'

async function rowsOf<Row>(db: Queryable, statement: string): Promise<Row[]> {
  return (await db.query(statement)).rows as Row[]
}

export const disabledFeeds = (db: Queryable) => rowsOf<{ name: string; url: string; error: string }>(db, DISABLED)

export const fetchTimes = (db: Queryable) =>
  rowsOf<{ name: string; url: string; runs: number; seconds: number }>(db, SLOW)

export async function recentFailures(db: Queryable): Promise<{ calls: number; failed: number }> {
  const [row] = await rowsOf<{ calls: number; failed: number }>(db, FAILURES)
  return row ?? { calls: 0, failed: 0 }
}

export async function untaggedGrowth(db: Queryable): Promise<{ untagged: number; grown: number }> {
  const [row] = await rowsOf<{ untagged: number; grown: number }>(db, UNTAGGED)
  return row ?? { untagged: 0, grown: 0 }
}

/** Seconds since a quote was last refreshed; null: none ever was. */
export async function quoteAge(db: Queryable): Promise<number | null> {
  const [row] = await rowsOf<{ age: number | null }>(db, REFRESHED)
  return row?.age ?? null
}
