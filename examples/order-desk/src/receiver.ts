// The shops' own service: takes receipts, screens orders, prints labels and shows the page of an order. A real HTTP server on a
// port of its own, with a bad day now and then.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { isNth } from './nth.ts'

export interface Trouble {
  /** Every nth receipt is answered 503 with Retry-After; 0 is never. */
  readonly busyEvery: number
  /** Every nth receipt is answered 500. */
  readonly brokenEvery: number
  /** From every nth receipt on, a few in a row are answered 500: enough to open the breaker, and to fail its first probe. */
  readonly downEvery: number
  /** Every nth label jams the printer. The next attempt finds it cleared. */
  readonly jamEvery: number
  /** How long the printer takes for a label. */
  readonly labelMs: number
}

/** The breaker of the contract opens at three. */
const DOWN_FOR_RECEIPTS = 4

export class Receiver {
  /** How often each receipt was accepted. Sent again after a lost answer it has the same key, and counts once. */
  readonly accepted = new Map<string, { orderId: string; times: number }>()
  readonly #trouble: Trouble
  readonly #server: Server
  #receipts = 0
  #labels = 0
  #screened = 0

  private constructor(trouble: Trouble) {
    this.#trouble = trouble
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: Error) => response.writeHead(400).end(error.message))
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

  get receiptsUrl(): string {
    return `${this.#origin}/receipts`
  }

  get screeningUrl(): string {
    return `${this.#origin}/screening`
  }

  /** Below it, each shop has a printer under its name. */
  get labelsUrl(): string {
    return `${this.#origin}/labels`
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

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'GET') return showPage(request, response)
    const { orderId } = (await json(request)) as { orderId: string }
    if (request.url?.startsWith('/labels/')) await this.#print(orderId, response)
    else if (request.url === '/screening') this.#screen(response)
    else this.#take(orderId, { key: String(request.headers['idempotency-key']), response })
  }

  async #print(orderId: string, response: ServerResponse): Promise<void> {
    const isJammed = isNth(++this.#labels, this.#trouble.jamEvery)
    await sleep(this.#trouble.labelMs)
    if (isJammed) response.writeHead(409).end(`the label of order ${orderId} is stuck in the feeder`)
    else response.writeHead(201).end()
  }

  #screen(response: ServerResponse): void {
    const isSuspicious = isNth(++this.#screened, 20)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ isSuspicious }))
  }

  #take(orderId: string, { key, response }: { key: string; response: ServerResponse }): void {
    const { busyEvery, brokenEvery, downEvery } = this.#trouble
    const count = ++this.#receipts
    if (downEvery > 0 && count >= downEvery && count % downEvery < DOWN_FOR_RECEIPTS) {
      response.writeHead(500).end('down')
    } else if (isNth(count, busyEvery)) {
      response.writeHead(503, { 'retry-after': '1' }).end('busy')
    } else if (isNth(count, brokenEvery)) {
      response.writeHead(500).end('broken')
    } else {
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
