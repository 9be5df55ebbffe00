// Tells clients elsewhere that a job they await has ended here.
//
// Who awaits what is heard from the pulse thread and remembered for a while; waiting clients say it again and again.
// While nobody waits, nothing is listened to and nothing sent. A hint like every NOTIFY: waiting clients also poll.
import { after, monotonicMs } from '../clock.ts'
import type { Events } from '../events.ts'
import type { Database } from '../store/db.ts'
import { notifyEnded } from '../store/notifications.ts'
import { onEnded } from './ended-events.ts'

/** How long a job is remembered as awaited: three times as long as it takes to be announced again. */
const MEMORY_MS = 30_000
/** More than this is left to polling. */
const MAX_AWAITED = 10_000

export class Herald {
  readonly #db: Database
  readonly #events: Events
  readonly #isEnabled: boolean
  /** Until when each is remembered. */
  readonly #awaited = new Map<string, number>()
  #ended: string[] = []
  #stopListening: (() => void) | undefined

  constructor(services: { db: Database; events: Events }, options: { isEnabled: boolean }) {
    this.#db = services.db
    this.#events = services.events
    this.#isEnabled = options.isEnabled
  }

  /** Somebody awaits the end of these jobs. */
  remember(ids: readonly string[]): void {
    if (!this.#isEnabled) return
    const untilMs = monotonicMs() + MEMORY_MS
    for (const id of ids) {
      if (this.#awaited.size < MAX_AWAITED || this.#awaited.has(id)) this.#awaited.set(id, untilMs)
    }
    if (this.#stopListening !== undefined) return
    this.#stopListening = onEnded(this.#events, (id) => this.#hear(id))
    after(MEMORY_MS, () => this.#forget())
  }

  /** These jobs have ended, and whoever awaits them should look. Never fails. */
  async tell(ids: readonly string[]): Promise<void> {
    if (this.#isEnabled) await notifyEnded(this.#db, this.#db.schema, ids).catch(() => {})
  }

  #hear(id: string): void {
    if (!this.#awaited.delete(id)) return
    // What one flush has settled is told in one message.
    if (this.#ended.push(id) === 1) setImmediate(() => void this.tell(this.#ended.splice(0)))
  }

  #forget(): void {
    const now = monotonicMs()
    for (const [id, untilMs] of this.#awaited) if (untilMs <= now) this.#awaited.delete(id)
    if (this.#awaited.size > 0) {
      after(MEMORY_MS, () => this.#forget())
      return
    }
    this.#stopListening?.()
    this.#stopListening = undefined
  }
}
