// A TCP proxy before Postgres that knows which reply it is holding: it can let a statement reach the server, wait until
// the server has committed and answered, and cut the connection before the client hears of it.
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { Link } from './link.ts'

export interface Request {
  sql: string
  /** What was asked before it in the same transaction; empty outside of one. */
  transaction: readonly string[]
}

export interface CutRule {
  matches(request: Request): boolean
  /**
   * before: the server never sees the request. after: it was carried out, only the reply is lost. stall: the server has seen
   * what was sent before it, waits for the rest, and the connection stands.
   */
  when: 'before' | 'after' | 'stall'
  /** Asked when the reply is complete; default yes. */
  isWanted?(reply: { rows: number }): boolean
}

export interface Cut {
  sql: string
  at: number
}

/**
 * pass: all is well. reset: every connection, old and new, is torn down. silent: nothing passes any more, and nobody is
 * told; connections from that time stay silent for ever.
 */
export type ProxyMode = 'pass' | 'reset' | 'silent'

export class FaultProxy implements AsyncDisposable {
  /** Replaces the server's URL for whoever shall go through the proxy. */
  readonly url: string
  /** When connections were asked for. */
  readonly connects: number[] = []
  readonly cuts: Cut[] = []
  /** Every statement that is asked for, in order, once somebody puts an array here. */
  asked: string[] | undefined
  rule: CutRule | undefined
  readonly #server: Server
  readonly #port: number
  readonly #links = new Set<Link>()
  #mode: ProxyMode = 'pass'

  private constructor(server: Server, target: URL) {
    this.#server = server
    this.#port = (server.address() as AddressInfo).port
    const url = new URL(target)
    url.hostname = '127.0.0.1'
    url.port = String(this.#port)
    this.url = url.href
    const upstream = { host: target.hostname, port: Number(target.port || 5432) }
    server.on('connection', (socket) => this.#accept(socket, upstream))
  }

  static async before(serverUrl: string): Promise<FaultProxy> {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new FaultProxy(server, new URL(serverUrl))
  }

  get mode(): ProxyMode {
    return this.#mode
  }

  set mode(mode: ProxyMode) {
    this.#mode = mode
    if (mode === 'reset') this.#resetAll()
    if (mode === 'silent') for (const link of this.#links) link.silence()
  }

  /** Connections that LISTEN go silent for ever; the others, and new ones, are well. Answers with how many there were. */
  silenceListeners(): number {
    const listeners = [...this.#links].filter((link) => link.isListener)
    for (const link of listeners) link.silence()
    return listeners.length
  }

  /** Connections are refused by the kernel until `listen`; these attempts cannot be counted. */
  async refuse(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#resetAll()
    await closed
  }

  async listen(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#resetAll()
    if (this.#server.listening) await this.refuse()
  }

  #accept(socket: Socket, upstream: { host: string; port: number }): void {
    this.connects.push(Date.now())
    socket.on('error', () => {})
    if (this.#mode === 'reset') {
      socket.destroy()
      return
    }
    const link = new Link(socket, upstream, {
      rule: () => this.rule,
      onAsked: (sql) => this.asked?.push(sql),
      onCut: (sql) => this.cuts.push({ sql, at: Date.now() }),
      onClosed: () => this.#links.delete(link),
    })
    this.#links.add(link)
    if (this.#mode === 'silent') link.silence()
  }

  #resetAll(): void {
    for (const link of this.#links) link.reset()
    this.#links.clear()
  }
}
