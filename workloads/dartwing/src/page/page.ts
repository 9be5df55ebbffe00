// The page /dartwing: organizations side by side. Rendered here, and read again by its script while it is looked at.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Page, PageContext } from '@millrace/admin'
import type { DartwingSystem } from '../system.ts'
import { board } from './board.ts'
import { document } from './document.ts'
import { neighboursOf } from './neighbours.ts'
import { tryOut } from './try-out.ts'

const PATH = '/dartwing'
// They lie beside the sources: the compiler copies TypeScript only.
const SOURCES = new URL('../../../src/page/', import.meta.url)

const asset = (name: string, type: string) => {
  const body = readFileSync(new URL(name, SOURCES), 'utf8')
  return [
    name,
    { type, body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"` },
  ] as const
}
const ASSETS = new Map([
  asset('style.css', 'text/css; charset=utf-8'),
  asset('page.js', 'text/javascript; charset=utf-8'),
])

/** Everything comes from this server, and nothing in line: what a title says can never run. */
const CSP = [
  ...["default-src 'none'", "style-src 'self'", "script-src 'self'", "connect-src 'self'", "img-src 'self' data:"],
  ...["form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"],
].join('; ')

export const dartwingPage = (system: DartwingSystem): Page => ({
  path: PATH,
  title: 'Dartwing',
  permission: 'viewer',
  async handle(request, context) {
    const { pathname } = new URL(request.url)
    const rest = pathname.slice(pathname.indexOf(PATH) + PATH.length).replace(/^\/|\/$/g, '')
    if (request.method === 'POST' && rest.startsWith('try/'))
      return tryOut(system, rest.slice('try/'.length), request, context)
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return html('This page can be read, and nothing else.', 405)
    const file = ASSETS.get(rest)
    if (file !== undefined) return served(file, request)
    if (rest === 'board') return html(await boardFor(system, context))
    if (rest === '')
      return html(document(context.basePath, await boardFor(system, context), system.sandboxUrl !== undefined))
    return html(document(context.basePath, '<p>There is no such page in Dartwing.</p>', false), 404)
  },
})

async function boardFor(system: DartwingSystem, { caller, basePath }: PageContext): Promise<string> {
  return board(await neighboursOf(system, caller?.tenants ?? null), basePath)
}

function served({ type, body, etag }: { type: string; body: string; etag: string }, request: Request): Response {
  const headers = { etag, 'cache-control': 'no-cache' }
  if (request.headers.get('if-none-match') === etag) return new Response(null, { status: 304, headers })
  return new Response(body, { headers: { 'content-type': type, ...headers } })
}

const html = (body: string, status = 200): Response =>
  new Response(body, {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': CSP,
      'cache-control': 'private, no-cache',
    },
  })
