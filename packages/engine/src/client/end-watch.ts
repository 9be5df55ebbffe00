// Watches jobs until they end, for all who wait in this client together.
//
// Three things make it look: an event of this process, a message from another one, and polling behind them at growing
// intervals, which alone would do. One look, in one statement, serves everybody who is due; at most one is under way.
import { after, monotonicMs } from '../clock.ts'
import { ClientClosed, JobNotFound, ResultTimeout } from '../errors.ts'
import type { Events } from '../events.ts'
import { isTransient } from '../sql-state.ts'
import { isConnectionFailure, type Session } from '../store/db.ts'
import { type EndedJob, lookAt, type Seen } from '../store/ended-jobs.ts'
import { notifyAwaited } from '../store/notifications.ts'
import type { JobProgress } from '../store/progress.ts'
import { onEnded } from './ended-events.ts'
import type { EndedListener } from './ended-listener.ts'

const POLL_MS = [50, 100, 250, 500, 1_000] as const
const LOOK_DEADLINE_MS = 5_000
/** Workers that started meanwhile, and those that forgot, must hear it too. */
const ANNOUNCE_MS = 10_000

interface Waiter {
  /** The type the job must have, if the caller named one. */
  type: string | undefined
  resolve(ended: EndedJob | 'gone'): void
  reject(error: unknown): void
  onProgress: ((progress: JobProgress) => void) | undefined
  /** When the progress was stored that it was told last. */
  toldAtMs: number
}

interface Watched {
  readonly id: string
  readonly waiters: Set<Waiter>
  /** We have seen it live, so if it is nowhere now, it has ended. */
  wasLive: boolean
  looks: number
  lookAtMs: number
  announceAtMs: number
  trouble: unknown
}

export interface WaitOptions {
  type: string | undefined
  timeoutMs: number
  signal: AbortSignal | undefined
  onProgress?: ((progress: JobProgress) => void) | undefined
}

export interface EndWatchServices {
  db: Session & { readonly schema: string }
  events: Events
  /** Undefined: this client does not use NOTIFY. */
  listener: EndedListener | undefined
}

export class EndWatch {
  readonly #services: EndWatchServices
  readonly #watched = new Map<string, Watched>()
  readonly #startMs = monotonicMs()
  #timer: { atMs: number; cancel: () => void } | undefined
  #isLooking = false
  #isClosed = false
  #stopListening: (() => void) | undefined

  constructor(services: EndWatchServices) {
    this.#services = services
  }

