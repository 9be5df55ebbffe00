// The form with which a seller adds a picture, on the page of a listing.
import { html } from 'hono/html'
import type { Listing } from '../market/listing-store.ts'
import { listingPath } from './addresses.ts'
import type { Html } from './view.ts'

export const addPictureForm = (
  basePath: string,
  { id, title }: Pick<Listing, 'id' | 'title'>,
  maxBytes: number,
): Html => html`<form class="write" method="post" enctype="multipart/form-data" action="${basePath}${listingPath(id)}/picture" aria-label="Add a picture of ${title}">
<p><label for="picture">Picture: JPEG, PNG, WebP, AVIF or GIF, at most ${Math.floor(maxBytes / 1_048_576)} MB</label>
<input id="picture" name="picture" type="file" accept="image/jpeg,image/png,image/webp,image/avif,image/gif" required></p>
<p><label for="picture-email">Your e-mail address, as you gave it with the listing</label>
<input id="picture-email" name="email" type="email" autocomplete="email" maxlength="254" required></p>
<p class="meta">Where and with what a photograph was taken is removed from it.</p>
<button>Add the picture</button></form>`
