// SQL about mails that have come for the village.
import type { Queryable } from 'millrace'
import type { IncomingMail } from './incoming-mail.ts'
import type { Conversation } from './route-mail.ts'

/** A mailbox of the server, as it counts its mails now. */
export interface MailboxState {
  readonly mailbox: string
  readonly uidValidity: bigint
}

const LAST_UID = `
select coalesce(max(uid), 0)::float8 as last
from village.inbound_mail
where mailbox = $1
  and uidvalidity = $2`

const NOT_MOVED = `
select uid::float8 as uid, outcome
from village.inbound_mail
where mailbox = $1
  and uidvalidity = $2
  and moved_at is null
order by uid`

const MOVED = `
update village.inbound_mail
set moved_at = now()
where mailbox = $1
  and uidvalidity = $2
  and uid = any($3::bigint[])`

const CONVERSATION = `
select
  conversation.id,
  case when conversation.seller_token = $1 then 'to_seller' else 'to_buyer' end as direction,
  case when conversation.seller_token = $1 then buyer.email else seller.email end as writer,
  listing.title as listing,
  (select count(*)::integer
    from village.messages as message
    where message.conversation_id = conversation.id
      and message.created_at > $2::timestamptz - interval '1 hour') as messages
from village.conversations as conversation
join village.listings as listing on listing.id = conversation.listing_id
join village.contacts as buyer on buyer.id = conversation.buyer_id
join village.contacts as seller on seller.id = conversation.seller_id
where $1 in (conversation.buyer_token, conversation.seller_token)`

/** No row: another run has taken this mail. */
const KEEP = `
insert into village.inbound_mail (mailbox, uidvalidity, uid, header_id, outcome, reason)
values ($1, $2, $3, $4, $5, $6)
on conflict (mailbox, uidvalidity, uid) do nothing
returning uid`

const IS_DUPLICATE = `
update village.inbound_mail
set outcome = 'duplicate', reason = 'It was relayed before, under another number.'
where mailbox = $1
  and uidvalidity = $2
  and uid = $3`

/** No row: this mail is a message already. */
const ADD_MESSAGE = `
insert into village.messages (conversation_id, direction, kind, subject, body, attachments, header_id)
values ($1, $2, 'reply', $3, $4, $5, $6)
on conflict (header_id) do nothing
returning id`

/** Only of the conversation whose address the bounce was sent to; of none, if that was the village's own. */
const BOUNCED = `
update village.messages as message
set status = 'undeliverable', problem = $3
from (
  select message.id, contact.id as writer_id, listing.title as listing
  from village.messages as message
  left join village.conversations as conversation on conversation.id = message.conversation_id
  left join village.listings as listing on listing.id = conversation.listing_id
  left join village.contacts as contact
    on contact.id = case message.direction when 'to_seller' then conversation.buyer_id else conversation.seller_id end
  where message.id = any($1::uuid[])
    and message.conversation_id is not distinct from $2
    and message.status = 'sent'
) as found
where message.id = found.id
returning message.id, found.writer_id as "writerId", found.listing`

export async function lastUid(db: Queryable, { mailbox, uidValidity }: MailboxState): Promise<number> {
  const { rows } = await db.query(LAST_UID, [mailbox, uidValidity])
  return (rows as { last: number }[])[0]?.last ?? 0
}

export type Outcome = 'relayed' | 'duplicate' | 'quarantined' | 'bounced'

export async function notMoved(
  db: Queryable,
  { mailbox, uidValidity }: MailboxState,
): Promise<{ uid: number; outcome: Outcome }[]> {
  return (await db.query(NOT_MOVED, [mailbox, uidValidity])).rows as { uid: number; outcome: Outcome }[]
}

export async function markMoved(
  db: Queryable,
  { mailbox, uidValidity }: MailboxState,
  uids: readonly number[],
): Promise<void> {
  await db.query(MOVED, [mailbox, uidValidity, uids])
}

export async function conversationOf(db: Queryable, token: string, now: Date): Promise<Conversation | undefined> {
  return ((await db.query(CONVERSATION, [token, now])).rows as Conversation[])[0]
}

export interface KeptMail {
  readonly uid: number
  readonly headerId: string
  readonly outcome: Outcome
  readonly reason: string | undefined
}

/** False: another run has taken this mail. */
export async function keepMail(
  tx: Queryable,
  { mailbox, uidValidity }: MailboxState,
  mail: KeptMail,
): Promise<boolean> {
  const { uid, headerId, outcome, reason = null } = mail
  const { rows } = await tx.query(KEEP, [mailbox, uidValidity, uid, headerId, outcome, reason])
  return rows.length > 0
}

export async function markDuplicate(tx: Queryable, { mailbox, uidValidity }: MailboxState, uid: number): Promise<void> {
  await tx.query(IS_DUPLICATE, [mailbox, uidValidity, uid])
}

/** The id of the message; undefined: this mail is a message already. */
export async function addReply(
  tx: Queryable,
  { id, direction }: Conversation,
  { subject, mail, token }: { subject: string; mail: IncomingMail; token: string },
): Promise<string | undefined> {
  // A mail to two conversations is a message of each.
  const headerId = `${mail.headerId} ${token}`
  const { rows } = await tx.query(ADD_MESSAGE, [id, direction, subject, mail.text, mail.attachments, headerId])
  return (rows as { id: string }[])[0]?.id
}

export interface BouncedMessage {
  readonly id: string
  /** Null: a notice of the village. */
  readonly writerId: string | null
  readonly listing: string | null
}

export async function markBounced(
  tx: Queryable,
  ids: readonly string[],
  { conversationId, problem }: { conversationId: string | undefined; problem: string },
): Promise<BouncedMessage[]> {
  return (await tx.query(BOUNCED, [ids, conversationId ?? null, problem])).rows as unknown as BouncedMessage[]
}
