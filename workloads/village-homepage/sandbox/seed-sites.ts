// The village's directory begins with sites of the sandbox. Their addresses change with its port, so each start brings them up to date.
import type { Queryable } from 'millrace'
import { SITES } from './sites.ts'

const SEED = `
with given as (
  select *
  from jsonb_to_recordset($1::jsonb) as given (url text, title text, category text)
),
moved as (
  update village.good_sites as site
  set url = given.url
  from given
  where site.is_sandbox
    and site.title = given.title
    and site.url <> given.url
)
insert into village.good_sites (url, title, category, is_sandbox)
select given.url, given.title, given.category, true
from given
where not exists (
  select from village.good_sites as site
  where site.is_sandbox
    and site.title = given.title
)
on conflict (url) do nothing`

/** The CDN of the sandbox keeps its objects in memory: those of an earlier start are gone. */
const FORGET = `
update village.media
set cdn_url = null
where cdn_url like 'http://127.0.0.1:%'`

export async function seedSites(db: Queryable, sitesUrl: string): Promise<void> {
  const given = SITES.map(({ path, title, category }) => ({ url: `${sitesUrl}/${path}`, title, category }))
  await db.query(SEED, [JSON.stringify(given)])
}

export const forgetCdn = async (db: Queryable): Promise<void> => void (await db.query(FORGET))
