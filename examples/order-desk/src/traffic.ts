// Customers of both shops: places orders at a steady pace, and asks for the day's report or a kept page now and then.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger, Millrace } from 'millrace'
import pg from 'pg'
import { confirmOrder, reportDay } from './contracts.ts'
import { isNth } from './nth.ts'
import { keepPage } from './pages.ts'
import { shopOf } from './shops.ts'

export interface Pace {
  readonly ordersPerSecond: number
  /** No more orders after this many; the process goes on. */
  readonly maxOrders: number
  readonly reportEveryOrders: number
  /** Of every nth order the page is kept; 0 is never. */
  readonly keepEveryOrders: number
}

export interface TrafficServices {
  readonly millrace: Millrace
  readonly databaseUrl: string
  readonly logger: Logger
}

export class Traffic {
  readonly #pace: Pace
  readonly #services: TrafficServices
  readonly #pool: pg.Pool
  readonly #stopping = new AbortController()
  readonly #done: Promise<void>
  #placed = 0

  constructor(pace: Pace, services: TrafficServices) {
    this.#pace = pace
    this.#services = services
    this.#pool = new pg.Pool({ connectionString: services.databaseUrl, max: 1 })
    // Without a listener a connection that breaks while idle would end the process.
    this.#pool.on('error', () => {})
    this.#done = this.#run()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#done
    await this.#pool.end()
  }

  async #run(): Promise<void> {
    const { ordersPerSecond, maxOrders } = this.#pace
    const { signal } = this.#stopping
    while (!signal.aborted && this.#placed < maxOrders) {
      await this.#placeOrder().catch((error: Error) =>
        this.#services.logger.warn({ error: error.message }, 'the order could not be placed'),
      )
      await sleep(1_000 / ordersPerSecond, undefined, { signal }).catch(() => {})
    }
  }

  /** The order, its job and its workflow exist together, or none does: nothing is forgotten, no job finds its order missing. */
  async #placeOrder(): Promise<void> {
    const { millrace } = this.#services
    const tenant = shopOf(this.#placed + 1)
    const amountCents = 100 + Math.floor(Math.random() * 20_000)
    const tx = await this.#pool.connect()
    try {
      await tx.query('begin')
      const { rows } = await tx.query<{ id: string }>(
        'insert into order_desk.orders (shop, amount_cents) values ($1, $2) returning id',
        [tenant, amountCents],
      )
      const orderId = (rows[0] as { id: string }).id
      await millrace.enqueue(confirmOrder, { orderId, amountCents }, { tx, tenant })
      if (isNth(this.#placed + 1, this.#pace.keepEveryOrders)) {
        const name = `order-${orderId}-${randomUUID().slice(0, 8)}`
        await millrace.workflows.start(keepPage, { orderId, name }, { tx, tenant })
      }
      await tx.query('commit')
      tx.release()
    } catch (error) {
      tx.release(true)
      throw error
    }
    this.#placed++
    if (isNth(this.#placed, this.#pace.reportEveryOrders)) {
      await millrace.enqueue(reportDay, { day: new Date().toISOString().slice(0, 10) })
    }
  }
}
