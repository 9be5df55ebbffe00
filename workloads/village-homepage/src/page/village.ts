// The page /village: server-rendered, the same without script, and refreshed block by block with it.
import type { Page, PageContext } from '@millrace/admin'
import { consentForm } from '../clicks/consent-form.ts'
import { leave, targetOf } from '../clicks/leave.ts'
import { visitorOf } from '../clicks/visitor.ts'
import { activeListing } from '../market/listing-store.ts'
import { writeForm } from '../market/write-form.ts'
import { mediaPage } from '../media/media-page.ts'
import { picturesOf } from '../media/picture-store.ts'
import { uploadForm } from '../media/upload-form.ts'
import { submitSiteForm } from '../sites/submit-form.ts'
import { CATEGORIES } from '../tagging/tags.ts'
import type { VillageParts } from '../village-parts.ts'
import { answer } from './answer.ts'
import { assetOf } from './assets.ts'
import { Blocks, isBlock } from './blocks.ts'
import { PageForms } from './forms.ts'
import { document, message, placeOf } from './layout.ts'
import { listingDocument } from './listing-document.ts'
import { listedSite } from './page-store.ts'
import { siteDocument } from './site-document.ts'
import { toldNotice } from './told.ts'
import type { View } from './view.ts'

const PATH = '/village'
const SITE = /^\/sites\/([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/i
const LISTING = /^\/listings\/([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/i
const SHOWN = ['alerts', 'sky', 'today', 'quotes', 'forecast', 'marketplace', 'sites', 'posts', 'budget']

export function villagePage(parts: VillageParts): Page {
  const blocks = new Blocks()
  const forms = new PageForms(
    [consentForm(parts), writeForm(parts), submitSiteForm(parts), uploadForm(parts)],
    parts.clock,
  )
  return {
    path: PATH,
    title: 'Village',
    async handle(request, context) {
      const { basePath } = context
      const url = new URL(request.url)
      const rest = url.pathname.slice(PATH.length).replace(/\/$/, '')
      const form = forms.answer(rest, request, context)
      if (form !== undefined) return form
      if (request.method !== 'GET' && request.method !== 'HEAD')
        return answer(message(basePath, 'Not possible', 'This page can be read, and nothing else.'), {
          status: 405,
          headers: { allow: 'GET, HEAD' },
        })
      const asset = assetOf(rest.slice(1), request)
      if (asset !== undefined) return asset
      const picture = await mediaPage(parts, rest, request)
      if (picture !== undefined) return picture
      const view = viewOf(parts, context, url)
      if (rest === '') return whole(blocks, view, request)
      const [, listing] = LISTING.exec(rest) ?? []
      if (listing !== undefined) return oneListing(parts, { id: listing, url, basePath })
      const [, site] = SITE.exec(rest) ?? []
      if (site !== undefined) return oneSite(parts, { id: site, basePath })
      const target = targetOf(rest)
      const away = target === undefined ? undefined : await leave(parts, target, request)
      if (away !== undefined) return away
      const name = rest.startsWith('/blocks/') ? rest.slice('/blocks/'.length) : ''
      if (isBlock(name)) return one(await blocks.rendered(name, view), request)
      return answer(message(basePath, 'Not here', 'There is no such page in the village.'), { status: 404 })
    },
  }
}

async function oneListing(
  parts: VillageParts,
  { id, url, basePath }: { id: string; url: URL; basePath: string },
): Promise<Response> {
  const listing = await activeListing(parts.database, id, parts.clock.now())
  if (listing === undefined) return answer(listingDocument(basePath, undefined), { status: 404 })
  const pictures = (await picturesOf(parts.database, 'listing', [id])).get(id) ?? []
  const told = url.searchParams.get('told') ?? ''
  return answer(listingDocument(basePath, { parts, listing, told, pictures }), { pictures: cdnOrigin(parts) })
}

async function oneSite(parts: VillageParts, { id, basePath }: { id: string; basePath: string }): Promise<Response> {
  const site = await listedSite(parts.database, id)
  if (site === undefined) return answer(siteDocument(basePath, undefined), { status: 404 })
  const pictures = (await picturesOf(parts.database, 'site', [id])).get(id) ?? []
  return answer(siteDocument(basePath, { parts, site, pictures }), { pictures: cdnOrigin(parts) })
}

function viewOf(parts: VillageParts, { millrace, basePath }: PageContext, url: URL): View {
  const asked = url.searchParams.get('category')
  const { clock, site } = parts
  return {
    ...{ parts, millrace, basePath, now: clock.now(), showsJobs: site.showsJobs },
    category: CATEGORIES.find((each) => each === asked),
    onError: (error, block) => site.logger?.error({ err: error, block }, 'a block of the village page failed'),
  }
}

async function whole(blocks: Blocks, view: View, request: Request): Promise<Response> {
  const rendered = await Promise.all(SHOWN.map(async (name) => [name, await blocks.rendered(name, view)] as const))
  const visitor = visitorOf(request)
  const told = toldNotice(new URL(request.url))
  return answer(document(view, { place: placeOf(view, new Map(rendered)), visitor, told }), {
    headers: { 'cache-control': 'private, no-cache' },
    pictures: cdnOrigin(view.parts),
  })
}

function cdnOrigin({ outside }: VillageParts): string {
  const { publicUrl } = outside.addresses.cdn
  return publicUrl === '' ? '' : new URL(publicUrl).origin
}

function one({ html, etag }: { html: string; etag: string }, request: Request): Response {
  const headers = { etag, 'cache-control': 'no-cache' }
  if (request.headers.get('if-none-match') === etag) return new Response(null, { status: 304, headers })
  return new Response(html, { headers: { 'content-type': 'text/html; charset=utf-8', ...headers } })
}
