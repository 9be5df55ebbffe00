// Tells workers that there is work: those of this process at once, all others by NOTIFY.
//
// NOTIFY takes a lock on the whole server's notification queue at commit, so it is debounced per process and never
// sent per row. Inside a caller's transaction it is one per transaction and queue, and can be switched off.
import type { Database, Queryable, Session } from '../store/db.ts'
import { type Message, notify } from '../store/notifications.ts'

const MIN_GAP_MS = 5

export class Waker {
  readonly #db: Database
  readonly #isEnabled: boolean
  readonly #local = new Set<(queue: string) => void>()
  readonly #inTransaction = new WeakMap<Queryable, Set<string>>()
  #pending = new Set<string>()
  #timer: NodeJS.Immediate | NodeJS.Timeout | undefined
  #lastSent = 0

  constructor(db: Database, options: { isEnabled: boolean }) {
    this.#db = db
    this.#isEnabled = options.isEnabled
  }

  /** A worker of this process wants to hear of new work. Returns a function that ends it. */
  onLocal(listener: (queue: string) => void): () => void {
    this.#local.add(listener)
    return () => this.#local.delete(listener)
  }

  /** Work was committed to these queues. */
  wake(queues: Iterable<string>): void {
    for (const queue of queues) {
      for (const listener of this.#local) listener(queue)
      this.#pending.add(queue)
    }
    if (!this.#isEnabled || this.#timer !== undefined) return
    const wait = this.#lastSent + MIN_GAP_MS - Date.now()
    this.#timer = wait > 0 ? setTimeout(() => this.#send(), wait) : setImmediate(() => this.#send())
  }

  /** Work was written in a caller's transaction: Postgres delivers the message if and when it commits. */
  async wakeIn(tx: Queryable, session: Session, queues: Iterable<string>): Promise<void> {
    if (!this.#isEnabled) return
    let told = this.#inTransaction.get(tx)
    if (told === undefined) {
      told = new Set()
      this.#inTransaction.set(tx, told)
    }
    const fresh = [...queues].filter((queue) => !told.has(queue))
    if (fresh.length === 0) return
    for (const queue of fresh) told.add(queue)
    await notify(session, this.#db.schema, fresh.map(workIn))
  }

  async tellWorkers(messages: readonly Message[]): Promise<void> {
    if (messages.length > 0) await notify(this.#db, this.#db.schema, messages).catch(() => {})
  }

  #send(): void {
    const queues = [...this.#pending]
    this.#pending = new Set()
    this.#timer = undefined
    this.#lastSent = Date.now()
    // Only a hint: if it cannot be sent, polling finds the work.
    void this.tellWorkers(queues.map(workIn))
  }
}

const workIn = (queue: string): Message => ({ kind: 'work', queue })
