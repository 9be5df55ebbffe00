// SQL about buyers who write to sellers.
import { randomBytes } from 'node:crypto'
import type { Queryable } from 'millrace'

/** Whoever is known keeps their name: a stranger who gives their address must not rename them. */
const CONTACT = `
insert into village.contacts (email, name)
values ($1, $2)
on conflict (email) do update set email = excluded.email
returning id`

/** No row: the seller writes to themselves, or the listing is not shown. */
const CONVERSATION = `
insert into village.conversations (listing_id, buyer_id, seller_id, buyer_token, seller_token)
select listing.id, $2, listing.seller_id, $3, $4
from village.listings as listing
where listing.id = $1
  and listing.seller_id <> $2
on conflict (listing_id, buyer_id) do update set listing_id = excluded.listing_id
returning id`

const INQUIRY = `
insert into village.messages (conversation_id, direction, kind, subject, body)
select $1, 'to_seller', 'inquiry', $2, $3
where (select count(*) from village.messages where conversation_id = $1 and created_at > $4::timestamptz - interval '1 hour') < $5
returning id`

export interface Buyer {
  /** In small letters. */
  readonly email: string
  readonly name: string
}

export async function contactOf(tx: Queryable, { email, name }: Buyer): Promise<string> {
  return ((await tx.query(CONTACT, [email, name])).rows as { id: string }[])[0]?.id as string
}

/** The one there is, or a new one. Undefined: the buyer is the seller. Its row is locked, so that messages are counted in turn. */
export async function conversationWith(
  tx: Queryable,
  { listingId, buyerId }: { listingId: string; buyerId: string },
): Promise<string | undefined> {
  const { rows } = await tx.query(CONVERSATION, [listingId, buyerId, token(), token()])
  return (rows as { id: string }[])[0]?.id
}

export interface Inquiry {
  readonly conversationId: string
  readonly subject: string
  readonly body: string
  readonly now: Date
  /** So many messages an hour. */
  readonly most: number
}

/** Undefined: the conversation has had too many messages. */
export async function addInquiry(tx: Queryable, inquiry: Inquiry): Promise<string | undefined> {
  const { conversationId, subject, body, now, most } = inquiry
  const { rows } = await tx.query(INQUIRY, [conversationId, subject, body, now, most])
  return (rows as { id: string }[])[0]?.id
}

/** Not to be guessed: whoever has it can write to the party. */
const token = (): string => randomBytes(12).toString('hex')
