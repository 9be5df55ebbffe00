// SQL about clicks (P14): only of visitors who agree, kept for a while, and counted by the hour.
import type { Queryable } from 'millrace'
import type { VillageDatabase } from '../database/pool.ts'

const AT_ONCE = 5_000

const WITHDRAWN = `
delete from village.link_clicks
where id in (
  select click.id
  from village.link_clicks as click
  join village.visitor_consents as consent using (visitor_id)
  where not consent.analytics
  limit ${AT_ONCE}
)`

const OLD = `
delete from village.link_clicks
where id in (
  select id
  from village.link_clicks
  where clicked_at < $1::timestamptz - $2 * interval '1 day'
  order by clicked_at
  limit ${AT_ONCE}
)`

/**
 * From two hours before the last hour that was counted, as a click may be committed late; at first from the first click. Hours
 * whose clicks are forgotten keep their counts.
 */
const SPAN = `
select greatest(
    coalesce($1::timestamptz,
      (select max(hour) - interval '2 hours' from village.click_rollups),
      (select date_trunc('hour', min(clicked_at), 'UTC') from village.link_clicks),
      date_trunc('hour', $3::timestamptz, 'UTC')),
    date_trunc('hour', $3::timestamptz - $4 * interval '1 day', 'UTC') + interval '1 hour') as "from",
  date_trunc('hour', least(coalesce($2::timestamptz, $3), $3), 'UTC') as "to"`

/** Hours that are over, counted anew: twice is once. */
const ROLL_UP = `
with counted as (
  select date_trunc('hour', clicked_at, 'UTC') as hour, target_kind, target_id,
    count(*)::integer as clicks, count(distinct visitor_id)::integer as visitors
  from village.link_clicks
  where clicked_at >= $1
    and clicked_at < $2
  group by 1, 2, 3
),
gone as (
  delete from village.click_rollups as rollup
  where hour >= $1
    and hour < $2
    and not exists (
      select from counted
      where (counted.hour, counted.target_kind, counted.target_id) = (rollup.hour, rollup.target_kind, rollup.target_id)
    )
),
written as (
  insert into village.click_rollups (hour, target_kind, target_id, clicks, visitors)
  select hour, target_kind, target_id, clicks, visitors
  from counted
  on conflict (hour, target_kind, target_id) do update
  set clicks = excluded.clicks, visitors = excluded.visitors
  returning hour
)
select count(*)::integer as rows from written`

export interface HourSpan {
  readonly from: Date
  readonly to: Date
}

/** Says how many are gone of the next few thousand: 0, when none is left. */
export const deleteWithdrawn = (db: VillageDatabase) => deleted(db, WITHDRAWN, [])
export const deleteOld = (db: VillageDatabase, now: Date, days: number) => deleted(db, OLD, [now, days])

export interface SpanOptions {
  readonly now: Date
  readonly from: Date | undefined
  readonly to: Date | undefined
  /** For how long single clicks are kept. */
  readonly days: number
}

export async function spanOf(db: Queryable, { now, from, to, days }: SpanOptions): Promise<HourSpan> {
  const { rows } = await db.query(SPAN, [from ?? null, to ?? null, now, days])
  return rows[0] as unknown as HourSpan
}

export async function rollUp(db: Queryable, { from, to }: HourSpan): Promise<number> {
  const { rows } = await db.query(ROLL_UP, [from, to])
  return (rows[0] as unknown as { rows: number }).rows
}

async function deleted(db: VillageDatabase, statement: string, values: unknown[]): Promise<number> {
  const { rowCount } = await db.query(statement, values)
  return rowCount ?? 0
}
