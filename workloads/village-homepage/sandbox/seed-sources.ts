// The village follows the feeds of the sandbox. Their addresses change with its port, so each start brings them up to date.
import type { Queryable } from 'millrace'
import { intervalOf } from '../src/feeds/categories.ts'
import { FEEDS } from './feeds.ts'

const SEED = `
with given as (
  select *
  from jsonb_to_recordset($1::jsonb) as given (name text, url text, category text, minutes integer, errors integer)
),
moved as (
  update village.rss_sources as source
  set url = given.url,
      updated_at = now()
  from given
  where source.is_sandbox
    and source.name = given.name
    and source.url <> given.url
)
insert into village.rss_sources (name, url, category, refresh_interval_minutes, error_count, is_sandbox)
select given.name, given.url, given.category, given.minutes, given.errors, true
from given
where not exists (
  select from village.rss_sources as source
  where source.is_sandbox
    and source.name = given.name
)
on conflict (url) do nothing`

/** The feed that has gone is one error away from being disabled. */
const ERRORS_OF_THE_GONE = 4

export async function seedSources(db: Queryable, feedsUrl: string): Promise<void> {
  const given = FEEDS.map(({ name, path, category, quirk }) => ({
    ...{ name, category, url: `${feedsUrl}/${path}`, minutes: intervalOf(category) },
    errors: quirk === 'gone' ? ERRORS_OF_THE_GONE : 0,
  }))
  await db.query(SEED, [JSON.stringify(given)])
}
