// What neighbours sell, newest first, with a form to each seller.
import { html } from 'hono/html'
import { activeListings, type Listing } from '../../market/listing-store.ts'
import { type Picture, picturesOf } from '../../media/picture-store.ts'
import { listingPath } from '../addresses.ts'
import { jobNote } from '../job-note.ts'
import { daysLeft, priceOf } from '../listing-words.ts'
import { picture } from '../picture.ts'
import type { Block, Html, View } from '../view.ts'
import { writeToSeller } from '../write-to-seller.ts'

const MOST = 9

export const marketplace: Block = {
  name: 'marketplace',
  async render(view) {
    const listings = await activeListings(view.parts.database, view.now, MOST)
    const pictures = await picturesOf(
      view.parts.database,
      'listing',
      listings.map(({ id }) => id),
    )
    const looked = { type: 'LISTING_EXPIRATION', at: 'unknown', schedules: ['listing-expiration'] } as const
    return html`<h2 id="marketplace">Marketplace</h2>
${listings.length === 0 ? empty : html`<ul class="listings">${listings.map((listing) => card(listing, pictures.get(listing.id) ?? [], view))}</ul>`}
${view.showsJobs ? jobNote(view, looked) : ''}`
  },
}

const empty = html`<p class="empty">Nothing is for sale yet. What neighbours offer appears here, and you write to them without telling your address.</p>`

const card = (listing: Listing, pictures: readonly Picture[], view: View): Html => {
  const { basePath, now } = view
  const { id, title, priceCents, seller, expiresAt } = listing
  const shown = { of: 'upload', alt: `Picture of ${title}`, waiting: 'No picture yet' } as const
  return html`<li><article class="pictured">${picture(view, pictures, shown)}
<div><h3><a href="${basePath}${listingPath(id)}">${title}</a></h3>
<p class="meta"><strong class="price">${priceOf(priceCents)}</strong> <span>${seller}</span> ${daysLeft(expiresAt, now)}</p>
<details><summary>Write to the seller<span class="hidden"> of ${title}</span></summary>
${writeToSeller(basePath, listing)}</details></div>
</article></li>`
}
