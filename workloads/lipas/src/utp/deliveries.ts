// What the partner was told: a row for each webhook job, written when it completes.
import type { Queryable } from 'millrace'

export interface Delivery {
  readonly jobId: string
  readonly operationType: string | null
  readonly objects: number
  readonly status: number
}

export async function noteDelivery(tx: Queryable, { jobId, operationType, objects, status }: Delivery): Promise<void> {
  await tx.query(
    `insert into lipas.webhook_delivery (job_id, operation_type, objects, status)
     values ($1, $2, $3, $4)
     on conflict (job_id) do nothing`,
    [jobId, operationType, objects, status],
  )
}

export async function latestDeliveries(db: Queryable, limit: number): Promise<(Delivery & { sentAt: Date })[]> {
  const { rows } = await db.query(
    `select job_id::text as "jobId", operation_type as "operationType", objects, status, sent_at as "sentAt"
     from lipas.webhook_delivery
     order by sent_at desc
     limit $1`,
    [limit],
  )
  return rows as unknown as (Delivery & { sentAt: Date })[]
}

export async function removeOldDeliveries(db: Queryable, daysOld: number): Promise<number> {
  const { rowCount } = (await db.query(
    `delete from lipas.webhook_delivery where sent_at < now() - $1 * interval '1 day'`,
    [daysOld],
  )) as { rowCount?: number | null }
  return rowCount ?? 0
}
