// SQL about the sources that the village follows.
import type { Queryable } from 'millrace'

export interface RssSource {
  readonly id: string
  readonly name: string
  readonly url: string
  readonly isActive: boolean
  readonly isDue: boolean
  readonly etag: string | null
  readonly lastModified: string | null
  readonly dedupeMode: 'guid' | 'content_hash'
  readonly entryLimit: number
  readonly userAgent: string | null
}

/** The operators' recipe for "due", word for word. */
const IS_DUE = `(last_fetched_at IS NULL
       OR last_fetched_at + (refresh_interval_minutes || ' minutes')::interval < NOW())`

const BY_ID = `
select id, name, url, is_active as "isActive", ${IS_DUE} as "isDue", etag, last_modified as "lastModified",
  dedupe_mode as "dedupeMode", entry_limit as "entryLimit", user_agent as "userAgent"
from village.rss_sources
where id = $1`

/** Feeds of the sandbox answer only while it runs. */
const FOR_REFRESH = `
select id
from village.rss_sources
where is_active = true
  and ($1::boolean or ${IS_DUE})
  and (not is_sandbox or $2)
order by last_fetched_at nulls first`

const FETCHED = `
update village.rss_sources
set last_fetched_at = now(),
    last_attempt_at = now(),
    error_count = 0,
    last_error_type = null,
    last_error_message = null,
    etag = $2,
    last_modified = $3,
    moved_to = $4,
    updated_at = now()
where id = $1
returning id`

const NOT_MODIFIED = `
update village.rss_sources
set last_fetched_at = now(),
    last_attempt_at = now(),
    error_count = 0,
    last_error_type = null,
    last_error_message = null,
    updated_at = now()
where id = $1
returning id`

const FAILED = `
update village.rss_sources
set error_count = error_count + 1,
    last_error_type = $2,
    last_error_message = $3,
    last_attempt_at = now(),
    is_active = error_count + 1 < $4,
    disabled_at = case when error_count + 1 < $4 then null else now() end,
    updated_at = now()
where id = $1
  and is_active
returning error_count as "errorCount", is_active as "isActive"`

export async function sourceById(db: Queryable, id: string): Promise<RssSource | undefined> {
  const { rows } = await db.query(BY_ID, [id])
  return rows[0] as RssSource | undefined
}

/** The active sources that are due, or all active ones; those that have waited longest first. */
export async function sourcesForRefresh(
  db: Queryable,
  { isForced, hasSandbox }: { isForced: boolean; hasSandbox: boolean },
): Promise<string[]> {
  const { rows } = await db.query(FOR_REFRESH, [isForced, hasSandbox])
  return (rows as { id: string }[]).map(({ id }) => id)
}

interface Validators {
  readonly etag: string | null
  readonly lastModified: string | null
  readonly movedTo: string | null
}

/** False: the source is gone. Locks its row, so that two runs store one after the other. */
export async function sourceFetched(tx: Queryable, id: string, found: Validators): Promise<boolean> {
  const { rows } = await tx.query(FETCHED, [id, found.etag, found.lastModified, found.movedTo])
  return rows.length === 1
}

export async function sourceNotModified(tx: Queryable, id: string): Promise<boolean> {
  const { rows } = await tx.query(NOT_MODIFIED, [id])
  return rows.length === 1
}

export interface SourceFailure {
  readonly errorType: string
  readonly message: string
  /** So many failures in a row disable the source. */
  readonly threshold: number
}

/** Undefined: it is gone, or somebody disabled it meanwhile. */
export async function sourceFailed(
  db: Queryable,
  id: string,
  { errorType, message, threshold }: SourceFailure,
): Promise<{ errorCount: number; isActive: boolean } | undefined> {
  const { rows } = await db.query(FAILED, [id, errorType, message, threshold])
  return rows[0] as { errorCount: number; isActive: boolean } | undefined
}
