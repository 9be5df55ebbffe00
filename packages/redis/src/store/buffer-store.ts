// What the buffer keeps in PostgreSQL. The tables are in migrations/0001_buffer_and_fences.sql.
import type { Queryable } from 'millrace'
import type { Postgres } from './pool.ts'

export interface EntryRow {
  readonly entryId: string
  readonly tenant: string | null
  readonly type: string
}

export interface RejectedRow extends EntryRow {
  /** As it was in Redis. */
  readonly entry: string
  readonly code: string
  readonly message: string
}

const columnsOf = (rows: readonly EntryRow[]) => [
  rows.map(({ entryId }) => entryId),
  rows.map(({ tenant }) => tenant),
  rows.map(({ type }) => type),
]

/** Which of these tenants this transaction alone moves: order within a tenant needs one mover at a time. */
export async function lockTenants(tx: Queryable, buffer: string, tenants: readonly string[]): Promise<Set<string>> {
  const { rows } = await tx.query(
    `select tenant from unnest($2::text[]) as tenant
     where pg_try_advisory_xact_lock(hashtextextended('millrace_redis:' || $1 || ':' || tenant, 0))`,
    [buffer, tenants],
  )
  return new Set((rows as { tenant: string }[]).map(({ tenant }) => tenant))
}

/** Of these entries, those that nobody has moved: they are this transaction's. */
export async function takeEntries(tx: Queryable, buffer: string, rows: readonly EntryRow[]): Promise<Set<string>> {
  const taken = await tx.query(
    `insert into millrace_redis.buffer_entry (entry_id, buffer, tenant, type)
     select entry_id, $1, tenant, type from unnest($2::text[], $3::text[], $4::text[]) as given (entry_id, tenant, type)
     on conflict (entry_id) do nothing
     returning entry_id`,
    [buffer, ...columnsOf(rows)],
  )
  return new Set((taken.rows as { entry_id: string }[]).map(({ entry_id }) => entry_id))
}

export async function noteJobs(tx: Queryable, jobs: readonly { entryId: string; jobId: string }[]): Promise<void> {
  await tx.query(
    `update millrace_redis.buffer_entry set job_id = moved.job_id
     from unnest($1::text[], $2::bigint[]) as moved (entry_id, job_id)
     where buffer_entry.entry_id = moved.entry_id`,
    [jobs.map(({ entryId }) => entryId), jobs.map(({ jobId }) => jobId)],
  )
}

export async function noteRejected(tx: Queryable, buffer: string, rows: readonly RejectedRow[]): Promise<void> {
  await tx.query(
    `insert into millrace_redis.buffer_rejected (entry_id, buffer, tenant, type, entry, error_code, error_message)
     select entry_id, $1, tenant, type, entry, code, message
     from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
       as given (entry_id, tenant, type, entry, code, message)
     on conflict (entry_id) do nothing`,
    [
      buffer,
      ...columnsOf(rows),
      rows.map(({ entry }) => entry),
      rows.map(({ code }) => code),
      rows.map(({ message }) => message),
    ],
  )
}

export interface Fate {
  readonly jobId: string | null
  readonly code: string | null
  readonly message: string | null
  readonly isLost: boolean
}

/** What became of an entry; undefined: PostgreSQL knows nothing of it. */
export async function fateOf(db: Postgres, entryId: string): Promise<Fate | undefined> {
  const [row] = await db.rows<{ job_id: string | null; code: string | null; message: string | null; is_lost: boolean }>(
    `select entry.job_id::text, rejected.error_code as code, rejected.error_message as message, lost.entry_id is not null as is_lost
     from (select $1::text as entry_id) as asked
     left join millrace_redis.buffer_entry as entry using (entry_id)
     left join millrace_redis.buffer_rejected as rejected using (entry_id)
     left join millrace_redis.buffer_lost as lost using (entry_id)
     where entry.entry_id is not null or rejected.entry_id is not null or lost.entry_id is not null`,
    [entryId],
  )
  return row && { jobId: row.job_id, code: row.code, message: row.message, isLost: row.is_lost }
}

export async function movedOf(db: Postgres, entryIds: readonly string[]): Promise<Set<string>> {
  const rows = await db.rows<{ entry_id: string }>(
    'select entry_id from millrace_redis.buffer_entry where entry_id = any($1::text[])',
    [entryIds],
  )
  return new Set(rows.map(({ entry_id }) => entry_id))
}

