// A document of the village as an HTTP answer.
import type { Html } from './view.ts'

/** Everything comes from our own server, and nothing in line: what a feed says can never run. Pictures may come from the CDN. */
const policy = (pictures: string) =>
  [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    `img-src 'self' data:${pictures === '' ? '' : ` ${pictures}`}`,
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

interface AnswerOptions {
  readonly status?: number
  readonly headers?: Record<string, string>
  /** An origin besides our own that pictures may come from. */
  readonly pictures?: string
}

export async function answer(
  body: Html,
  { status = 200, headers: more = {}, pictures = '' }: AnswerOptions = {},
): Promise<Response> {
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy(pictures),
    'cache-control': 'no-cache',
    ...more,
  }
  return new Response(String(await body), { status, headers })
}
