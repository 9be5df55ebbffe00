// A picture of a listing or of a site, as small as its place allows, or what stands there until it comes.
import { html } from 'hono/html'
import type { OriginalRole } from '../media/media-store.ts'
import type { Picture } from '../media/picture-store.ts'
import type { Html, View } from './view.ts'

export interface Shown {
  readonly of: OriginalRole
  readonly alt: string
  /** Instead of a picture, while there is none. */
  readonly waiting: string
  /** How wide it stands on the page, in CSS pixels. Default: as in a card. */
  readonly wide?: number
}

const CARD = 116

export function picture(
  view: Pick<View, 'parts' | 'basePath'>,
  pictures: readonly Picture[],
  { of, alt, waiting, wide = CARD }: Shown,
): Html {
  const cards = pictures.filter((each) => each.of === of && each.role !== 'full')
  const small = cards.find(({ contentType, role }) => contentType === 'image/webp' && role === 'thumb')
  if (small === undefined) return html`<span class="picture waiting">${waiting}</span>`
  const set = (type: string) =>
    cards
      .filter(({ contentType }) => contentType === type)
      .map((each) => `${addressOf(view, each)} ${each.width}w`)
      .join(', ')
  return html`<picture class="picture"><source type="image/avif" srcset="${set('image/avif')}" sizes="${wide}px">
<img src="${addressOf(view, small)}" srcset="${set('image/webp')}" sizes="${wide}px" width="160" height="120" alt="${alt}" loading="lazy" decoding="async"></picture>`
}

/** Undefined: it is not there yet. */
export function fullAddress(
  view: Pick<View, 'parts' | 'basePath'>,
  pictures: readonly Picture[],
  of: OriginalRole,
): string | undefined {
  const full = pictures.find((each) => each.of === of && each.role === 'full' && each.contentType === 'image/webp')
  return full === undefined ? undefined : addressOf(view, full)
}

/** From the CDN if it is the one that is configured now, else from the village itself. */
function addressOf({ parts, basePath }: Pick<View, 'parts' | 'basePath'>, { id, cdnUrl }: Picture): string {
  const { publicUrl } = parts.outside.addresses.cdn
  return publicUrl !== '' && cdnUrl?.startsWith(`${publicUrl}/`) ? cdnUrl : `${basePath}/village/media/${id}`
}