export interface LostRow extends EntryRow {
  readonly acceptedAt: Date
}

export async function noteLost(db: Postgres, buffer: string, rows: readonly LostRow[]): Promise<void> {
  await db.rows(
    `insert into millrace_redis.buffer_lost (entry_id, buffer, tenant, type, accepted_at)
     select entry_id, $1, tenant, type, accepted_at
     from unnest($2::text[], $3::text[], $4::text[], $5::timestamptz[]) as given (entry_id, tenant, type, accepted_at)
     on conflict (entry_id) do nothing`,
    [buffer, ...columnsOf(rows), rows.map(({ acceptedAt }) => acceptedAt)],
  )
}

export interface ProcessAccount {
  readonly buffer: string
  readonly process: string
  readonly host: string
  readonly pid: number
  readonly open: number
}

export async function noteAccount(db: Postgres, { buffer, process, host, pid, open }: ProcessAccount): Promise<void> {
  await db.rows(
    `insert into millrace_redis.buffer_account (buffer, process, host, pid, open) values ($1, $2, $3, $4, $5)
     on conflict (buffer, process) do update set open = excluded.open, updated_at = now()`,
    [buffer, process, host, pid, open],
  )
}

/** A process that has nothing open any more leaves no row. */
export async function endAccount(db: Postgres, buffer: string, process: string): Promise<void> {
  await db.rows('delete from millrace_redis.buffer_account where buffer = $1 and process = $2', [buffer, process])
}

export interface Tallies {
  readonly rejected: number
  readonly lost: number
  /** Promised to processes that have not been heard of for ten seconds: at most so many may be lost without a name. */
  readonly unwatched: number
}

export async function talliesOf(db: Postgres, buffer: string): Promise<Tallies> {
  const [row] = await db.rows<{ rejected: number; lost: number; unwatched: number }>(
    `select
       (select count(*)::int from millrace_redis.buffer_rejected where buffer = $1) as rejected,
       (select count(*)::int from millrace_redis.buffer_lost where buffer = $1) as lost,
       (select coalesce(sum(open), 0)::int from millrace_redis.buffer_account
        where buffer = $1 and updated_at < now() - interval '10 seconds') as unwatched`,
    [buffer],
  )
  return row as Tallies
}

export interface RejectedEntry {
  readonly entryId: string
  readonly tenant: string | null
  readonly type: string
  readonly code: string
  readonly message: string
  readonly rejectedAt: Date
}

export function rejectedOf(db: Postgres, buffer: string, limit: number): Promise<RejectedEntry[]> {
  return db.rows<RejectedEntry>(
    `select entry_id as "entryId", tenant, type, error_code as code, error_message as message, rejected_at as "rejectedAt"
     from millrace_redis.buffer_rejected where buffer = $1 order by rejected_at desc limit $2`,
    [buffer, limit],
  )
}

/** Takes rejected entries back for another try. They are no longer rejected when this transaction commits. */
export async function takeRejected(tx: Queryable, buffer: string, entryIds: readonly string[]) {
  const { rows } = await tx.query(
    `delete from millrace_redis.buffer_rejected where buffer = $1 and entry_id = any($2::text[])
     returning entry_id as "entryId", entry, rejected_at`,
    [buffer, entryIds],
  )
  return rows as { entryId: string; entry: string }[]
}

export async function forgetRejected(db: Postgres, buffer: string, tenant: string): Promise<number> {
  const rows = await db.rows(
    'delete from millrace_redis.buffer_rejected where buffer = $1 and tenant = $2 returning 1',
    [buffer, tenant],
  )
  return rows.length
}

const PRUNE_BATCH = 5_000

/** Bounded, and repeated by the next call. A week is longer than an entry can stand in Redis after it was moved. */
export async function pruneEntries(db: Postgres): Promise<void> {
  for (const [table, column, age] of [
    ['buffer_entry', 'moved_at', '7 days'],
    ['buffer_rejected', 'rejected_at', '30 days'],
    ['buffer_lost', 'noticed_at', '30 days'],
    ['buffer_account', 'updated_at', '7 days'],
  ] as const) {
    await db.rows(
      `delete from millrace_redis.${table} where ctid = any(array(
         select ctid from millrace_redis.${table} where ${column} < now() - interval '${age}' limit ${PRUNE_BATCH}))`,
    )
  }
}
