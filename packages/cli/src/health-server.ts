// GET /healthz, /readyz and /: whether the process lives, whether it can work, and what it runs.
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Health {
  /** Why no work can be done right now, or undefined. */
  obstacle(): Promise<string | undefined>
  /** What is running, for people. */
  describe(): Record<string, unknown>
}

export interface HealthServer {
  readonly url: string
  stop(): Promise<void>
}

export class PortUnusable extends Error {
  override readonly name = 'PortUnusable'
}

export async function serveHealth(address: { host: string; port: number }, health: Health): Promise<HealthServer> {
  const startedAt = Date.now()
  const server = createServer((request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return answer(response, 405, { error: 'only GET' })
    switch (new URL(request.url ?? '/', 'http://localhost').pathname) {
      case '/healthz':
        return answer(response, 200, { status: 'alive', uptimeMs: Date.now() - startedAt })
      case '/readyz':
        void health
          .obstacle()
          .then((reason) =>
            reason === undefined
              ? answer(response, 200, { status: 'ready' })
              : answer(response, 503, { status: 'not ready', reason }),
          )
        return
      case '/':
        return answer(response, 200, health.describe())
      default:
        return answer(response, 404, { error: 'not found', endpoints: ['/', '/healthz', '/readyz'] })
    }
  })
  await listen(server, address)
  const { port } = server.address() as AddressInfo
  return { url: `http://${inUrl(address.host)}:${port}`, stop: () => close(server) }
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' })
  response.end(`${JSON.stringify(body, null, 2)}\n`)
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
