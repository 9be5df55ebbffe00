// GET /healthz, /readyz, /metrics and /: whether the process lives, whether it can work, what it measures, what it runs.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from '@millrace/telemetry'

export interface Health {
  /** Why no work can be done right now, or undefined. */
  obstacle(): Promise<string | undefined>
  /** What to answer a scrape; undefined: nothing is measured yet. */
  metrics(accept: string | undefined): Promise<Page> | undefined
  /** The verdict on the whole platform, for people. It does not decide whether this process can work. */
  health?(): Promise<object | undefined>
  /** What is running, for people. */
  describe(): Record<string, unknown>
  /** Answers requests that are not about health. False: this is none of them. */
  takeOver?(path: string, request: IncomingMessage, response: ServerResponse): boolean
}

export interface HealthServer {
  readonly url: string
  stop(): Promise<void>
}

export class PortUnusable extends Error {
  override readonly name = 'PortUnusable'
}

/** Probes are short and few. Without bounds, strangers could take every file descriptor that the process may have. */
const REQUEST_MS = 10_000
const MAX_CONNECTIONS = 500

/** No request can end the process: the port is open to strangers. */
export async function serveHealth(address: { host: string; port: number }, health: Health): Promise<HealthServer> {
  const startedAt = Date.now()
  const limits = { headersTimeout: REQUEST_MS, requestTimeout: REQUEST_MS, connectionsCheckingInterval: REQUEST_MS }
  const server = createServer(limits, (request, response) => {
    if (health.takeOver?.(pathOf(request.url ?? '/'), request, response)) return
    respond(request, health, startedAt)
      .catch((error: unknown): Answer => [500, { error: error instanceof Error ? error.message : String(error) }])
      .then((answer) => send(response, answer))
      // The body cannot be written as JSON, or the connection is in no state for an answer.
      .catch(() => response.destroy())
  })
  server.maxConnections = MAX_CONNECTIONS
  await listen(server, address)
  // A connection that cannot be accepted, for instance for want of file descriptors, is the caller's loss alone.
  server.on('error', () => {})
  const { port } = server.address() as AddressInfo
  return { url: `http://${inUrl(address.host)}:${port}`, stop: () => close(server) }
}

type Answer = [status: number, body: object] | Page

async function respond({ method, url, headers }: IncomingMessage, health: Health, startedAt: number): Promise<Answer> {
  if (method !== 'GET' && method !== 'HEAD') return [405, { error: 'only GET' }]
  switch (pathOf(url ?? '/')) {
    case '/healthz':
      return [200, { status: 'alive', uptimeMs: Date.now() - startedAt }]
    case '/readyz': {
      const [reason, platform] = await Promise.all([health.obstacle(), health.health?.()])
      const body = reason === undefined ? { status: 'ready' } : { status: 'not ready', reason }
      return [reason === undefined ? 200 : 503, { ...body, ...(platform && { health: platform }) }]
    }
    case '/metrics':
      return health.metrics(headers.accept) ?? [503, { error: 'the process is starting: there are no metrics yet' }]
    case '/':
      return [200, health.describe()]
    default:
      return [404, { error: 'not found', endpoints: ['/', '/healthz', '/readyz', '/metrics'] }]
  }
}

/** The path of a request's target, which may be any text: `new URL` throws on much of it, such as `//`. */
function pathOf(target: string): string {
  const [path] = target.replace(/^https?:\/\/[^/?#]*/i, '').split(/[?#]/, 1)
  return path || '/'
}

function send(response: ServerResponse, answer: Answer): void {
  const [status, type, text] = Array.isArray(answer)
    ? [answer[0], 'application/json; charset=utf-8', `${JSON.stringify(answer[1], null, 2)}\n`]
    : [200, answer.contentType, answer.body]
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' })
  response.end(text)
}

function listen(server: Server, { host, port }: { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) =>
      reject(new PortUnusable(refusal(cause, host, port), { cause })),
    )
    server.listen(port, host, resolve)
  })
}

function refusal({ code, message }: NodeJS.ErrnoException, host: string, port: number): string {
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} of ${host} is taken by another program. Stop that program, or set PORT (or --port) to a free port.`
    case 'EACCES':
      return `Port ${port} of ${host} needs more rights than this user has. Set PORT (or --port) to one above 1023.`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${host} is not an address of this machine. Set HOST (or --host) to one that is, such as 127.0.0.1 or 0.0.0.0.`
    default:
      return `Port ${port} of ${host} cannot be used: ${message}. Set PORT and HOST to an address that can.`
  }
}

async function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeAllConnections()
  await closed
}

const inUrl = (host: string): string => (host.includes(':') ? `[${host}]` : host)
