// A proxy for programs that open connections themselves, such as a browser: it listens on loopback, asks for a password, and lets
// through what the guard of `createEgress` would. CONNECT for https and WebSockets, absolute URLs for http.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { Guard, type GuardOptions } from '../guard.ts'
import { forward } from './forward.ts'
import { type ProxyBudget, type ProxyCounts, proxyBudgetFrom, Traffic } from './traffic.ts'
import { refuse, tunnel } from './tunnel.ts'

export interface EgressProxyOptions extends GuardOptions {
  budget?: Partial<ProxyBudget>
}

export interface EgressProxy extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`, without the password. */
  readonly url: string
  readonly username: string
  /** Made anew by every start. Other programs of this machine do not know it. */
  readonly password: string
  readonly counts: ProxyCounts
  /** Breaks off all connections, and takes no more. */
  close(): Promise<void>
}

const USERNAME = 'millrace'
const HEADER_BYTES = 65_536

export async function startEgressProxy(options: EgressProxyOptions = {}): Promise<EgressProxy> {
  const guard = new Guard(options)
  const traffic = new Traffic(proxyBudgetFrom(options.budget))
  const password = randomBytes(32).toString('base64url')
  const isOurs = passwordCheck(`Basic ${Buffer.from(`${USERNAME}:${password}`).toString('base64')}`)
  const server = createServer({ maxHeaderSize: HEADER_BYTES }, (request, response) => {
    if (!isOurs(request)) return void response.writeHead(407, CHALLENGE).end()
    void forward(request, response, { guard, traffic })
  })
  server.on('connect', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.on('error', () => {})
    if (!isOurs(request)) return refuse(socket, 407, 'Proxy Authentication Required', CHALLENGE)
    void tunnel(request.url ?? '', { socket, head, guard, traffic })
  })
  // Browsers ask for WebSockets by CONNECT. A program that asks otherwise gets no connection at all.
  server.on('upgrade', (_request, socket: Socket) => socket.destroy())
  const port = await listen(server)
  const close = async () => {
    traffic.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return {
    ...{ url: `http://127.0.0.1:${port}`, username: USERNAME, password, close },
    get counts() {
      return traffic.counts
    },
    [Symbol.asyncDispose]: close,
  }
}

const CHALLENGE = { 'proxy-authenticate': 'Basic realm="millrace"' }

function passwordCheck(expected: string): (request: IncomingMessage) => boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  const wanted = digest(expected)
  return ({ headers }) => timingSafeEqual(digest(headers['proxy-authorization'] ?? ''), wanted)
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}
