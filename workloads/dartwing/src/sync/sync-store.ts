// Deltas, records and conflicts of offline work, in the context of their organization.
import type { JobContext, Queryable } from 'millrace'
import { ACTING_USER } from '../organization/acting-admin.ts'
import { ownRow } from '../organization/org-context.ts'
import { query } from '../query.ts'
import type { Conflict, MergeState } from './merge.ts'

export interface StoredDelta {
  readonly device: string
  readonly changes: unknown
  readonly isApplied: boolean
  readonly serverSeq: number | null
}

export async function deltaGet(tx: Queryable, ctx: JobContext, delta: string): Promise<StoredDelta> {
  const rows = await query(
    tx,
    `select device, changes, applied_at is not null as "isApplied", server_seq::float8 as "serverSeq"
     from dartwing.sync_delta
     where delta = $1`,
    [delta],
  )
  return ownRow(rows, ctx, `delta ${delta}`)
}

export type Kind = 'Task' | 'Contact'
export type StoredRecord = MergeState & { readonly name: string; readonly deleted: boolean }

// Two statements for each, because a table's name is no parameter.
const LOCK: Readonly<Record<Kind, string>> = {
  Task: 'select name, fields, clocks, deleted from dartwing.task where name = any($1) order by name for update',
  Contact: 'select name, fields, clocks, deleted from dartwing.contact where name = any($1) order by name for update',
}

/** Locks them in the order of their names, so that two deltas cannot lock each other out. */
export const recordsLock = (tx: Queryable, kind: Kind, names: readonly string[]): Promise<StoredRecord[]> =>
  query(tx, LOCK[kind], [names])

const upsertInto = (
  table: 'task' | 'contact',
): string => `insert into dartwing.${table} as record (organization, name, fields, clocks, deleted)
  select $1, name, fields, clocks, deleted
  from jsonb_to_recordset($2::jsonb) as given (name text, fields jsonb, clocks jsonb, deleted boolean)
  order by name
  on conflict (organization, name) do update
    set fields = excluded.fields, clocks = excluded.clocks, deleted = excluded.deleted, modified_at = now(), modified_by = ${ACTING_USER}`

const UPSERT: Readonly<Record<Kind, string>> = { Task: upsertInto('task'), Contact: upsertInto('contact') }

export async function recordsUpsert(
  tx: Queryable,
  organization: string,
  kind: Kind,
  records: readonly StoredRecord[],
): Promise<void> {
  if (records.length > 0) await tx.query(UPSERT[kind], [organization, JSON.stringify(records)])
}

/** `isOurs`: the change of this delta lost. */
export type NoticedConflict = Conflict & { readonly doctype: Kind; readonly name: string; readonly isOurs: boolean }

/** Without changes that an overlapping delta had applied before they lost: nothing is lost anew. Returns how many were written. */
export async function conflictsInsert(
  tx: Queryable,
  organization: string,
  delta: string,
  conflicts: readonly NoticedConflict[],
): Promise<number> {
  const rows = await query(
    tx,
    `insert into dartwing.sync_conflict (organization, doctype, name, field, kept, lost, delta)
     select $1, doctype, name, field, kept, lost, $2
     from jsonb_to_recordset($3::jsonb) as given (doctype text, name text, field text, kept jsonb, lost jsonb, "isOurs" boolean)
     where not ("isOurs" and exists (
       select from dartwing.sync_delta as earlier
       where earlier.applied_at is not null
         and earlier.delta <> $2
         and earlier.changes @> jsonb_build_array(
           jsonb_build_object('doctype', doctype, 'name', given.name, 'field', field, 'stamp', lost ->> 'stamp'))
     ))
     returning id`,
    [organization, delta, JSON.stringify(conflicts)],
  )
  return rows.length
}

export async function deltaApplied(tx: Queryable, delta: string, serverSeq: number): Promise<void> {
  await tx.query('update dartwing.sync_delta set applied_at = now(), server_seq = $2 where delta = $1', [
    delta,
    serverSeq,
  ])
}
