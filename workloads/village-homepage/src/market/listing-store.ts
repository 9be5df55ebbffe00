// SQL about what neighbours sell: what the page shows, and what expires.
import type { Queryable } from 'millrace'

const AT_ONCE = 500

const SHOWN = `
select listing.id, listing.title, listing.body, listing.price_cents as "priceCents", listing.expires_at as "expiresAt",
  listing.created_at as "createdAt", seller.name as seller
from village.listings as listing
join village.contacts as seller on seller.id = listing.seller_id
where listing.status = 'active'
  and listing.expires_at > $1
  and ($2::uuid is null or listing.id = $2)
order by listing.created_at desc, listing.id
limit $3`

/** The insert wins once: whoever loses it has nothing to send. A listing with a day left gets no reminder of seven. */
const REMIND = `
with due as (
  select id, case when expires_at <= $1::timestamptz + interval '1 day' then 'reminder_1d' else 'reminder_7d' end as kind
  from village.listings as listing
  where status = 'active'
    and expires_at > $1
    and expires_at <= $1::timestamptz + interval '7 days'
    and not exists (
      select from village.listing_notices as notice
      where notice.listing_id = listing.id
        and (notice.kind = 'reminder_1d'
          or (notice.kind = 'reminder_7d' and listing.expires_at > $1::timestamptz + interval '1 day'))
    )
  order by expires_at, id
  limit ${AT_ONCE}
),
noticed as (
  insert into village.listing_notices (listing_id, kind)
  select id, kind
  from due
  on conflict do nothing
  returning listing_id, kind
)
select noticed.kind, listing.id, listing.title, listing.expires_at as "expiresAt", listing.seller_id as "sellerId"
from noticed
join village.listings as listing on listing.id = noticed.listing_id`

/** Two runs at once take different listings. */
const EXPIRE = `
with due as (
  select id
  from village.listings
  where status = 'active'
    and expires_at <= $1
  order by expires_at, id
  limit ${AT_ONCE}
  for update skip locked
),
expired as (
  update village.listings as listing
  set status = 'expired'
  from due
  where listing.id = due.id
  returning listing.id, listing.title, listing.expires_at, listing.seller_id
),
noticed as (
  insert into village.listing_notices (listing_id, kind)
  select id, 'expired'
  from expired
  on conflict do nothing
  returning listing_id
)
select 'expired' as kind, id, title, expires_at as "expiresAt", seller_id as "sellerId"
from expired
join noticed on noticed.listing_id = expired.id`

export interface Listing {
  readonly id: string
  readonly title: string
  readonly body: string
  readonly priceCents: number
  readonly expiresAt: Date
  readonly createdAt: Date
  /** Their name. */
  readonly seller: string
}

/** Newest first. */
export async function activeListings(db: Queryable, now: Date, most: number): Promise<Listing[]> {
  return (await db.query(SHOWN, [now, null, most])).rows as Listing[]
}

/** Undefined: it is not for sale, or not any more. */
export async function activeListing(db: Queryable, id: string, now: Date): Promise<Listing | undefined> {
  return ((await db.query(SHOWN, [now, id, 1])).rows as Listing[])[0]
}

export interface DueListing {
  readonly kind: 'reminder_7d' | 'reminder_1d' | 'expired'
  readonly id: string
  readonly title: string
  readonly expiresAt: Date
  readonly sellerId: string
}

/** The next few hundred; none, when all have been reminded. */
export async function remindNext(tx: Queryable, asOf: Date): Promise<DueListing[]> {
  return (await tx.query(REMIND, [asOf])).rows as DueListing[]
}

export async function expireNext(tx: Queryable, asOf: Date): Promise<DueListing[]> {
  return (await tx.query(EXPIRE, [asOf])).rows as DueListing[]
}
