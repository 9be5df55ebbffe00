// Faxes and their transmissions, in the context of their organization.
import type { JobContext, Queryable } from 'millrace'
import { ownRow } from '../organization/org-context.ts'
import { query } from '../query.ts'

export interface Fax {
  readonly id: string
  readonly toNumber: string
  readonly status: 'waiting' | 'sending' | 'sent' | 'failed'
  readonly title: string
  readonly mediaType: string
  readonly content: Buffer
}

export interface Transmission {
  readonly gatewayId: string | null
  readonly submittedAt: Date
  /** Another run of this attempt wrote it, and may have called the gateway. */
  readonly isOld: boolean
}

export async function faxGet(tx: Queryable, ctx: JobContext, fax: string): Promise<Fax> {
  const { rows } = await tx.query(
    `select fax.id, fax.to_number as "toNumber", fax.status, document.title, document.media_type as "mediaType", document.content
     from dartwing.fax
     join dartwing.document on document.id = fax.document
     where fax.id = $1`,
    [fax],
  )
  return ownRow(rows, ctx, `fax ${fax}`)
}

/** The row of this attempt: written before the gateway is called, so no submission is forgotten. */
export async function transmissionBegin(
  tx: Queryable,
  { jobId, attempt, tenant }: JobContext,
  fax: string,
): Promise<Transmission> {
  const inserted = await tx.query(
    `insert into dartwing.fax_transmission (organization, fax, job, attempt)
     values ($1, $2, $3, $4)
     on conflict (job, attempt) do nothing
     returning gateway_id as "gatewayId", submitted_at as "submittedAt"`,
    [tenant, fax, jobId, attempt],
  )
  const found =
    inserted.rows[0] ??
    (
      await tx.query(
        `select gateway_id as "gatewayId", submitted_at as "submittedAt"
         from dartwing.fax_transmission
         where job = $1 and attempt = $2`,
        [jobId, attempt],
      )
    ).rows[0]
  await tx.query(`update dartwing.fax set status = 'sending' where id = $1 and status <> 'sent'`, [fax])
  return { ...(found as Omit<Transmission, 'isOld'>), isOld: inserted.rows.length === 0 }
}

export async function transmissionTaken(
  tx: Queryable,
  { jobId, attempt }: JobContext,
  gatewayId: string,
): Promise<void> {
  await tx.query(
    `update dartwing.fax_transmission
     set gateway_id = $3, state = 'dialling'
     where job = $1 and attempt = $2 and gateway_id is null`,
    [jobId, attempt, gatewayId],
  )
}

export async function transmissionFailed(
  tx: Queryable,
  { jobId, attempt }: JobContext,
  fax: string,
  error: string,
): Promise<void> {
  await tx.query(
    `update dartwing.fax_transmission
     set state = 'failed', error = $3, ended_at = now()
     where job = $1 and attempt = $2`,
    [jobId, attempt, error.slice(0, 2_000)],
  )
  await tx.query(`update dartwing.fax set status = 'failed', ended_at = now() where id = $1`, [fax])
}

/** Returns how many seconds it took since its submission. */
export async function faxSent(
  tx: Queryable,
  { jobId, attempt }: JobContext,
  fax: string,
  pages: number,
): Promise<number> {
  const [row] = await query<{ seconds: number }>(
    tx,
    `update dartwing.fax_transmission
     set state = 'sent', ended_at = now()
     where job = $1 and attempt = $2
     returning round(extract(epoch from now() - submitted_at)::numeric, 3)::float8 as seconds`,
    [jobId, attempt],
  )
  await tx.query(`update dartwing.fax set status = 'sent', pages = $2, ended_at = now() where id = $1`, [fax, pages])
  return Number(row?.seconds ?? 0)
}
