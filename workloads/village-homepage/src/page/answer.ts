// A document of the village as an HTTP answer.
import type { Html } from './view.ts'

/** Everything comes from our own server, and nothing in line: what a feed says can never run. */
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

export async function answer(
  body: Html,
  init: { status?: number; headers?: Record<string, string> } = {},
): Promise<Response> {
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': CSP,
    'cache-control': 'no-cache',
    ...init.headers,
  }
  return new Response(String(await body), { status: init.status ?? 200, headers })
}
