// Imports, their batches and refused rows, in the context of their organization.
import type { JobContext, Queryable } from 'millrace'
import { ACTING_USER } from '../organization/acting-admin.ts'
import { ownRow } from '../organization/org-context.ts'
import { query } from '../query.ts'
import type { Contact, RowRefusal } from './columns.ts'

export interface Import {
  readonly id: string
  readonly file: string
  readonly askedBy: string
  readonly status: 'waiting' | 'running' | 'completed' | 'cancelled' | 'refused'
  readonly header: readonly string[] | null
  readonly delimiter: string | null
}

export async function importGet(tx: Queryable, ctx: JobContext, id: string): Promise<Import> {
  const rows = await query(
    tx,
    `select id::text, file, asked_by as "askedBy", status, header, delimiter
     from dartwing.import
     where id = $1`,
    [id],
  )
  return ownRow(rows, ctx, `import ${id}`)
}

export interface Split {
  readonly header: readonly string[]
  readonly delimiter: string
  readonly rows: number
  readonly batches: number
}

export async function importSplit(
  tx: Queryable,
  id: string,
  { header, delimiter, rows, batches }: Split,
): Promise<void> {
  await tx.query(
    `update dartwing.import
     set status = case when $5 = 0 then 'completed' else 'running' end,
         ended_at = case when $5 = 0 then now() end,
         header = $2, delimiter = $3, rows = $4, batches = $5
     where id = $1`,
    [id, JSON.stringify(header), delimiter, rows, batches],
  )
}

export async function importRefuse(tx: Queryable, id: string, problem: string): Promise<void> {
  await tx.query(`update dartwing.import set status = 'refused', problem = $2, ended_at = now() where id = $1`, [
    id,
    problem,
  ])
}

/** False: the batch was entered before. */
export async function batchBegin(
  tx: Queryable,
  organization: string,
  { id, batch }: { id: string; batch: number },
): Promise<boolean> {
  const rows = await query(
    tx,
    `insert into dartwing.import_batch (organization, import, batch)
     values ($1, $2, $3)
     on conflict do nothing
     returning batch`,
    [organization, id, batch],
  )
  return rows.length === 1
}

/** In the order of their keys, so that two batches of one organization cannot lock each other out. */
export async function contactsUpsert(
  tx: Queryable,
  organization: string,
  { contacts, stamp }: { contacts: readonly Contact[]; stamp: string },
): Promise<{ inserted: number; names: string[] }> {
  const rows = await query<{ name: string; isNew: boolean }>(
    tx,
    `insert into dartwing.contact as contact (organization, name, external_id, fields, clocks)
     select $1, 'IMP-' || "externalId", "externalId", fields, (select jsonb_object_agg(key, $3::text) from jsonb_object_keys(fields) as key)
     from jsonb_to_recordset($2::jsonb) as given ("externalId" text, fields jsonb)
     order by "externalId"
     on conflict (organization, external_id) do update
       set fields = contact.fields || excluded.fields,
           clocks = contact.clocks || excluded.clocks,
           deleted = false,
           modified_at = now(),
           modified_by = ${ACTING_USER}
     returning name, xmax = 0 as "isNew"`,
    [organization, JSON.stringify(contacts), stamp],
  )
  return { inserted: rows.filter(({ isNew }) => isNew).length, names: rows.map(({ name }) => name) }
}

export type LineRefusal = RowRefusal & { readonly line: number }

export async function errorsInsert(
  tx: Queryable,
  organization: string,
  id: string,
  refusals: readonly LineRefusal[],
): Promise<void> {
  await tx.query(
    `insert into dartwing.import_error (organization, import, line, column_name, problem)
     select $1, $2, line, "column", problem
     from jsonb_to_recordset($3::jsonb) as given (line int, "column" text, problem text)
     on conflict do nothing`,
    [organization, id, JSON.stringify(refusals)],
  )
}

export interface ImportCounts {
  readonly inserted: number
  readonly updated: number
  readonly refused: number
}

/** Returns the sums of the import once its last batch has ended, and undefined before. */
export async function batchEnd(
  tx: Queryable,
  id: string,
  counts: ImportCounts,
): Promise<(ImportCounts & { askedBy: string }) | undefined> {
  const [row] = await query<ImportCounts & { askedBy: string; isLast: boolean }>(
    tx,
    `update dartwing.import
     set done = done + 1, inserted = inserted + $2, updated = updated + $3, refused = refused + $4,
         status = case when done + 1 = batches and status = 'running' then 'completed' else status end,
         ended_at = case when done + 1 = batches then now() end
     where id = $1
     returning inserted, updated, refused, asked_by as "askedBy", done = batches as "isLast"`,
    [id, counts.inserted, counts.updated, counts.refused],
  )
  return row?.isLast === true ? row : undefined
}