  /** How the job ended, or 'gone' if it ended without a trace. */
  until(id: string, { type, timeoutMs, signal, onProgress }: WaitOptions): Promise<EndedJob | 'gone'> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(new ClientClosed(id))
      const watched = this.#watch(id)
      const waiter: Waiter = {
        type,
        onProgress,
        toldAtMs: 0,
        resolve: (ended) => leave(() => resolve(ended)),
        reject: (e) => leave(() => reject(e)),
      }
      const stopClock = after(timeoutMs, () => waiter.reject(new ResultTimeout(id, timeoutMs, watched.trouble)))
      const onAbort = () => waiter.reject(signal?.reason)
      signal?.addEventListener('abort', onAbort)
      const leave = (answer: () => void) => {
        stopClock()
        signal?.removeEventListener('abort', onAbort)
        this.#leave(watched, waiter)
        answer()
      }
      watched.waiters.add(waiter)
    })
  }

  /** These jobs may have ended: look now. */
  heard(ids: Iterable<string>): void {
    let isOurs = false
    for (const id of ids) {
      const watched = this.#watched.get(id)
      if (watched === undefined) continue
      watched.lookAtMs = 0
      isOurs = true
    }
    if (isOurs) this.#wakeAt(0)
  }

  /** Whatever was said until now may have been missed. */
  heardNothingBefore(): void {
    this.heard(this.#watched.keys())
  }

  /** Whoever still waits is told that nobody will answer. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const { id, waiters } of this.#watched.values()) for (const each of waiters) each.reject(new ClientClosed(id))
    await this.#services.listener?.close()
  }

  #watch(id: string): Watched {
    let watched = this.#watched.get(id)
    if (watched === undefined) {
      watched = { id, waiters: new Set(), wasLive: false, looks: 0, lookAtMs: 0, announceAtMs: 0, trouble: undefined }
      this.#watched.set(id, watched)
      this.#stopListening ??= onEnded(this.#services.events, (ended) => this.heard([ended]))
    }
    watched.looks = 0
    watched.lookAtMs = 0
    this.#wakeAt(0)
    return watched
  }

  #leave(watched: Watched, waiter: Waiter): void {
    watched.waiters.delete(waiter)
    if (watched.waiters.size > 0) return
    this.#watched.delete(watched.id)
    if (this.#watched.size > 0) return
    this.#stopListening?.()
    this.#stopListening = undefined
    this.#timer?.cancel()
    this.#timer = undefined
    this.#services.listener?.closeSoon()
  }

  #wakeAt(atMs: number): void {
    if (this.#isLooking || (this.#timer !== undefined && this.#timer.atMs <= atMs)) return
    this.#timer?.cancel()
    // These timers keep the process alive, as a pending answer should.
    const delayMs = atMs - this.#nowMs()
    const timer = delayMs > 0 ? setTimeout(() => void this.#look(), delayMs) : setImmediate(() => void this.#look())
    const cancel = () => {
      clearTimeout(timer as NodeJS.Timeout)
      clearImmediate(timer as NodeJS.Immediate)
    }
    this.#timer = { atMs, cancel }
  }

  async #look(): Promise<void> {
    this.#timer = undefined
    this.#isLooking = true
    const due = this.#takeDue()
    try {
      const ids = due.map((watched) => watched.id)
      const seen = ids.length === 0 ? new Map<string, Seen>() : await lookAt(this.#services.db, ids, LOOK_DEADLINE_MS)
      for (const watched of due) this.#answer(watched, seen.get(watched.id))
      this.#announce(due)
    } catch (error) {
      this.#failed(due, error)
    }
    this.#isLooking = false
    if (this.#watched.size === 0) return
    let next = Number.POSITIVE_INFINITY
    for (const { lookAtMs } of this.#watched.values()) if (lookAtMs < next) next = lookAtMs
    this.#wakeAt(next)
  }

  /** Their next look is set before this one is sent: what is heard meanwhile may call for another at once. */
  #takeDue(): Watched[] {
    const now = this.#nowMs()
    const due = [...this.#watched.values()].filter(({ lookAtMs }) => lookAtMs <= now)
    for (const watched of due) {
      const stepMs = POLL_MS[Math.min(watched.looks++, POLL_MS.length - 1)] as number
      // At whole multiples of the step, so that all who have waited for long are looked at together.
      watched.lookAtMs = (Math.floor(now / stepMs) + 1) * stepMs
    }
    return due
  }

  #answer(watched: Watched, seen: Seen | undefined): void {
    watched.trouble = undefined
    if (seen === undefined) {
      const missing = 'it was never enqueued, its transaction has not committed, or nothing is kept of it any more.'
      for (const each of watched.waiters) {
        if (watched.wasLive) each.resolve('gone')
        else each.reject(new JobNotFound(watched.id, missing))
      }
      return
    }
    for (const each of watched.waiters) {
      if (each.type !== undefined && each.type !== seen.type)
        each.reject(
          new JobNotFound(watched.id, `its type is "${seen.type}", not "${each.type}". Pass its own contract.`),
        )
      else if (seen.ended !== undefined) each.resolve(seen.ended)
      else if (seen.progress !== null) tellProgress(each, seen.progress)
    }
    watched.wasLive = true
  }

  /** Says which jobs are awaited, to workers that will then say when they end. */
  #announce(looked: readonly Watched[]): void {
    const { db, listener } = this.#services
    const now = this.#nowMs()
    const open = looked.filter(({ waiters, announceAtMs }) => waiters.size > 0 && announceAtMs <= now)
    if (open.length === 0 || listener === undefined) return
    listener.open()
    for (const watched of open) watched.announceAtMs = now + ANNOUNCE_MS
    const ids = open.map(({ id }) => id)
    notifyAwaited(db, db.schema, ids).catch(() => {})
  }

  /** An outage passes, and the answer may still come in time. Anything else will not get better. */
  #failed(due: readonly Watched[], error: unknown): void {
    const isPassing = isConnectionFailure(error) || isTransient(error)
    for (const watched of due) {
      watched.trouble = error
      if (!isPassing) for (const each of watched.waiters) each.reject(error)
    }
  }

  /** Counted from our own start, so that the clients of one machine do not all look at the same moment. */
  #nowMs(): number {
    return monotonicMs() - this.#startMs
  }
}

/** Each once. An error of the callback ends the waiting, and is the answer. */
function tellProgress(waiter: Waiter, progress: JobProgress): void {
  const atMs = progress.at.getTime()
  if (waiter.onProgress === undefined || waiter.toldAtMs === atMs) return
  waiter.toldAtMs = atMs
  try {
    waiter.onProgress(progress)
  } catch (error) {
    waiter.reject(error)
  }
}
