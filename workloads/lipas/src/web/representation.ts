// An answer as JSON for programs, or as a piece of HTML for the page, by what the request accepts. Both have an ETag.
import { createHash } from 'node:crypto'
import type { Html } from './page/html.ts'

export interface Representations {
  readonly json: () => unknown
  readonly html: () => Html
}

export async function represented(request: Request, { json, html }: Representations): Promise<Response> {
  const isHtml = /\btext\/html\b/.test(request.headers.get('accept') ?? '')
  const body = isHtml ? String(await html()) : `${JSON.stringify(json())}\n`
  const type = isHtml ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8'
  return unlessKnown(request, body, { 'content-type': type, vary: 'accept' })
}

/** 304 to a caller that has it already. */
export function unlessKnown(request: Request, body: string, given: Readonly<Record<string, string>>): Response {
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
  const headers = { etag, 'cache-control': 'no-cache', ...given }
  if (request.headers.get('if-none-match') === etag) return new Response(null, { status: 304, headers })
  return new Response(body, { headers })
}
