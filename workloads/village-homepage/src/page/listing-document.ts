// The page of one listing: what is for sale, and the form to its seller.
import { html } from 'hono/html'
import type { Listing } from '../market/listing-store.ts'
import type { Picture } from '../media/picture-store.ts'
import type { VillageParts } from '../village-parts.ts'
import { addPictureForm } from './add-picture.ts'
import { message } from './layout.ts'
import { daysLeft, priceOf } from './listing-words.ts'
import { picture } from './picture.ts'
import type { Html } from './view.ts'
import { type Filled, writeToSeller } from './write-to-seller.ts'

export interface ShownListing extends Filled {
  readonly parts: VillageParts
  readonly listing: Listing
  /** Which form has been sent. */
  readonly told?: string
  readonly pictures: readonly Picture[]
}

/** Undefined: there is none, or it has ended. */
export function listingDocument(basePath: string, shown: ShownListing | undefined): Html {
  if (shown === undefined) return message(basePath, 'Not for sale', 'There is no such listing, or it has ended.')
  const { listing, parts, told, pictures, ...filled } = shown
  const { title, body, seller, priceCents, expiresAt } = listing
  return html`<!doctype html>
<html lang="en"><head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Village</title>
<meta name="color-scheme" content="light dark">
<link rel="stylesheet" href="${basePath}/village/style.css"><link rel="stylesheet" href="${basePath}/village/market.css">
<link rel="stylesheet" href="${basePath}/village/pictures.css"><link rel="icon" href="data:,">
</head><body>
<a class="skip" href="#main">Skip to the listing</a>
<header class="top"><div><h1>${title}</h1>
<p class="date">${priceOf(priceCents)} · ${seller} · ${daysLeft(expiresAt, parts.clock.now())}</p></div>
<p><a href="${basePath}/village#marketplace">To the village</a></p></header>
<main id="main" class="listing" tabindex="-1">
${picture({ parts, basePath }, pictures, { of: 'upload', alt: `Picture of ${title}`, waiting: '', wide: 480 })}
${body === '' ? '' : html`<section class="block"><p class="body">${body}</p></section>`}
<section class="block" aria-labelledby="write"><h2 id="write">Write to the seller</h2>
${told === 'sent' ? html`<p class="told" role="status">Your message is on its way. The answer comes to your mailbox.</p>` : ''}
${writeToSeller(basePath, listing, filled)}</section>
<section class="block" aria-labelledby="add"><h2 id="add">${pictures.length === 0 ? 'Add a picture' : 'Change the picture'}</h2>
${told === 'picture' ? html`<p class="told" role="status">Thank you. The picture appears as soon as it has been made smaller.</p>` : ''}
${addPictureForm(basePath, listing, parts.config.media.maxBytes)}</section></main>
</body></html>`
}
