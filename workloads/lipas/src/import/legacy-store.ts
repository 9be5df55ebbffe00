// The SQL of the import: reading the older tables, and which of their rows have become jobs.
import type { Queryable } from 'millrace'
import type { OlderQueue } from './older-queues.ts'

export interface OlderRow {
  /** Names the row for people. */
  readonly key: string
  /** Names this row and no later one: a place may have been queued again since. */
  readonly sourceKey: string
  readonly since: string
  readonly content: Readonly<Record<string, unknown>>
  /** Where it stands in the table. Valid in the transaction that locked it. */
  readonly position: string
}

/** After which row a page begins. */
export interface Cursor {
  readonly since: string
  readonly key: string
}

export const START: Cursor = { since: '-infinity', key: '' }
export const IN_PROGRESS = ['in-progress', 'in_progress']

const isMissing = (error: unknown): boolean => (error as { code?: unknown }).code === '42703'

export async function hasTable(db: Queryable, { table }: OlderQueue): Promise<boolean> {
  const { rows } = await db.query('select to_regclass($1) as found', [`public.${table}`])
  return (rows[0] as { found: string | null }).found !== null
}

/** How many rows there are in each status; all under 'pending' where the table has none. */
export async function countByStatus(db: Queryable, queue: OlderQueue): Promise<Map<string, number>> {
  const status = queue.hasStatus ? `coalesce(status, 'pending')` : `'pending'`
  const { rows } = await asOlder(queue, () =>
    db.query(`select ${status} as status, count(*)::int as count from public.${queue.table} group by 1`),
  )
  return new Map((rows as { status: string; count: number }[]).map(({ status, count }) => [status, count]))
}

/** The next page of rows that wait, oldest first. `isLocked`: leaves out rows that another import is at, and keeps these from it. */
export async function readPage(
  db: Queryable,
  queue: OlderQueue,
  page: {
    readonly after: Cursor
    readonly statuses: readonly string[]
    readonly limit: number
    readonly isLocked: boolean
  },
): Promise<OlderRow[]> {
  const { table, key, since } = queue
  const isWanted = queue.hasStatus ? `coalesce(status, 'pending') = any($4)` : 'cardinality($4::text[]) > 0'
  const { rows } = await asOlder(queue, () =>
    db.query(
      `select coalesce(${key}::text, '') as key,
         coalesce(${since}::timestamptz, '-infinity')::text as since,
         to_jsonb(older) as content,
         ctid::text as position
       from public.${table} as older
       where (coalesce(${since}::timestamptz, '-infinity'), coalesce(${key}::text, '')) > ($1::timestamptz, $2)
         and ${isWanted}
       order by coalesce(${since}::timestamptz, '-infinity'), coalesce(${key}::text, '')
       limit $3
       ${page.isLocked ? 'for update skip locked' : ''}`,
      [page.after.since, page.after.key, page.limit, [...page.statuses]],
    ),
  )
  const found = rows as unknown as Omit<OlderRow, 'sourceKey'>[]
  return found.map((row) => ({ ...row, sourceKey: key === 'id' ? row.key : `${row.key} of ${row.since}` }))
}

export async function removeRows(tx: Queryable, { table }: OlderQueue, rows: readonly OlderRow[]): Promise<void> {
  const positions = rows.map(({ position }) => position)
  await tx.query(`delete from public.${table} where ctid = any($1::tid[])`, [positions])
}

/** Two imports at once take turns, so that neither makes a job of a row that the other has just taken. */
export async function takeTurn(tx: Queryable, { table }: OlderQueue): Promise<void> {
  await tx.query('select pg_advisory_xact_lock(hashtext($1))', [`lipas import ${table}`])
}

/** Those of the keys that were imported before. */
export async function importedBefore(
  db: Queryable,
  { table }: OlderQueue,
  keys: readonly string[],
): Promise<Set<string>> {
  const { rows } = await db.query(
    `select source_key as key
     from lipas.legacy_import
     where source = $1
       and source_key = any($2)`,
    [table, [...keys]],
  )
  return new Set((rows as { key: string }[]).map((row) => row.key))
}

export async function noteImported(
  tx: Queryable,
  { table }: OlderQueue,
  imported: readonly { readonly sourceKey: string; readonly jobId: string }[],
): Promise<void> {
  await tx.query(
    `insert into lipas.legacy_import (source, source_key, job_id)
     select $1, source_key, job_id
     from unnest($2::text[], $3::bigint[]) as imported (source_key, job_id)
     on conflict (source, source_key) do nothing`,
    [table, imported.map(({ sourceKey }) => sourceKey), imported.map(({ jobId }) => jobId)],
  )
}

/** The table is there, and is not what it was said to be. */
export class NotAnOlderQueue extends Error {
  override readonly name = 'NotAnOlderQueue'

  constructor({ table, key, since, hasStatus }: OlderQueue, said: string, cause: unknown) {
    const expected = [key, since, ...(hasStatus ? ['status'] : [])].join(', ')
    super(`The table public.${table} is not the older queue of that name: ${said}. Expected the columns ${expected}.`, {
      cause,
    })
  }
}

async function asOlder<Value>(queue: OlderQueue, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    throw isMissing(error) ? new NotAnOlderQueue(queue, (error as Error).message, error) : error
  }
}
