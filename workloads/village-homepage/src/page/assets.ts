// The style and the script of the page. They are small, and read once.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

interface Asset {
  readonly type: string
  readonly body: string
  readonly etag: string
}

// They lie beside the sources: the compiler copies TypeScript only.
const SOURCES = new URL('../../../src/page/', import.meta.url)

const ASSETS = new Map<string, Asset>([
  ['style.css', read('style.css', 'text/css; charset=utf-8')],
  ['feeds.css', read('feeds.css', 'text/css; charset=utf-8')],
  ['market.css', read('market.css', 'text/css; charset=utf-8')],
  ['pictures.css', read('pictures.css', 'text/css; charset=utf-8')],
  ['page.js', read('page.js', 'text/javascript; charset=utf-8')],
])

function read(name: string, type: string): Asset {
  const body = readFileSync(new URL(name, SOURCES), 'utf8')
  return { type, body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"` }
}

/** Undefined: there is none of that name. */
export function assetOf(name: string, request: Request): Response | undefined {
  const asset = ASSETS.get(name)
  if (asset === undefined) return undefined
  const headers = { etag: asset.etag, 'cache-control': 'no-cache' }
  if (request.headers.get('if-none-match') === asset.etag) return new Response(null, { status: 304, headers })
  return new Response(asset.body, { headers: { 'content-type': asset.type, ...headers } })
}
