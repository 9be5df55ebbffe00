// Documents and files of the page as HTTP answers.
import { readFileSync } from 'node:fs'
import { unlessKnown } from '../representation.ts'
import type { Html } from './html.ts'

/** Everything comes from our own server, and nothing in line: what a name says can never run. */
const CSP = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

export async function document(body: Html, status = 200): Promise<Response> {
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': CSP,
    // It shows a form to those who may save.
    'cache-control': 'private, no-cache',
  }
  return new Response(String(await body), { status, headers })
}

// They lie beside the sources: the compiler copies TypeScript only.
const SOURCES = new URL('../../../../src/web/page/', import.meta.url)
const TYPES = { 'lipas.css': 'text/css; charset=utf-8', 'lipas.js': 'text/javascript; charset=utf-8' }
const files = new Map(
  Object.entries(TYPES).map(([name, type]) => [name, { type, body: readFileSync(new URL(name, SOURCES), 'utf8') }]),
)

/** Undefined: there is none of that name. */
export function fileOf(name: string, request: Request): Response | undefined {
  const file = files.get(name)
  return file && unlessKnown(request, file.body, { 'content-type': file.type })
}
