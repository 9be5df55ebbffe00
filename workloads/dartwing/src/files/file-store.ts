// Files that were made for download, in the context of their organization.
import type { JobContext, Queryable } from 'millrace'
import { ownRow } from '../organization/org-context.ts'
import { query } from '../query.ts'
import type { StoredFile } from './storage.ts'

export interface MadeFile extends StoredFile {
  readonly name: string
  readonly mediaType: string
}

async function fileInsert(
  tx: Queryable,
  organization: string,
  { name, mediaType, bytes, sha256 }: MadeFile,
): Promise<string> {
  const [row] = await query<{ id: string }>(
    tx,
    `insert into dartwing.file (organization, name, media_type, bytes, sha256)
     values ($1, $2, $3, $4, $5)
     returning id::text`,
    [organization, name, mediaType, bytes, sha256],
  )
  return (row as { id: string }).id
}

export interface Report {
  readonly kind: 'contacts' | 'faxes'
  readonly format: 'pdf' | 'csv'
}

export async function reportGet(tx: Queryable, ctx: JobContext, report: string): Promise<Report> {
  return ownRow(
    await query(tx, 'select kind, format from dartwing.report where id = $1', [report]),
    ctx,
    `report ${report}`,
  )
}

/** Returns the id of the file. */
export async function reportDone(tx: Queryable, organization: string, report: string, made: MadeFile): Promise<string> {
  const file = await fileInsert(tx, organization, made)
  await tx.query(`update dartwing.report set status = 'done', file = $2 where id = $1`, [report, file])
  return file
}

export async function exportGet(tx: Queryable, ctx: JobContext, id: string): Promise<{ status: string }> {
  return ownRow(await query(tx, 'select status from dartwing.export where id = $1', [id]), ctx, `export ${id}`)
}

/** Returns the id of the file. */
export async function exportDone(tx: Queryable, organization: string, id: string, made: MadeFile): Promise<string> {
  const file = await fileInsert(tx, organization, made)
  await tx.query(`update dartwing.export set status = 'done', file = $2 where id = $1`, [id, file])
  return file
}

/** For a link: only in the organization's own context. */
export async function fileGet(tx: Queryable, file: string): Promise<MadeFile | undefined> {
  const [row] = await query<MadeFile>(
    tx,
    'select name, media_type as "mediaType", bytes::float8 as bytes, sha256 from dartwing.file where id = $1',
    [file],
  )
  return row
}
