// Requests that another website makes a browser send are refused.
import { bearerOf } from './auth.ts'
import type { Caller } from './caller.ts'
import { Refusal } from './problem.ts'

/**
 * A browser says where a request comes from: for changes it must come from our own pages. A request that says nothing is a
 * program's, and needs a token: a cookie alone may have been sent by an old browser for somebody else.
 */
export function demandOwnOrigin(request: Request, caller: Caller): void {
  const { headers, method } = request
  const site = headers.get('sec-fetch-site')
  const origin = headers.get('origin')
  if (method === 'GET' || method === 'HEAD') {
    if (site === null || site === 'same-origin' || site === 'none' || bearerOf(request) !== undefined) return
    throw crossSite()
  }
  if (site !== null ? site !== 'same-origin' : origin !== null && !isOwn(request, origin)) throw crossSite()
  if (site !== null || origin !== null || caller.via === 'development' || bearerOf(request) !== undefined) return
  throw new Refusal(
    403,
    'token_needed',
    'A change without Origin and Sec-Fetch-Site needs a token: send `Authorization: Bearer …`.',
  )
}

/** For forms, before anybody is known. */
export function demandOwnForm(request: Request): void {
  const site = request.headers.get('sec-fetch-site')
  const origin = request.headers.get('origin')
  const isOk = site === null ? origin !== null && isOwn(request, origin) : site === 'same-origin'
  if (!isOk) throw crossSite()
}

/** By the host alone: a proxy in front of us may have ended TLS. */
function isOwn(request: Request, origin: string): boolean {
  try {
    return new URL(origin).host === (request.headers.get('host') ?? new URL(request.url).host)
  } catch {
    return false
  }
}

const crossSite = () =>
  new Refusal(403, 'cross_site', 'The request comes from another website. Use the pages of this server, or a token.')
