// A buyer writes to a seller: the message is stored together with the job that relays it.
import { MOST_IN_AN_HOUR } from '../mail/route-mail.ts'
import type { VillageParts } from '../village-parts.ts'
import { addInquiry, type Buyer, contactOf, conversationWith } from './conversation-store.ts'

export interface WrittenInquiry {
  readonly listingId: string
  readonly title: string
  readonly buyer: Buyer
  readonly text: string
  readonly createdBy: string
}

export function storeInquiry(
  { database, clock, client, contracts }: VillageParts,
  { listingId, title, buyer, text, createdBy }: WrittenInquiry,
): Promise<'stored' | 'own listing' | 'too many'> {
  return database.transaction(async (tx) => {
    const buyerId = await contactOf(tx, buyer)
    const conversationId = await conversationWith(tx, { listingId, buyerId })
    if (conversationId === undefined) return 'own listing'
    const body = text.replaceAll('\r\n', '\n').toWellFormed()
    const inquiry = { conversationId, subject: title, body, now: clock.now(), most: MOST_IN_AN_HOUR }
    const id = await addInquiry(tx, inquiry)
    if (id === undefined) return 'too many'
    const payload = { message_id: id, conversation_id: conversationId }
    await client.current.enqueue(contracts.MESSAGE_RELAY, payload, { tx, createdBy })
    return 'stored'
  })
}
