// What the neighbours of the sandbox sell. One listing has a week left, one a day, one has ended an hour ago.
import type { Queryable } from 'millrace'
import { FULL, NEIGHBOURS } from './neighbour.ts'

const LISTINGS = [
  {
    seller: 'Greta',
    title: 'Rowing boat, two oars',
    body: 'Dry, painted in spring. Lies at the mill.',
    price: 42_000,
    days: 30,
  },
  { seller: 'Anton', title: 'Apples, a whole crate', body: 'From the tree behind the school.', price: 0, days: 20 },
  {
    seller: 'Walter',
    title: 'Piano, a little out of tune',
    body: 'You carry it, you have it.',
    price: 9_000,
    days: 25,
  },
  { seller: 'Greta', title: 'Child’s bicycle, 20 inch', body: 'Red, with a bell.', price: 5_500, days: 6.5 },
  { seller: 'Anton', title: 'Firewood, two cubic metres', body: 'Beech, dry for two years.', price: 12_000, days: 0.6 },
  { seller: 'Anton', title: 'Concert ticket for tonight', body: 'Row four.', price: 1_500, days: -1 / 24 },
] as const

const EMAILS = { Greta: `greta@${NEIGHBOURS}`, Anton: `anton@${NEIGHBOURS}`, Walter: FULL } as const

/** Those that are there keep their time; a listing that was to stay for weeks comes back after it has ended. */
const SEED = `
with given as (
  select *
  from jsonb_to_recordset($1::jsonb) as given (seller text, email text, title text, body text, price integer, days float8)
),
sellers as (
  insert into village.contacts (email, name)
  select distinct email, seller
  from given
  on conflict (email) do update set email = excluded.email
  returning id, email
),
renewed as (
  update village.listings as listing
  set status = 'active', expires_at = now() + given.days * interval '1 day'
  from given
  join sellers using (email)
  where listing.seller_id = sellers.id
    and listing.title = given.title
    and listing.status = 'expired'
    and given.days > 7
  returning listing.id
),
forgotten as (
  delete from village.listing_notices
  where listing_id in (select id from renewed)
)
insert into village.listings (title, body, price_cents, seller_id, expires_at)
select given.title, given.body, given.price, sellers.id, now() + given.days * interval '1 day'
from given
join sellers using (email)
where not exists (
  select from village.listings as listing
  where listing.seller_id = sellers.id
    and listing.title = given.title
)`

export async function seedMarket(db: Queryable): Promise<void> {
  await db.query(SEED, [JSON.stringify(LISTINGS.map((listing) => ({ ...listing, email: EMAILS[listing.seller] })))])
}
