// Endpoints and deliveries of webhooks, in the context of their organization.
import type { JobContext, Queryable } from 'millrace'
import { ownRow } from '../organization/org-context.ts'
import { query } from '../query.ts'

export interface Delivery {
  readonly url: string
  readonly sealedSecrets: string
  readonly disabledReason: string | null
  readonly event: string
  readonly body: unknown
  readonly createdAt: Date
}

export async function deliveryGet(
  tx: Queryable,
  ctx: JobContext,
  { endpoint, delivery }: { endpoint: string; delivery: string },
): Promise<Delivery> {
  const { rows } = await tx.query(
    `select url, sealed_secrets as "sealedSecrets", disabled_reason as "disabledReason", event, body, created_at as "createdAt"
     from dartwing.webhook_delivery as delivery
     join dartwing.webhook_endpoint as endpoint on endpoint.id = delivery.endpoint
     where delivery.id = $1 and endpoint.id = $2`,
    [delivery, endpoint],
  )
  return ownRow(rows, ctx, `delivery ${delivery} of endpoint ${endpoint}`)
}

export async function deliveryEnd(
  tx: Queryable,
  { endpoint, delivery, status }: { endpoint: string; delivery: string; status: number | null },
): Promise<void> {
  const isDelivered = status !== null && status >= 200 && status < 300
  await tx.query(
    `update dartwing.webhook_delivery
     set status = $2, state = case when $3 then 'delivered' else 'refused' end, delivered_at = case when $3 then now() end
     where id = $1`,
    [delivery, status, isDelivered],
  )
  if (isDelivered)
    await tx.query(
      'update dartwing.webhook_endpoint set failures_in_a_row = 0 where id = $1 and failures_in_a_row > 0',
      [endpoint],
    )
}

/** Returns how many deliveries to it have died in a row. */
export async function endpointFailed(tx: Queryable, endpoint: string): Promise<number> {
  const [row] = await query<{ failures: number }>(
    tx,
    `update dartwing.webhook_endpoint
     set failures_in_a_row = failures_in_a_row + 1
     where id = $1
     returning failures_in_a_row as failures`,
    [endpoint],
  )
  return row?.failures ?? 0
}

export async function endpointDisable(tx: Queryable, endpoint: string, reason: string): Promise<void> {
  await tx.query(
    `update dartwing.webhook_endpoint
     set disabled_reason = $2
     where id = $1 and disabled_reason is null`,
    [endpoint, reason],
  )
}
