// Tells workers that there is work: those of this process at once, all others by NOTIFY.
//
// NOTIFY takes a lock on the whole server's notification queue at commit, so it is debounced per process and never
// sent per row, in a transaction that writes nothing: the lock is held until the commit is on disk. Inside a caller's
// transaction it is part of the insert, once per transaction and queue; so it is in the first insert after a silence, where
// nobody waits for the lock and an idle worker starts the sooner. It can be switched off.
import { randomUUID } from 'node:crypto'
import { monotonicMs } from '../clock.ts'
import type { Database } from '../store/db.ts'
import type { QueuedJob } from '../store/job-claims.ts'
import type { InsertOptions } from '../store/jobs.ts'
import type { WorkKey } from '../store/keyed-work.ts'
import { channelOf, encodeMessage, type Message, notify, notifyWorkflows } from '../store/notifications.ts'

const MIN_GAP_MS = 5
/** A process that has sent nothing for so long is not busy enqueueing. */
const SILENCE_MS = 10
/** What more keys than this have blocked is left to the sweep. */
const MAX_KEYS_TOLD = 100

export class Waker {
  readonly #db: Database
  readonly #isEnabled: boolean
  /** By which workers of this process know what they were told before. */
  readonly token = randomUUID().slice(0, 8)
  readonly #local = new Set<(queue: string, jobs: readonly QueuedJob[]) => void>()
  readonly #rules = new Set<() => void>()
  readonly #schedules = new Set<() => void>()
  #pending = new Set<string>()
  #timer: NodeJS.Immediate | NodeJS.Timeout | undefined
  #lastSentMs = 0

  constructor(db: Database, options: { isEnabled: boolean }) {
    this.#db = db
    this.#isEnabled = options.isEnabled
  }

  /** A worker of this process wants to hear of new work. Returns a function that ends it. */
  onLocal(listener: (queue: string, jobs: readonly QueuedJob[]) => void): () => void {
    this.#local.add(listener)
    return () => this.#local.delete(listener)
  }

  /** Something in this process remembers rules. Returns a function that ends it. */
  onRules(listener: () => void): () => void {
    this.#rules.add(listener)
    return () => this.#rules.delete(listener)
  }

  /** Tenants, pauses or limits were changed by this process. */
  rulesChanged(): void {
    for (const listener of this.#rules) listener()
  }

  /** A worker of this process wants to hear of changed schedules. Returns a function that ends it. */
  onSchedules(listener: () => void): () => void {
    this.#schedules.add(listener)
    return () => this.#schedules.delete(listener)
  }

  schedulesChanged(): void {
    for (const listener of this.#schedules) listener()
  }

  /** Work was committed to these queues. `returned`: jobs among it that may stand before what was claimed last. */
  wake(queues: Iterable<string>, returned: readonly QueuedJob[] = []): void {
    for (const queue of queues) {
      const jobs = returned.filter((job) => job.queue === queue)
      for (const listener of this.#local) listener(queue, jobs)
    }
    if (!this.#isEnabled) return
    for (const queue of queues) this.#pending.add(queue)
    if (this.#timer !== undefined) return
    const wait = this.#lastSentMs + MIN_GAP_MS - monotonicMs()
    this.#timer = wait > 0 ? setTimeout(() => void this.#send(), wait) : setImmediate(() => void this.#send())
  }

  /**
   * What an insert of our own may tell by itself: undefined, unless this process only enqueues and has been silent. One
   * with workers wakes them directly, and tells others afterwards.
   */
  tellAfterSilence(queues: Iterable<string>): InsertOptions | undefined {
    const now = monotonicMs()
    if (!this.#isEnabled || this.#local.size > 0 || this.#timer !== undefined) return undefined
    if (now < this.#lastSentMs + SILENCE_MS) return undefined
    this.#lastSentMs = now
    return this.tellAtCommit(queues)
  }

  /** What an insert in a caller's transaction tells: Postgres delivers it if and when that transaction commits. */
  tellAtCommit(queues: Iterable<string>, keys: readonly WorkKey[] = []): InsertOptions {
    if (!this.#isEnabled) return {}
    const work = [...queues].map((queue) => encodeMessage({ kind: 'work', queue }))
    const blocked = new Set(keys.map((key) => encodeMessage({ kind: 'key', key })))
    const messages = [...work, ...[...blocked].slice(0, MAX_KEYS_TOLD)]
    return { tell: { channel: channelOf(this.#db.schema), messages } }
  }

  /** Sends what is still pending: the last enqueues of a program that is about to close its connections. */
  async flush(): Promise<void> {
    if (this.#timer === undefined) return
    clearTimeout(this.#timer as NodeJS.Timeout)
    clearImmediate(this.#timer as NodeJS.Immediate)
    await this.#send()
  }

  async tellWorkers(messages: readonly Message[]): Promise<void> {
    if (messages.length > 0) await notify(this.#db, this.#db.schema, messages).catch(() => {})
  }

  /** Asks others to carry these workflows on, which this program does not know. */
  async tellWorkflows(ids: readonly string[]): Promise<void> {
    if (this.#isEnabled) await notifyWorkflows(this.#db, this.#db.schema, ids).catch(() => {})
  }

  async #send(): Promise<void> {
    const queues = [...this.#pending]
    this.#pending = new Set()
    this.#timer = undefined
    this.#lastSentMs = monotonicMs()
    // Only a hint: if it cannot be sent, polling finds the work.
    await this.tellWorkers(queues.map((queue) => ({ kind: 'work', queue, from: this.token })))
  }
}
