// What the pulse hears, on its way to the main thread: each different message once, and in batches.
//
// Any role of the database may send as many messages as it likes. Passed on one by one, they would keep the main thread
// busy and grow its queue without end.
import { monotonicMs } from '../clock.ts'
import { decodeMessage, type Message } from '../store/notifications.ts'

const MIN_GAP_MS = 5

export interface InboxEvents {
  onMessages(messages: readonly Message[]): void
  /** So many messages could not be read. */
  onUnreadable(count: number): void
}

export class Inbox {
  readonly #events: InboxEvents
  readonly #payloads = new Set<string>()
  #isScheduled = false
  #emptiedAtMs = Number.NEGATIVE_INFINITY

  constructor(events: InboxEvents) {
    this.#events = events
  }

  /** The first message after a silence is passed on in this turn of the event loop. */
  add(payload: string): void {
    this.#payloads.add(payload)
    if (this.#isScheduled) return
    this.#isScheduled = true
    const waitMs = this.#emptiedAtMs + MIN_GAP_MS - monotonicMs()
    if (waitMs > 0) setTimeout(() => this.#empty(), waitMs)
    else setImmediate(() => this.#empty())
  }

  #empty(): void {
    this.#isScheduled = false
    this.#emptiedAtMs = monotonicMs()
    const decoded = [...this.#payloads].map(decodeMessage)
    this.#payloads.clear()
    const messages = decoded.filter((message) => message !== undefined)
    if (messages.length > 0) this.#events.onMessages(messages)
    if (messages.length < decoded.length) this.#events.onUnreadable(decoded.length - messages.length)
  }
}
