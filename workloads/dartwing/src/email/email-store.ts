// Mails, in the context of their organization.
import type { JobContext, Queryable } from 'millrace'
import { ownRow } from '../organization/org-context.ts'
import { query } from '../query.ts'

export interface Email {
  readonly to: string
  readonly subject: string
  readonly body: string
  readonly suppressedBecause: string | null
}

export async function emailGet(tx: Queryable, ctx: JobContext, email: string): Promise<Email> {
  const { rows } = await tx.query(
    `select to_address as "to", subject, body, suppression.reason as "suppressedBecause"
     from dartwing.email
     left join dartwing.email_suppression as suppression on suppression.address = email.to_address
     where email.id = $1`,
    [email],
  )
  return ownRow(rows, ctx, `e-mail ${email}`)
}

export async function emailEnd(tx: Queryable, email: string, status: 'sent' | 'refused' | 'suppressed'): Promise<void> {
  await tx.query(
    `update dartwing.email
     set status = $2, sent_at = case when $2 = 'sent' then now() end
     where id = $1`,
    [email, status],
  )
}

/** A line break in an address or a subject would begin a header: refused before anything is written. */
export async function emailInsert(
  tx: Queryable,
  organization: string,
  { to, subject, body }: { to: string; subject: string; body: string },
): Promise<string> {
  if (/[\r\n]/.test(to + subject))
    throw new TypeError(
      'An e-mail has a line break in its address or subject, which would begin a header. Take it out.',
    )
  const [row] = await query<{ id: string }>(
    tx,
    'insert into dartwing.email (organization, to_address, subject, body) values ($1, $2, $3, $4) returning id::text',
    [organization, to, subject, body],
  )
  return (row as { id: string }).id
}
