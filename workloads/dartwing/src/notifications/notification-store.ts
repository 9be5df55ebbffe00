// Inboxes and push subscriptions, in the context of their organization.
import type { JobContext, Queryable } from 'millrace'
import { ownRow } from '../organization/org-context.ts'
import { query } from '../query.ts'

export interface Notification {
  readonly id: string
  /** A login, or 'admins'. */
  readonly recipient: string
  readonly title: string
  readonly body: string
}

export async function notificationGet(tx: Queryable, ctx: JobContext, id: string): Promise<Notification> {
  const rows = await query(tx, 'select id::text, recipient, title, body from dartwing.notification where id = $1', [id])
  return ownRow(rows, ctx, `notification ${id}`)
}

export interface FromTemplate {
  readonly template: string
  readonly about: string
  readonly recipient: string
  readonly title: string
  readonly body: string
}

/** One for each template, subject and recipient: a repeat finds the row that is there. */
export async function notificationEnsure(
  tx: Queryable,
  organization: string,
  made: FromTemplate,
): Promise<Notification> {
  const { template, about, recipient, title, body } = made
  await tx.query(
    `insert into dartwing.notification (organization, recipient, title, body, template, about)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (organization, template, about, recipient) do nothing`,
    [organization, recipient, title, body, template, about],
  )
  const [row] = await query<Notification>(
    tx,
    `select id::text, recipient, title, body
     from dartwing.notification
     where template = $1 and about = $2 and recipient = $3`,
    [template, about, recipient],
  )
  return row as Notification
}

export interface StoredSubscription {
  readonly id: string
  readonly endpoint: string
  readonly p256dh: string
  readonly sealedAuth: string
}

/** Of the person, or of all active admins. */
export function subscriptionsOf(tx: Queryable, recipient: string): Promise<StoredSubscription[]> {
  return query(
    tx,
    `select subscription.id::text, endpoint, p256dh, sealed_auth as "sealedAuth"
     from dartwing.push_subscription as subscription
     join dartwing.person on person.frappe_user = subscription.person_login
     join dartwing.org_member as member on member.person = person.id
     where member.status = 'Active'
       and (person.frappe_user = $1 or ($1 = 'admins' and member.role = 'Admin'))
     order by subscription.id`,
    [recipient],
  )
}

export async function subscriptionDelete(tx: Queryable, id: string): Promise<void> {
  await tx.query('delete from dartwing.push_subscription where id = $1', [id])
}

/** What the secret of a subscription is bound to. */
export const authFor = (organization: string, subscription: string): string =>
  `${organization}/push_subscription/${subscription}/auth`

export interface NewSubscription {
  readonly login: string
  readonly endpoint: string
  readonly p256dh: string
  readonly auth: string
}

/** `seal`: millrace.seal. */
export async function subscriptionAdd(
  tx: Queryable,
  organization: string,
  { login, endpoint, p256dh, auth }: NewSubscription,
  seal: (value: unknown, options: { for: string }) => string,
): Promise<string> {
  const [row] = await query<{ id: string }>(
    tx,
    `insert into dartwing.push_subscription (organization, person_login, endpoint, p256dh, sealed_auth)
     values ($1, $2, $3, $4, '')
     returning id::text`,
    [organization, login, endpoint, p256dh],
  )
  const { id } = row as { id: string }
  await tx.query('update dartwing.push_subscription set sealed_auth = $2 where id = $1', [
    id,
    seal(auth, { for: authFor(organization, id) }),
  ])
  return id
}
