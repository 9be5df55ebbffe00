// SQL about the links of good sites: which are due, and what a check has found.
import type { Queryable } from 'millrace'
import type { Checked } from './check-link.ts'

export interface Link {
  readonly id: string
  readonly url: string
}

/** Each site has at least the link to itself. */
const ADD_OWN = `
insert into village.site_links (site_id, url)
select id, url
from village.good_sites
on conflict (site_id, url) do nothing`

const DUE = `
select id, url
from village.site_links
where next_check_at <= $1
order by next_check_at, id`

const BY_ID = `
select id, url
from village.site_links
where id = any ($1::uuid[])
order by array_position($1::uuid[], id)`

/**
 * A link that was broken three times in a row is dead, until it is ok again. The three are a day apart: a failure that is found
 * earlier does not count. A link is due an hour, or a day, before its next job comes, so that no clock makes it miss that.
 */
const KEEP = `
update village.site_links as link
set state = case
      when given.state in ('ok', 'moved') then given.state
      when link.state = 'dead' then 'dead'
      when given.state = 'broken' and failures + 1 >= $3 and next_check_at <= $2 then 'dead'
      else given.state
    end,
    failures = case
      when given.state in ('ok', 'moved') then 0
      when given.state = 'broken' and (failures = 0 or next_check_at <= $2) then failures + 1
      else failures
    end,
    next_check_at = case
      when given.state <> 'broken' then $2::timestamptz + interval '6 days'
      when failures > 0 and next_check_at > $2 then next_check_at
      when failures + 1 >= $3 then $2::timestamptz + interval '6 days'
      else $2::timestamptz + interval '23 hours'
    end,
    http_status = given.status,
    moved_to = given."movedTo",
    checked_at = $2
from jsonb_to_recordset($1::jsonb) as given (id uuid, state text, status integer, "movedTo" text)
where link.id = given.id
returning link.id, link.state`

export const addOwnLinks = async (db: Queryable): Promise<void> => void (await db.query(ADD_OWN))

export const linksForCheck = async (db: Queryable, now: Date): Promise<Link[]> => links(await db.query(DUE, [now]))

/** In the order of the ids. Those that are gone are left out. */
export const linksOf = async (db: Queryable, ids: readonly string[]): Promise<Link[]> =>
  links(await db.query(BY_ID, [ids]))

export interface KeptLink {
  readonly id: string
  readonly state: Checked['state'] | 'dead'
}

/** Answers with the states that followed. */
export async function keepChecks(
  tx: Queryable,
  checks: readonly (Checked & { id: string })[],
  { now, deadAfter }: { now: Date; deadAfter: number },
): Promise<KeptLink[]> {
  const { rows } = await tx.query(KEEP, [JSON.stringify(checks), now, deadAfter])
  return rows as unknown as KeptLink[]
}

const links = ({ rows }: { rows: readonly unknown[] }): Link[] => rows as Link[]
