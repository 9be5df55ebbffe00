// The page's one statement: how long jobs have waited in the last minute, and whose oldest job waits.
import type { Queryable } from 'millrace'
import { query } from '../query.ts'

export interface Waits {
  readonly organization: string
  /** Of its jobs that ended in the last minute; null: none did. */
  readonly waitP95Ms: number | null
  /** Null: none waits. */
  readonly oldestJob: string | null
}

const MOST_ROWS = 20_000

export function waitsList(db: Queryable, organizations: readonly string[]): Promise<Waits[]> {
  return query(
    db,
    `with ended as (
       select tenant, extract(epoch from started_at - greatest(created_at, run_at)) * 1000 as wait_ms
       from millrace.jobs
       where finished_at > now() - interval '1 minute'
         and started_at is not null
         and tenant = any($1)
       limit $2
     )
     select organization,
       (select percentile_cont(0.95) within group (order by greatest(wait_ms, 0)) from ended where ended.tenant = organization)::float8 as "waitP95Ms",
       oldest.id::text as "oldestJob"
     from unnest($1::text[]) as organization
     left join lateral (
       select id
       from millrace.jobs
       where tenant = organization
         and status in ('pending', 'failed')
         and run_at <= now()
       order by id
       limit 1
     ) as oldest on true`,
    [organizations, MOST_ROWS],
  )
}
