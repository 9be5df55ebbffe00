// The form with which a seller adds a picture to a listing. The picture and its job are stored together, or neither is.
import { randomUUID } from 'node:crypto'
import type { Queryable } from 'millrace'
import { answer } from '../page/answer.ts'
import { backTo, type PageForm, type Sent, textOf } from '../page/forms.ts'
import { message } from '../page/layout.ts'
import type { VillageParts } from '../village-parts.ts'
import { keepOriginal } from './media-store.ts'
import { pictureTypeOf } from './picture-format.ts'

/** Around the file, of the form's other fields. */
const ROOM_BYTES = 64 * 1024

/** Names and addresses are not told to visitors, so the address says that it is the seller who sends the picture. */
const SELLERS = `
select listing.id
from village.listings as listing
join village.contacts as seller on seller.id = listing.seller_id
where listing.id = $1
  and listing.status = 'active'
  and seller.email = lower($2)`

export const uploadForm = (parts: VillageParts): PageForm => ({
  path: /^\/listings\/([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})\/picture$/i,
  mostBytes: parts.config.media.maxBytes + ROOM_BYTES,
  async send(sent: Sent) {
    const { form, match, context } = sent
    const listing = match[1] as string
    const refuse = (status: 403 | 413 | 422, text: string) =>
      answer(message(context.basePath, 'Not added', text), { status })
    const bytes = await pictureIn(form)
    if (typeof bytes === 'string') return refuse(422, bytes)
    if (bytes.length > parts.config.media.maxBytes) return refuse(413, tooLarge(parts))
    const { database } = parts
    const isSeller = (await database.query(SELLERS, [listing, textOf(form, 'email')])).rows.length > 0
    if (!isSeller)
      return refuse(
        403,
        'This is not the e-mail address of the seller, or the listing has ended. Go back and correct it.',
      )
    await database.transaction((tx) => addPicture(parts, { tx, millrace: context.millrace, listing, bytes }))
    return backTo(context, `/listings/${listing}?told=picture#add`)
  },
})

export interface NewPicture {
  readonly tx: Queryable
  readonly millrace: Sent['context']['millrace']
  readonly listing: string
  readonly bytes: Buffer
  /** Default: 'visitor'. */
  readonly createdBy?: string
}

/** Stores an original, and enqueues its job with it. */
export async function addPicture(
  { contracts }: VillageParts,
  { tx, millrace, listing, bytes, createdBy = 'visitor' }: NewPicture,
) {
  const contentType = pictureTypeOf(bytes) ?? 'application/octet-stream'
  const size = { width: null, height: null }
  const place = { id: randomUUID(), ownerKind: 'listing', ownerId: listing, role: 'upload' } as const
  const mediaId = await keepOriginal(tx, { ...place, ...size, contentType, bytes })
  return millrace.enqueue(contracts.IMAGE_PROCESSING, { media_id: mediaId, kind: 'listing' }, { tx, createdBy })
}

/** A text: what is wrong, and what to do. */
async function pictureIn(form: FormData): Promise<Buffer | string> {
  const file = form.get('picture')
  if (file === null || typeof file === 'string' || file.size === 0)
    return 'No picture was chosen. Go back and choose one.'
  const bytes = Buffer.from(await file.arrayBuffer())
  return pictureTypeOf(bytes) === undefined
    ? 'The file is no picture that the village takes: JPEG, PNG, WebP, AVIF or GIF. Go back and choose another.'
    : bytes
}

const tooLarge = ({ config }: VillageParts): string =>
  `The picture is larger than ${Math.floor(config.media.maxBytes / 1_048_576)} MB. Go back and choose a smaller one.`
