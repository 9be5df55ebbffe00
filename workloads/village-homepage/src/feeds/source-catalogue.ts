// SQL about sources as operators see and change them. Columns keep their names: the admin API speaks snake_case here.
import type { Queryable } from 'millrace'

export interface SourceRow {
  readonly id: string
  readonly name: string
  readonly url: string
  readonly category: string
  readonly refresh_interval_minutes: number
  readonly is_active: boolean
  readonly error_count: number
  readonly last_error_type: string | null
  readonly last_error_message: string | null
  readonly last_fetched_at: Date | null
  readonly last_attempt_at: Date | null
  readonly disabled_at: Date | null
  readonly moved_to: string | null
  readonly dedupe_mode: 'guid' | 'content_hash'
  readonly entry_limit: number
  readonly user_agent: string | null
  readonly created_at: Date
  readonly updated_at: Date
}

export type NewSource = Pick<SourceRow, 'name' | 'url' | 'category' | 'refresh_interval_minutes'> &
  Partial<Pick<SourceRow, 'dedupe_mode' | 'entry_limit' | 'user_agent'>>
export type SourceChange = Partial<Omit<NewSource, 'user_agent'>> & {
  readonly is_active?: boolean | undefined
  readonly error_count?: number | undefined
  readonly user_agent?: string | null | undefined
}

const COLUMNS = `id, name, url, category, refresh_interval_minutes, is_active, error_count, last_error_type,
  last_error_message, last_fetched_at, last_attempt_at, disabled_at, moved_to, dedupe_mode, entry_limit, user_agent,
  created_at, updated_at`

const ALL = `select ${COLUMNS} from village.rss_sources order by is_active, error_count = 0, lower(name), id`
const ONE = `select ${COLUMNS} from village.rss_sources where id = $1`

const ADD = `
insert into village.rss_sources
  (name, url, category, refresh_interval_minutes, dedupe_mode, entry_limit, user_agent)
select name, url, category, refresh_interval_minutes, coalesce(dedupe_mode, 'guid'), coalesce(entry_limit, 1000), user_agent
from jsonb_to_recordset($1::jsonb) as given (
  name text, url text, category text, refresh_interval_minutes integer, dedupe_mode text, entry_limit integer,
  user_agent text
)
on conflict (url) do nothing
returning ${COLUMNS}`

/** What is not given stays. At another address nothing is known of the feed, and without errors there is no last one. */
const CHANGE = `
update village.rss_sources as source
set name = coalesce(given.name, source.name),
    url = coalesce(given.url, source.url),
    category = coalesce(given.category, source.category),
    refresh_interval_minutes = coalesce(given.refresh_interval_minutes, source.refresh_interval_minutes),
    dedupe_mode = coalesce(given.dedupe_mode, source.dedupe_mode),
    entry_limit = coalesce(given.entry_limit, source.entry_limit),
    user_agent = case when $2::jsonb ? 'user_agent' then given.user_agent else source.user_agent end,
    is_active = coalesce(given.is_active, source.is_active),
    disabled_at = case when coalesce(given.is_active, source.is_active) then null else coalesce(source.disabled_at, now()) end,
    error_count = coalesce(given.error_count, source.error_count),
    last_error_type = case when given.error_count = 0 then null else source.last_error_type end,
    last_error_message = case when given.error_count = 0 then null else source.last_error_message end,
    etag = case when given.url <> source.url then null else source.etag end,
    last_modified = case when given.url <> source.url then null else source.last_modified end,
    moved_to = case when given.url <> source.url then null else source.moved_to end,
    updated_at = now()
from jsonb_to_record($2::jsonb) as given (
  name text, url text, category text, refresh_interval_minutes integer, dedupe_mode text, entry_limit integer,
  user_agent text, is_active boolean, error_count integer
)
where source.id = $1
returning ${COLUMNS.replace(/\b(\w+)/g, 'source.$1')}`

export async function allSources(db: Queryable): Promise<SourceRow[]> {
  return (await db.query(ALL)).rows as SourceRow[]
}

export async function oneSource(db: Queryable, id: string): Promise<SourceRow | undefined> {
  return (await db.query(ONE, [id])).rows[0] as SourceRow | undefined
}

/** In one statement. Answers with those that are new: an address is followed once. */
export async function addSources(tx: Queryable, sources: readonly NewSource[]): Promise<SourceRow[]> {
  return (await tx.query(ADD, [JSON.stringify(sources)])).rows as SourceRow[]
}

/** Throws Postgres's 23505 if another source has that address. */
export async function changeSource(tx: Queryable, id: string, change: SourceChange): Promise<SourceRow | undefined> {
  return (await tx.query(CHANGE, [id, JSON.stringify(change)])).rows[0] as SourceRow | undefined
}
