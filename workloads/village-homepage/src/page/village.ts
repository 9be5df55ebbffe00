// The page /village: server-rendered, the same without script, and refreshed block by block with it.
import type { Page, PageContext } from '@millrace/admin'
import { CATEGORIES } from '../tagging/tags.ts'
import type { VillageParts } from '../village-parts.ts'
import { answer } from './answer.ts'
import { assetOf } from './assets.ts'
import { Blocks, isBlock } from './blocks.ts'
import { document, message, placeOf } from './layout.ts'
import type { View } from './view.ts'

const PATH = '/village'
const SHOWN = ['alerts', 'sky', 'today', 'quotes', 'forecast', 'marketplace', 'sites', 'posts', 'budget']

export function villagePage(parts: VillageParts): Page {
  const blocks = new Blocks()
  return {
    path: PATH,
    title: 'Village',
    async handle(request, context) {
      const { basePath } = context
      if (request.method !== 'GET' && request.method !== 'HEAD')
        return answer(message(basePath, 'Not possible', 'This page can be read, and nothing else.'), {
          status: 405,
          headers: { allow: 'GET, HEAD' },
        })
      const url = new URL(request.url)
      const rest = url.pathname.slice(PATH.length).replace(/\/$/, '')
      const asset = assetOf(rest.slice(1), request)
      if (asset !== undefined) return asset
      const view = viewOf(parts, context, url)
      if (rest === '') return whole(blocks, view)
      const name = rest.startsWith('/blocks/') ? rest.slice('/blocks/'.length) : ''
      if (isBlock(name)) return one(await blocks.rendered(name, view), request)
      return answer(message(basePath, 'Not here', 'There is no such page in the village.'), { status: 404 })
    },
  }
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

async function whole(blocks: Blocks, view: View): Promise<Response> {
  const rendered = await Promise.all(SHOWN.map(async (name) => [name, await blocks.rendered(name, view)] as const))
  return answer(document(view, placeOf(view, new Map(rendered))))
}

function one({ html, etag }: { html: string; etag: string }, request: Request): Response {
  const headers = { etag, 'cache-control': 'no-cache' }
  if (request.headers.get('if-none-match') === etag) return new Response(null, { status: 304, headers })
  return new Response(html, { headers: { 'content-type': 'text/html; charset=utf-8', ...headers } })
}
