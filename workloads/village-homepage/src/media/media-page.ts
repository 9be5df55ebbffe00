// /village/media/{id}: a picture of a listing or of a site, from our own tables. Its address never changes what it shows.
import type { VillageParts } from '../village-parts.ts'
import { servedMedia } from './media-store.ts'

const PATH = /^\/media\/([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/i

/** `path`: below /village. Undefined: the village has no such picture. */
export async function mediaPage(
  { database }: VillageParts,
  path: string,
  request: Request,
): Promise<Response | undefined> {
  const [, id] = PATH.exec(path) ?? []
  const media = id === undefined ? undefined : await servedMedia(database, id)
  if (media === undefined) return undefined
  const etag = `"${media.sha256.slice(0, 22)}"`
  const headers = {
    etag,
    'cache-control': 'public, max-age=31536000, immutable',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
  }
  if (request.headers.get('if-none-match') === etag) return new Response(null, { status: 304, headers })
  return new Response(new Uint8Array(media.bytes), { headers: { 'content-type': media.contentType, ...headers } })
}
