// The shop's own service: takes receipts and shows the page of an order. A real HTTP server on a port of its own, with a bad
// day now and then.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { isNth } from './nth.ts'

export interface Trouble {
  /** Every nth request is answered 503 with Retry-After; 0 is never. */
  readonly busyEvery: number
  /** Every nth request is answered 500. */
  readonly brokenEvery: number
}

export class Receiver {
  /** How often each receipt was accepted. Sent again after a lost answer it has the same key, and counts once. */
  readonly accepted = new Map<string, { orderId: string; times: number }>()
  readonly #trouble: Trouble
  readonly #server: Server
  #requests = 0

  private constructor(trouble: Trouble) {
    this.#trouble = trouble
    this.#server = createServer((request, response) => {
      if (request.method === 'GET') showPage(request, response)
      else this.#take(request, response).catch((error: Error) => response.writeHead(400).end(error.message))
    })
  }

  static async start(trouble: Trouble): Promise<Receiver> {
    const receiver = new Receiver(trouble)
    await new Promise<void>((resolve, reject) => {
      receiver.#server.once('error', reject)
      receiver.#server.listen(0, '127.0.0.1', resolve)
    })
    return receiver
  }

  get url(): string {
    return `${this.#origin}/receipts`
  }

  /** Below it, each order has a page under its id. */
  get pagesUrl(): string {
    return `${this.#origin}/orders`
  }

  get #origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.#server.closeAllConnections()
    await closed
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { orderId } = (await json(request)) as { orderId: string }
    this.#requests++
    if (isNth(this.#requests, this.#trouble.busyEvery)) {
      response.writeHead(503, { 'retry-after': '1' }).end('busy')
    } else if (isNth(this.#requests, this.#trouble.brokenEvery)) {
      response.writeHead(500).end('broken')
    } else {
      const key = String(request.headers['idempotency-key'])
      const times = (this.accepted.get(key)?.times ?? 0) + 1
      this.accepted.set(key, { orderId, times })
      response.writeHead(202).end()
    }
  }
}

function showPage({ url = '' }: IncomingMessage, response: ServerResponse): void {
  const [, orderId] = /^\/orders\/(\d+)$/.exec(url) ?? []
  if (orderId === undefined) return void response.writeHead(404).end('there is no such page')
  response.writeHead(200, { 'content-type': 'text/html' }).end(pageOf(orderId))
}

const pageOf = (orderId: string): string =>
  `<!doctype html>\n<title>Order ${orderId}</title>\n<h1>Order ${orderId}</h1>\n<p>Thank you.</p>\n`
