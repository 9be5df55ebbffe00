// /sitemap.xml with its parts, and /robots.txt: for search engines.
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Page } from '@millrace/admin'
import type { VillageParts } from '../village-parts.ts'
import { siteUrlOf } from './generate.ts'
import { sitemapIndex } from './sitemap-files.ts'
import { currentSitemap, sitemapPart } from './sitemap-store.ts'

const unzipped = promisify(gunzip)
const HOUR = 'public, max-age=3600'

export const sitemapPage = (parts: VillageParts): Page => ({
  path: '/sitemap.xml',
  async handle(request) {
    const refused = onlyRead(request)
    if (refused !== undefined) return refused
    const url = new URL(request.url)
    if (url.pathname.replace(/\/$/, '') !== '/sitemap.xml') return text(404, 'There is no such file.\n')
    const part = url.searchParams.get('part')
    return part === null ? index(parts) : one(parts, part, request)
  },
})

async function index(parts: VillageParts): Promise<Response> {
  const current = await currentSitemap(parts.database)
  if (current === undefined)
    return text(503, 'The sitemap was not written yet. It is every night at three, UTC.\n', { 'retry-after': '3600' })
  return xml(sitemapIndex(current.names, { siteUrl: siteUrlOf(parts), at: current.writtenAt }))
}

async function one({ database }: VillageParts, name: string, request: Request): Promise<Response> {
  const bytes = await sitemapPart(database, name)
  if (bytes === undefined) return text(404, 'The sitemap has no such part.\n')
  if (/\bgzip\b/.test(request.headers.get('accept-encoding') ?? ''))
    return xml(new Uint8Array(bytes), { 'content-encoding': 'gzip' })
  return xml(new Uint8Array(await unzipped(bytes)))
}

export const robotsPage = (parts: VillageParts): Page => ({
  path: '/robots.txt',
  handle: (request) =>
    onlyRead(request) ??
    text(
      200,
      `User-agent: *\nDisallow: /admin/\nDisallow: /village/go/\nDisallow: /village/blocks/\n\nSitemap: ${siteUrlOf(parts)}/sitemap.xml\n`,
      { 'cache-control': HOUR },
    ),
})

const onlyRead = ({ method }: Request): Response | undefined =>
  method === 'GET' || method === 'HEAD' ? undefined : text(405, 'This file can be read only.\n', { allow: 'GET, HEAD' })

const text = (status: number, body: string, headers: Record<string, string> = {}): Response =>
  new Response(body, { status, headers: { 'content-type': 'text/plain; charset=utf-8', ...headers } })

const xml = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}): Response =>
  new Response(body, {
    headers: {
      'content-type': 'application/xml; charset=utf-8',
      'cache-control': HOUR,
      vary: 'accept-encoding',
      ...headers,
    },
  })
