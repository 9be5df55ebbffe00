// Looks at the outbox: gives new escalations a channel, and enqueues a job for each channel for which something waits.
//
// Runs every second in each process that delivers, and at once when a job died here. All at once is harmless: a row is routed
// once, and a channel has at most one live job. It only reads and enqueues, so it may die anywhere.
import type { JobContract, Logger, Millrace } from 'millrace'
import type { Channel } from './channel.ts'
import { type RoutingOptions, routeOf } from './routing.ts'

const SETTLE_EVERY_MS = 10_000
const PAGES_AT_ONCE = 10
const COMPLAIN_EVERY_MS = 60_000

export interface DispatcherServices {
  readonly millrace: Millrace
  readonly contract: JobContract
  readonly routing: RoutingOptions
  readonly logger: Logger
  readonly intervalMs: number
}

export class Dispatcher {
  readonly #services: DispatcherServices
  readonly #offs: (() => void)[]
  #timer: NodeJS.Timeout | undefined
  #dueAt = Number.POSITIVE_INFINITY
  #running: Promise<void> | undefined
  #isStopped = false
  #settledAt = 0
  #settledTo = '0'
  #complainedAt = 0

  constructor(services: DispatcherServices) {
    this.#services = services
    const { events } = services.millrace
    const wake = () => this.#schedule(50)
    this.#offs = [events.on('job_died', wake), events.on('budget_hard_stop', wake), events.on('budget_threshold', wake)]
    this.#schedule(0)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    for (const off of this.#offs) off()
    await this.#running
  }

  /** One pass. Answers with the channels that have a job now. */
  async tick(): Promise<string[]> {
    const { millrace, routing } = this.#services
    const { outbox } = millrace.escalations
    const now = outbox.now()
    const rows = await outbox.unrouted()
    if (rows.length > 0) await outbox.route(rows.map((row) => routeOf(row, routing, now)))
    if (Date.now() >= this.#settledAt + SETTLE_EVERY_MS) await this.settle()
    const due = await outbox.due()
    const channels = due.filter(({ channel: name, hasUnsent, hasNews }) => {
      const channel = routing.channels[name]
      return channel !== undefined && (hasUnsent || (hasNews && tellsNews(channel)))
    })
    for (const { channel } of channels) await millrace.enqueue(this.#services.contract, { channel })
    return channels.map(({ channel }) => channel)
  }

  /** Resolves escalations of dead jobs about which it was decided. A few pages at a time: the next pass goes on there. */
  async settle(): Promise<void> {
    this.#settledAt = Date.now()
    const { outbox } = this.#services.millrace.escalations
    for (let page = 0; page < PAGES_AT_ONCE && !this.#isStopped; page++) {
      const { lastId } = await outbox.settle(this.#settledTo)
      this.#settledTo = lastId ?? '0'
      if (lastId === null) return
    }
  }

  #schedule(delayMs: number): void {
    const dueAt = performance.now() + delayMs
    // An earlier look stays: many deaths in a row must not put it off.
    if (this.#isStopped || dueAt >= this.#dueAt) return
    this.#dueAt = dueAt
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#dueAt = Number.POSITIVE_INFINITY
      void this.#run()
    }, delayMs)
    this.#timer.unref()
  }

  async #run(): Promise<void> {
    if (this.#running === undefined) {
      this.#running = this.tick().then(
        () => {},
        (error: unknown) => this.#complain(error),
      )
      await this.#running
      this.#running = undefined
    }
    this.#schedule(this.#services.intervalMs)
  }

  #complain(error: unknown): void {
    if (this.#isStopped || Date.now() < this.#complainedAt + COMPLAIN_EVERY_MS) return
    this.#complainedAt = Date.now()
    this.#services.logger.warn({ error }, 'escalations could not be looked at; the next look is in a second')
  }
}

const tellsNews = (channel: Channel): boolean => channel.tells.length > 0
