// A request with an absolute http URL: sent on as it is, without what is meant for the proxy alone. Redirects and the body are the
// business of the program behind the proxy; each URL that it asks for comes by here.
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { EgressRefused } from '../errors.ts'
import { type Guard, portOf } from '../guard.ts'
import type { Traffic } from './traffic.ts'

/** They belong to one connection. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

export async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  { guard, traffic }: { readonly guard: Guard; readonly traffic: Traffic },
): Promise<void> {
  try {
    const url = targetOf(request.url ?? '')
    guard.checkUrl(url)
    const [hostname, port] = [url.hostname, portOf(url)]
    const addresses = await guard.resolve(hostname, port)
    const socket = await traffic.open({ hostname, port, addresses })
    response.once('close', () => socket.destroy())
    await exchange(url, { request, response, socket, traffic })
  } catch (error) {
    const isRefused = error instanceof EgressRefused
    traffic.count(isRefused ? 'refused' : 'failed')
    if (response.headersSent) response.destroy()
    else
      response
        .writeHead(isRefused ? 403 : 502, { 'content-type': 'text/plain', connection: 'close' })
        .end(isRefused ? error.message : 'The proxy got no answer.')
  }
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly socket: Socket
  readonly traffic: Traffic
}

async function exchange(url: URL, { request, response, socket, traffic }: Exchange): Promise<void> {
  const { method = 'GET' } = request
  const headers = { ...endToEnd(request.headers), host: url.host, connection: 'close' }
  const sent = httpRequest({ createConnection: () => socket, method, path: url.pathname + url.search, headers })
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve).once('error', reject)
    sent.once('close', () => reject(new Error('The connection ended without an answer.')))
  })
  pipeline(request, traffic.meter(), sent).catch(() => sent.destroy())
  const answer = await answered
  response.writeHead(answer.statusCode ?? 502, endToEnd(answer.headers))
  await pipeline(answer, traffic.meter(), response)
}

function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const named = new Set((headers.connection ?? '').toLowerCase().split(/\s*,\s*/))
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name) && !named.has(name)))
}

function targetOf(text: string): URL {
  if (!URL.canParse(text)) {
    throw new EgressRefused('invalid_url', 'A proxy needs a whole URL, such as http://example.com/, or CONNECT.')
  }
  const url = new URL(text)
  if (url.protocol === 'http:') return url
  throw new EgressRefused('scheme_refused', `Refused a URL with the scheme "${url.protocol}". Use http, or CONNECT.`)
}
