// SQL about messages that are relayed.
import type { Queryable } from 'millrace'

const FIND = `
select
  message.id, message.subject, message.body, message.attachments, message.status, message.direction,
  coalesce(recipient.email, case message.direction when 'to_seller' then seller.email else buyer.email end) as recipient,
  buyer.email as "buyerEmail", buyer.name as "buyerName", conversation.buyer_token as "buyerToken",
  seller.email as "sellerEmail", seller.name as "sellerName", conversation.seller_token as "sellerToken"
from village.messages as message
left join village.contacts as recipient on recipient.id = message.recipient_id
left join village.conversations as conversation on conversation.id = message.conversation_id
left join village.contacts as buyer on buyer.id = conversation.buyer_id
left join village.contacts as seller on seller.id = conversation.seller_id
where message.id = $1`

const SENT = `
update village.messages
set status = 'sent', sent_at = now()
where id = $1
  and status = 'waiting'`

const UNDELIVERABLE = `
update village.messages
set status = 'undeliverable', problem = $2
where id = $1
  and status = 'waiting'`

interface StoredMessage {
  readonly id: string
  readonly subject: string
  readonly body: string
  /** Names of files that are not passed on. */
  readonly attachments: readonly string[]
  readonly status: 'waiting' | 'sent' | 'undeliverable'
  /** Their real address. */
  readonly recipient: string
}

interface Parties {
  readonly buyerEmail: string
  readonly buyerName: string
  readonly buyerToken: string
  readonly sellerEmail: string
  readonly sellerName: string
  readonly sellerToken: string
}

/** A notice comes from the village itself and belongs to no conversation. */
export type Message = StoredMessage &
  (({ readonly direction: 'to_seller' | 'to_buyer' } & Parties) | { readonly direction: 'notice' })

export async function messageOf(db: Queryable, id: string): Promise<Message | undefined> {
  return (await db.query(FIND, [id])).rows[0] as Message | undefined
}

export async function markSent(tx: Queryable, id: string): Promise<void> {
  await tx.query(SENT, [id])
}

export async function markUndeliverable(tx: Queryable, id: string, problem: string): Promise<void> {
  await tx.query(UNDELIVERABLE, [id, problem])
}
