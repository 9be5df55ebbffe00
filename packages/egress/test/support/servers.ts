// Servers on loopback that count what reaches them.
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createTcpServer, type Server } from 'node:net'
import { createEgress, type Egress, type EgressOptions } from '@millrace/egress'

export interface TestServer extends AsyncDisposable {
  /** `host:port`, as an allow-list has it. */
  readonly target: string
  readonly origin: string
  readonly port: number
  readonly requests: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[]
}

export type Answer = (request: IncomingMessage, response: ServerResponse) => void

async function listen(server: Server, port: number, host: string): Promise<number> {
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve))
  return (server.address() as { port: number }).port
}

/** An HTTP server that has read the whole request before it answers. */
export async function startServer(answer: Answer, { port = 0, host = '127.0.0.1' } = {}): Promise<TestServer> {
  const requests: TestServer['requests'] = []
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      requests.push({ method, url, headers, body: Buffer.concat(chunks).toString() })
      answer(request, response)
    })
    request.on('error', () => {})
    response.on('error', () => {})
  }
  const server = createServer(listener)
  const bound = await listen(server, port, host)
  return {
    target: `${host}:${bound}`,
    origin: `http://${host}:${bound}`,
    port: bound,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export interface Canary extends AsyncDisposable {
  readonly port: number
  /** Connections that were opened to it. */
  readonly touches: number
}

/** Listens on loopback for what must never come. */
export async function startCanary({ port = 0, host = '127.0.0.1' } = {}): Promise<Canary> {
  let touches = 0
  const server = createTcpServer((socket) => {
    touches++
    socket.destroy()
  })
  const bound = await listen(server, port, host)
  return {
    port: bound,
    get touches() {
      return touches
    },
    async [Symbol.asyncDispose]() {
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/**
 * An egress that may call these servers and no other local one. It resolves no names, so that a test of a guard that is
 * broken does not ask the real DNS.
 */
export function egressTo(servers: readonly Pick<TestServer, 'target'>[], options: EgressOptions = {}): Egress {
  return createEgress({ allow: servers.map(({ target }) => target), resolve: neverResolve, ...options })
}

async function neverResolve(hostname: string): Promise<never> {
  throw new Error(`The test resolves no names, but was asked for ${hostname}`)
}

/** The error that a call ends with. */
export async function failureOf(work: Promise<unknown>): Promise<Error & { code: string }> {
  const outcome = await work.then(
    (value) => ({ value }),
    (error: Error & { code: string }) => ({ error }),
  )
  if ('error' in outcome) return outcome.error
  throw new Error(`The call did not fail: ${JSON.stringify(outcome.value)}`)
}
