// `dartwing_core.notifications.send_notification`: puts a notification into an inbox, and pushes it to the recipient's browsers.
import { retryAfterMs } from '@millrace/egress'
import { type Implementation, implement, type JobContext, type PayloadOutput, snooze, Unrecoverable } from 'millrace'
import { sendNotification } from '../contracts/critical.ts'
import { orgContext } from '../organization/org-context.ts'
import type { DartwingSystem } from '../system.ts'
import {
  authFor,
  type Notification,
  notificationEnsure,
  notificationGet,
  type StoredSubscription,
  subscriptionDelete,
  subscriptionsOf,
} from './notification-store.ts'
import { TEMPLATES } from './templates.ts'

type Payload = PayloadOutput<typeof sendNotification>
type Pushed = 'pushed' | 'gone'

const DEFAULT_WAIT_MS = 30_000

export const sendNotificationHandler = (system: DartwingSystem): Implementation =>
  implement(sendNotification, async (payload, ctx) => {
    const { notification, subscriptions } = await orgContext(ctx, async (tx) => {
      const found = await inboxRow(tx, payload, ctx)
      return { notification: found, subscriptions: await subscriptionsOf(tx, found.recipient) }
    })
    const ends: Pushed[] = []
    const errors: unknown[] = []
    // A step for each: what was pushed is not pushed again, whatever becomes of the others.
    for (const subscription of subscriptions)
      await ctx
        .step(`push:${subscription.id}`, () => pushed(system, { notification, subscription }, ctx))
        .then(
          (end) => ends.push(end as Pushed),
          (error: unknown) => errors.push(error),
        )
    const failure = errors.find((error) => !(error instanceof PushBusy) && !(error instanceof Unrecoverable))
    if (failure !== undefined) throw failure
    const waits = errors.flatMap((error) => (error instanceof PushBusy ? [error.waitMs] : []))
    if (waits.length > 0) return snooze(Math.max(...waits))
    if (errors.length > 0) throw errors[0]
    return { pushed: ends.filter((end) => end === 'pushed').length, gone: ends.filter((end) => end === 'gone').length }
  })

function inboxRow(tx: Parameters<typeof notificationGet>[0], payload: Payload, ctx: JobContext): Promise<Notification> {
  const { organization, notification, template, about = '', to = 'admins' } = payload
  if (notification !== undefined) return notificationGet(tx, ctx, notification)
  if (template === undefined) throw new Unrecoverable('Neither "notification" nor "template" is given.')
  return notificationEnsure(tx, organization, { template, about, recipient: to, ...TEMPLATES[template](about) })
}

async function pushed(
  system: DartwingSystem,
  { notification: { title, body, id }, subscription }: { notification: Notification; subscription: StoredSubscription },
  ctx: JobContext,
): Promise<Pushed> {
  const { endpoint, p256dh } = subscription
  const auth = system.millrace.open(subscription.sealedAuth, {
    for: authFor(ctx.tenant ?? '', subscription.id),
  }) as string
  const message = JSON.stringify({ id, title, body })
  const response = await ctx.breaker(`push:${new URL(endpoint).host}`, async () => {
    const answer = await system.pusher.push({ endpoint, p256dh, auth }, message, ctx.signal)
    if (answer.status >= 500) throw new Error(`The push service answered ${answer.status}.`)
    return answer
  })
  if (response.status === 404 || response.status === 410) {
    await orgContext(ctx, (tx) => subscriptionDelete(tx, subscription.id))
    return 'gone'
  }
  // A step is recorded once, so a wait must not be one: it throws out of the step.
  if (response.status === 429) throw new PushBusy(retryAfterMs(response) ?? DEFAULT_WAIT_MS)
  if (response.status === 413) throw new Unrecoverable(`Notification ${id} is too long to be pushed. Shorten it.`)
  if (!response.ok) throw new Error(`The push service answered ${response.status}.`)
  return 'pushed'
}

/** The push service asks to be called later. */
class PushBusy extends Error {
  override readonly name = 'PushBusy'
  readonly waitMs: number

  constructor(waitMs: number) {
    super('The push service asks to be called later.')
    this.waitMs = waitMs
  }
}
