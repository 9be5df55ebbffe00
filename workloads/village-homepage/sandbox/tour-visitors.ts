// Visitors of the tour: one writes to two sellers, one agrees to be counted and opens stories.
import { agree } from '../src/clicks/visitor.ts'
import { storeInquiry } from '../src/market/inquiry.ts'
import type { VillageParts } from '../src/village-parts.ts'
import { NEIGHBOURS } from './neighbour.ts'

const BUYER = { name: 'Ida', email: 'ida@visitors.example' }

/** The second one's mailbox is full: the message comes back. */
const TO_WRITE_TO = `
select listing.id, listing.title
from village.listings as listing
join village.contacts as seller on seller.id = listing.seller_id
where listing.status = 'active'
  and seller.email = any($1)
  and listing.expires_at > now() + interval '7 days'
order by listing.price_cents desc`

/** In the hour before this one: hours that are not over are not counted yet. */
const CLICK = `
insert into village.link_clicks (target_kind, target_id, visitor_id, clicked_at, consented)
select 'item', id, $1, date_trunc('hour', now()) - interval '20 minutes', true
from (select id from village.feed_items order by published_at desc limit 5) as story`

export async function writeToSellers(parts: VillageParts, { createdBy }: { createdBy: string }): Promise<void> {
  const sellers = [`greta@${NEIGHBOURS}`, `walter@${NEIGHBOURS}`]
  const { rows } = await parts.database.query(TO_WRITE_TO, [sellers])
  for (const { id, title } of rows as { id: string; title: string }[])
    await storeInquiry(parts, {
      ...{ listingId: id, title, buyer: BUYER, createdBy },
      text: `Hello! Is it still there? You can also write to ${BUYER.email}.`,
    })
}

export async function agreeAndClick({ database }: VillageParts): Promise<void> {
  const visitor = await agree(database)
  if (visitor.says === 'yes') await database.query(CLICK, [visitor.id])
}
