// Tells other clients of events that they should hear wherever they are raised, and hears what those raise.
//
// The client that raises one writes a row, at most one a minute for each subject in all processes. A client with a listener
// for such an event reads the new rows every other second; one without asks the database nothing. A reader looks back a little
// further than its last reading and remembers what it has heard, because a row can be committed late.
import { randomUUID } from 'node:crypto'
import { after, monotonicMs } from '../clock.ts'
import { type Events, type MillraceEvents, SHARED_EVENTS, type SharedEvent } from '../events.ts'
import type { Session } from '../store/db.ts'
import { type Notice, noticeList, noticeRaise } from '../store/notices.ts'

const READ_EVERY_MS = 2_000
/** A new listener also hears the last minute. */
const LOOK_BACK_MS = 60_000
/** A row is committed so long after its time at most. */
const LATE_MS = 5_000
/** A subject that was told is not told again so soon. */
const QUIET_MS = 60_000
const MEMORY_MS = 10 * LOOK_BACK_MS
const MAX_SUBJECTS = 10_000
/** While so many wait to be written, no others about a tenant join them: its next enqueue raises the warning again. */
const MAX_WAITING = 100

export interface NoticeServices {
  db: Session
  events: Events
  onError(during: string, error: unknown): void
}

export class Notices {
  readonly #services: NoticeServices
  readonly #origin = randomUUID()
  /** Until when a subject is not written again, the oldest first. */
  readonly #quiet = new Map<string, number>()
  /** When a notice was heard, by its id. */
  readonly #heard = new Map<string, number>()
  #writing: Promise<void> = Promise.resolve()
  #waiting = 0
  #isReading = false
  #isClosed = false
  #readAtMs: number | undefined
  #cancelTimer: () => void = () => {}

  constructor(services: NoticeServices) {
    this.#services = services
  }

  /** This client has raised an event, and its own listeners have heard it. */
  raised<Name extends SharedEvent>(event: Name, facts: MillraceEvents[Name]): void {
    const subject = subjectOf(facts)
    const nowMs = monotonicMs()
    if (this.#isClosed || this.#isQuiet(event, facts, nowMs)) return
    if (subject !== '' && this.#waiting >= MAX_WAITING) return
    this.#hush(`${event} ${subject}`, nowMs + QUIET_MS)
    this.#waiting++
    const { db, onError } = this.#services
    const write = () => noticeRaise(db, { event, subject, facts, origin: this.#origin }, QUIET_MS)
    this.#writing = this.#writing
      .then(write)
      .catch((error: unknown) => onError('tell others of an event', error))
      .finally(() => this.#waiting--)
  }

  /** A listener for such events was added. Harmless when there are some already. */
  listen(): void {
    if (this.#isReading || this.#isClosed) return
    this.#isReading = true
    this.#cancelTimer = after(0, () => void this.#read())
  }

  /** Writes what is still to be written. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancelTimer()
    await this.#writing
  }

  async #read(): Promise<void> {
    const { db, events, onError } = this.#services
    if (!SHARED_EVENTS.some((name) => events.has(name))) {
      this.#isReading = false
      this.#readAtMs = undefined
      return
    }
    const askedAtMs = monotonicMs()
    try {
      const sinceMs = this.#readAtMs === undefined ? LOOK_BACK_MS : askedAtMs - this.#readAtMs + LATE_MS
      for (const notice of await noticeList(db, this.#origin, sinceMs)) this.#hear(notice, askedAtMs)
      this.#readAtMs = askedAtMs
      for (const [id, atMs] of this.#heard) if (atMs < askedAtMs - MEMORY_MS) this.#heard.delete(id)
    } catch (error) {
      if (!this.#isClosed) onError('read what others raised', error)
    }
    if (!this.#isClosed) this.#cancelTimer = after(READ_EVERY_MS, () => void this.#read())
  }

  #hear({ id, event, facts }: Notice, nowMs: number): void {
    const isNews = !this.#heard.has(id)
    this.#heard.set(id, nowMs)
    const name = SHARED_EVENTS.find((each) => each === event)
    // What this client has raised itself, its listeners know.
    if (isNews && name !== undefined && !this.#isQuiet(name, facts, nowMs))
      this.#services.events.deliver(name, facts as never)
  }

  #hush(key: string, untilMs: number): void {
    this.#quiet.delete(key)
    this.#quiet.set(key, untilMs)
    const [oldest] = this.#quiet.keys()
    if (this.#quiet.size > MAX_SUBJECTS && oldest !== undefined) this.#quiet.delete(oldest)
  }

  #isQuiet(event: SharedEvent, facts: object, nowMs: number): boolean {
    return nowMs < (this.#quiet.get(`${event} ${subjectOf(facts)}`) ?? 0)
  }
}

/** Two events about the same are one notice. */
function subjectOf(facts: object): string {
  if ('tenant' in facts && 'queue' in facts) return JSON.stringify([facts.tenant, facts.queue])
  return 'name' in facts && 'subject' in facts ? JSON.stringify([facts.name, facts.subject]) : ''
}
