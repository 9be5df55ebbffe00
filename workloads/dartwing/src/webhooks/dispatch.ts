// `dartwing_core.webhooks.dispatch`: delivers one signed event to the endpoint of an organization.
import { EgressRefused, retryAfterMs, signWebhook } from '@millrace/egress'
import { cancel, type Implementation, implement, type JobContext, snooze, Unrecoverable } from 'millrace'
import { z } from 'zod'
import { sendNotification } from '../contracts/critical.ts'
import { dispatchWebhook } from '../contracts/default.ts'
import { orgContext } from '../organization/org-context.ts'
import type { DartwingSystem } from '../system.ts'
import { secretsFor } from './secrets.ts'
import { type Delivery, deliveryEnd, deliveryGet, endpointDisable, endpointFailed } from './webhook-store.ts'

const ANSWER_MS = 10_000
const BODY_BYTES = 64 * 1024
const LONGEST_WAIT_MS = 24 * 3_600_000
const DEFAULT_WAIT_MS = 60_000
const SECRETS = z.array(z.string().min(1)).min(1).max(2)
/** So many dead deliveries in a row disable an endpoint. */
export const MOST_FAILURES = 20

interface Ids {
  readonly endpoint: string
  readonly delivery: string
}

export const dispatchHandler = (system: DartwingSystem): Implementation =>
  implement(dispatchWebhook, async ({ endpoint, delivery }, ctx) => {
    const ids = { endpoint, delivery }
    const found = await orgContext(ctx, (tx) => deliveryGet(tx, ctx, ids))
    if (found.disabledReason !== null)
      return refused(ctx, { ...ids, status: null }, `The endpoint is disabled: ${found.disabledReason}`)
    const startedAt = performance.now()
    const response = await sent(system, { ...found, ...ids }, ctx).catch((error: unknown) =>
      lastFailure(system, ctx, ids, error),
    )
    const { status } = response
    if (status === 429) return snooze(Math.min(LONGEST_WAIT_MS, retryAfterMs(response) ?? DEFAULT_WAIT_MS))
    if (status === 410) {
      await orgContext(ctx, (tx) => endpointDisable(tx, endpoint, 'It answered 410: it is gone.'))
      return refused(ctx, { ...ids, status }, 'The endpoint is gone (410), so it is disabled.')
    }
    if (!response.ok) return lastFailure(system, ctx, { ...ids, status }, new Error(`The endpoint answered ${status}.`))
    const ms = Math.round(performance.now() - startedAt)
    return orgContext(
      ctx,
      async (tx) => {
        await deliveryEnd(tx, { ...ids, status })
        return { status, ms }
      },
      { complete: true },
    )
  })

async function sent(
  system: DartwingSystem,
  { url, event, body: data, createdAt, sealedSecrets, endpoint, delivery }: Delivery & Ids,
  ctx: JobContext,
) {
  const { millrace, egress } = system
  const secrets = SECRETS.parse(millrace.open(sealedSecrets, { for: secretsFor(ctx.tenant ?? '', endpoint) }))
  const body = JSON.stringify({ type: event, timestamp: createdAt.toISOString(), data })
  // The id is that of the delivery: a receiver that got it before knows it again.
  const headers = { 'content-type': 'application/json', ...signWebhook({ id: `delivery-${delivery}`, body, secrets }) }
  try {
    const response = await egress.fetch(url, {
      ...{ method: 'POST', headers, body, signal: ctx.signal },
      budget: { totalMs: ANSWER_MS, headersMs: ANSWER_MS, maxBytes: BODY_BYTES },
    })
    await response.body?.cancel()
    return response
  } catch (error) {
    // The address itself is refused: the next attempt would be, too.
    if (error instanceof EgressRefused) throw new Unrecoverable(error.message)
    throw error
  }
}

/** A delivery that dies counts against its endpoint. */
async function lastFailure(
  system: DartwingSystem,
  ctx: JobContext,
  { status = null, ...ids }: Ids & { status?: number | null },
  error: unknown,
): Promise<never> {
  if (error instanceof Unrecoverable || ctx.attempt >= ctx.maxAttempts) {
    await orgContext(ctx, async (tx) => {
      await deliveryEnd(tx, { ...ids, status })
      const failures = await endpointFailed(tx, ids.endpoint)
      if (failures < MOST_FAILURES) return
      ctx.log.warn({ endpoint: ids.endpoint, failures }, 'the endpoint is disabled')
      await endpointDisable(tx, ids.endpoint, `${failures} deliveries in a row have failed.`)
      const organization = ctx.tenant ?? ''
      await system.millrace.enqueue(
        sendNotification,
        { organization, template: 'endpoint_disabled', about: ids.endpoint, to: 'admins' },
        { tx },
      )
    })
  }
  throw error
}

async function refused(ctx: JobContext, end: Ids & { status: number | null }, reason: string) {
  await orgContext(ctx, (tx) => deliveryEnd(tx, end))
  return cancel(reason)
}
