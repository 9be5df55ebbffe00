// What goes through a proxy: every socket to the outside is counted here, has its limits from here, and ends when the proxy does.
import { connect, type Socket } from 'node:net'
import { Transform } from 'node:stream'
import { limitsFrom } from '../budget.ts'
import { pinnedLookup } from '../connector.ts'
import { EgressBudgetExceeded, EgressFailed } from '../errors.ts'
import type { ResolvedAddress } from '../guard.ts'

/** What a proxy lets through. Every part has a limit; none can be switched off. */
export interface ProxyBudget {
  /** Connections to the outside at once. 64. */
  connections: number
  /** Until a connection is there. 10 s. */
  connectMs: number
  /** Longest silence of a connection. 15 s. */
  idleMs: number
  /** Longest life of a connection. 60 s. */
  totalMs: number
  /** Bytes of all connections together, both ways, without headers of http. When they are used up, the proxy lets nothing more through. 100 MiB. */
  maxBytes: number
}

const DEFAULTS: ProxyBudget = {
  connections: 64,
  connectMs: 10_000,
  idleMs: 15_000,
  totalMs: 60_000,
  maxBytes: 100 * 1024 * 1024,
}

export const proxyBudgetFrom = (given: Partial<ProxyBudget> = {}): ProxyBudget =>
  limitsFrom('A budget of a proxy', given, DEFAULTS)

/** Since the start of the proxy. */
export interface ProxyCounts {
  /** Connections that were opened to the outside. */
  readonly opened: number
  /** What the guard refused. */
  readonly refused: number
  /** What DNS, the other side or a limit ended. */
  readonly failed: number
  /** Of tunnels and of bodies, both ways. */
  readonly bytes: number
}

interface Target {
  readonly hostname: string
  readonly port: number
  readonly addresses: readonly ResolvedAddress[]
}

export class Traffic {
  readonly #budget: ProxyBudget
  readonly #sockets = new Set<Socket>()
  readonly #counts = { opened: 0, refused: 0, failed: 0, bytes: 0 }
  #isClosed = false

  constructor(budget: ProxyBudget) {
    this.#budget = budget
  }

  get counts(): ProxyCounts {
    return { ...this.#counts }
  }

  /** A request was answered with an error of ours. */
  count(what: 'refused' | 'failed'): void {
    this.#counts[what] += 1
  }

  /** A socket to one of the addresses and to no other, connected. */
  async open({ hostname, port, addresses }: Target): Promise<Socket> {
    this.#check()
    const lookup = pinnedLookup(addresses)
    const socket = connect({ host: hostname, port, lookup, autoSelectFamily: addresses.length > 1 })
    this.#watch(socket)
    const { connectMs } = this.#budget
    return new Promise<Socket>((resolve, reject) => {
      const timer = setTimeout(() => socket.destroy(timedOut(connectMs)), connectMs)
      socket.once('connect', () => {
        clearTimeout(timer)
        this.#counts.opened += 1
        resolve(socket)
      })
      socket.once('error', reject)
      socket.once('close', () => {
        clearTimeout(timer)
        reject(new EgressFailed('connection_failed', 'The connection was closed before it was there.'))
      })
    })
  }

  /** Stands between two sockets and counts. When the bytes are used up, all connections end. */
  meter(): Transform {
    return new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        this.#counts.bytes += chunk.length
        if (this.#counts.bytes <= this.#budget.maxBytes) return done(null, chunk)
        this.#breakOff()
        done(tooManyBytes(this.#budget.maxBytes))
      },
    })
  }

  /** Breaks off everything. */
  close(): void {
    this.#isClosed = true
    this.#breakOff()
  }

  #check(): void {
    const { connections, maxBytes } = this.#budget
    if (this.#isClosed) throw new EgressFailed('connection_failed', 'The proxy is closed.')
    if (this.#counts.bytes > maxBytes) throw tooManyBytes(maxBytes)
    if (this.#sockets.size >= connections) {
      throw new EgressFailed(
        'connection_failed',
        `The proxy has ${connections} connections open, and that is the most.`,
      )
    }
  }

  #watch(socket: Socket): void {
    const { idleMs, totalMs } = this.#budget
    this.#sockets.add(socket)
    socket.on('error', () => {})
    socket.setTimeout(idleMs, () => socket.destroy())
    const life = setTimeout(() => socket.destroy(), totalMs)
    socket.once('close', () => {
      clearTimeout(life)
      this.#sockets.delete(socket)
    })
  }

  #breakOff(): void {
    for (const socket of this.#sockets) socket.destroy()
  }
}

const timedOut = (ms: number) =>
  new EgressBudgetExceeded('headers_timeout', ms, `No connection was there within ${ms} ms (connectMs).`)

const tooManyBytes = (limit: number) =>
  new EgressBudgetExceeded(
    'too_many_bytes',
    limit,
    `The proxy has let ${limit} bytes through, and lets no more (maxBytes).`,
  )
