// CDN_UPLOAD and CDN_REMOVE: one picture to the CDN, and away from it. Both may run twice: an object is put again, or is gone already.
import { cancel, type JobContext, type Outcome } from 'millrace'
import { mediaForCdn, placeOnCdn } from '../media/media-store.ts'
import type { VillageParts } from '../village-parts.ts'
import { type CdnObject, objectOf } from './object.ts'

const BUDGET = { headersMs: 20_000, totalMs: 40_000, maxBytes: 100_000, maxRedirects: 0 }
const YEAR = 'public, max-age=31536000, immutable'

export class Cdn {
  readonly #parts: VillageParts

  constructor(parts: VillageParts) {
    this.#parts = parts
  }

  async upload(
    { media_id: id }: { readonly media_id: string },
    ctx: JobContext,
  ): Promise<{ media_id: string; key: string; url: string } | Outcome> {
    const media = await mediaForCdn(this.#parts.database, id)
    if (media === undefined) return cancel(`There is no picture ${id}: a newer one took its place.`)
    const { key } = objectOf({ id, contentType: media.contentType })
    const body = new Uint8Array(media.bytes)
    const headers = { 'content-type': media.contentType, 'cache-control': YEAR }
    await ctx.breaker('cdn', () => this.#ask('PUT', key, { body, headers, signal: ctx.signal }))
    const url = `${this.#parts.outside.addresses.cdn.publicUrl}/${key}`
    return ctx.transaction(async (tx) => {
      await placeOnCdn(tx, id, url)
      return { media_id: id, key, url }
    })
  }

  async remove({ media_id: id, key }: CdnObject, ctx: JobContext): Promise<void> {
    // From now on the village serves it itself.
    await placeOnCdn(this.#parts.database, id, null)
    await ctx.breaker('cdn', () => this.#ask('DELETE', key, { signal: ctx.signal }))
  }

  async #ask(
    method: 'PUT' | 'DELETE',
    key: string,
    {
      headers = {},
      ...init
    }: { body?: Uint8Array<ArrayBuffer>; headers?: Record<string, string>; signal: AbortSignal },
  ): Promise<void> {
    const { outside } = this.#parts
    const { putUrl, token } = outside.addresses.cdn
    if (putUrl === '') throw new Error('There is no CDN: set CDN_PUT_URL, or cancel this job.')
    const authorization: Record<string, string> = token === '' ? {} : { authorization: `Bearer ${token}` }
    const response = await outside.fetch(`${putUrl}/${key}`, {
      ...{ ...init, method, budget: BUDGET, redirect: 'error' },
      headers: { ...headers, ...authorization },
    })
    await response.body?.cancel()
    const isGone = method === 'DELETE' && (response.status === 404 || response.status === 410)
    if (!response.ok && !isGone) throw new Error(`The CDN answered ${response.status} to ${method} ${key}.`)
  }
}
