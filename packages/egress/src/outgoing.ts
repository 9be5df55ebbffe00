// A call of fetch, taken apart: what goes over the wire, and what a redirect makes of it.
import { Readable } from 'node:stream'
import { ENCODINGS } from './decode.ts'
import { EgressRefused, shownUrl } from './errors.ts'

export interface Outgoing {
  readonly url: URL
  readonly method: string
  readonly headers: Headers
  /** Bytes can be sent again after a redirect, a stream cannot. */
  readonly body: Uint8Array | Readable | null
}

/** The client writes these itself. SDKs set them all the same. */
const WRITTEN_BY_US = ['connection', 'content-length', 'keep-alive']
/** They change how the message is framed or where a proxy sends it. */
const REFUSED = ['expect', 'proxy-authorization', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade']
/** All others may hold a key, and stay behind when a redirect leads to another origin. */
const KEPT_ACROSS_ORIGINS = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'content-encoding',
  'content-language',
  'content-type',
  'if-modified-since',
  'if-none-match',
  'range',
  'user-agent',
])
const BODY_HEADERS = ['content-encoding', 'content-language', 'content-location', 'content-type']

export function targetUrl(input: string | URL | Request): URL {
  const text = input instanceof Request ? input.url : String(input)
  // The parser's own error repeats the text, which may hold a secret.
  if (!URL.canParse(text)) {
    throw new EgressRefused('invalid_url', 'The URL cannot be parsed. Give a whole URL, like https://example.com/feed.')
  }
  const url = new URL(text)
  url.hash = ''
  return url
}

export async function outgoingFrom(
  input: string | URL | Request,
  init: RequestInit | undefined,
  { url, userAgent }: { url: URL; userAgent: string },
): Promise<Outgoing> {
  const request = standardRequest(input, init, url)
  const headers = new Headers(request.headers)
  for (const name of WRITTEN_BY_US) headers.delete(name)
  for (const name of REFUSED) {
    if (headers.has(name)) throw invalidRequest(url, `the header "${name}" is not the caller's to set. Leave it out`)
  }
  if ((headers.get('host') ?? url.host).toLowerCase() !== url.host) {
    throw invalidRequest(url, 'the header "host" names another host than the URL. Leave it out')
  }
  headers.delete('host')
  if (!headers.has('accept')) headers.set('accept', '*/*')
  if (!headers.has('user-agent')) headers.set('user-agent', userAgent)
  // A range of a compressed body cannot be decompressed.
  if (!headers.has('accept-encoding')) headers.set('accept-encoding', headers.has('range') ? 'identity' : ENCODINGS)
  return { url, method: request.method, headers, body: await bodyOf(request, init) }
}

/** The platform's Request checks method, headers and body, and knows the content type of forms. */
function standardRequest(input: string | URL | Request, init: RequestInit | undefined, url: URL): Request {
  for (const [name, value] of headerPairs(init?.headers)) {
    try {
      new Headers([[name, value]])
    } catch {
      throw invalidRequest(
        url,
        `the header ${JSON.stringify(name)} has a name or value that HTTP forbids. Send no CR, LF, NUL or characters beyond Latin-1`,
      )
    }
  }
  try {
    return new Request(input instanceof Request ? input : url, { ...init, signal: null })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw invalidRequest(url, `fetch does not accept its method or body (${reason})`)
  }
}

function headerPairs(headers: RequestInit['headers']): Iterable<[string, string]> {
  if (headers === undefined || headers === null) return []
  return (Symbol.iterator in headers ? headers : Object.entries(headers)) as Iterable<[string, string]>
}

/**
 * Streams that the caller gave as `init.body` are sent as they come. All else is read first, so that the server learns
 * its length and a redirect can send it again. A Request does not tell how long its body is.
 */
async function bodyOf(request: Request, init: RequestInit | undefined): Promise<Outgoing['body']> {
  if (request.body === null) return null
  const given = init?.body
  const isStream = typeof given === 'object' && given !== null && Symbol.asyncIterator in given
  return isStream ? Readable.fromWeb(request.body) : new Uint8Array(await request.arrayBuffer())
}

/** What a redirect with this status asks for, by the rules of fetch. */
export function redirected(previous: Outgoing, status: number, url: URL): Outgoing {
  const { method } = previous
  const becomesGet = (status === 303 && method !== 'HEAD') || ((status === 301 || status === 302) && method === 'POST')
  if (!becomesGet && previous.body instanceof Readable) {
    throw new EgressRefused(
      'redirect_refused',
      `${shownUrl(previous.url)} redirects, but the request has a streamed body, which cannot be sent twice. Send bytes instead, or call the new address.`,
    )
  }
  const headers = new Headers(previous.headers)
  if (url.origin !== previous.url.origin) {
    for (const name of [...headers.keys()]) if (!KEPT_ACROSS_ORIGINS.has(name)) headers.delete(name)
  }
  if (!becomesGet) return { ...previous, url, headers }
  for (const name of BODY_HEADERS) headers.delete(name)
  return { url, method: 'GET', headers, body: null }
}

function invalidRequest(url: URL, what: string): EgressRefused {
  return new EgressRefused('invalid_request', `The request to ${shownUrl(url)} was not sent: ${what}.`)
}
