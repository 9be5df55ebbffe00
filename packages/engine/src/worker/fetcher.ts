// The one loop of a process that claims jobs: it asks for all lanes at once, hands the jobs out, and sleeps until a
// wake-up, a due time or a poll.
import { randomUUID } from 'node:crypto'
import { type Clock, MAX_TIMER_MS, monotonicMs } from '../clock.ts'
import type { Database } from '../store/db.ts'
import { type ClaimedJob, jobClaim, jobNextDue, jobReleaseRun, queueTypes } from '../store/jobs.ts'
import type { Lane } from './lane.ts'

/** With trusted wake-ups one slow poll for all queues is only a backstop. */
const BACKSTOP_MS = 30_000
const ERROR_PAUSE_MS = 1_000
const TYPES_EVERY_MS = 5_000
/** Something is due that we may not have: another process holds it, or nobody here knows its type. */
const UNCLAIMABLE_PAUSE_MS = 1_000

export interface FetcherServices {
  db: Database
  clock: Clock
  lanes: readonly Lane[]
  types: readonly { type: string; stuckAfterMs: number }[]
  workerId(): string
  /** The lease can be relied on and there is room for results. */
  mayClaim(): boolean
  isListenTrusted(): boolean
  prefetchFor(lane: Lane): number
  mayTakeSuspect(): boolean
  /** The claim's answer. `workerId` is the one it was asked under. */
  onClaimed(jobs: ClaimedJob[], claim: { runId: string; workerId: string }): void
  onIdle(queues: readonly string[]): void
  onError(during: string, error: unknown): void
}

export class Fetcher {
  readonly #services: FetcherServices
  /** Claims whose answer has not come: reconciliation must not mistake their jobs for strays. */
  readonly openClaims = new Set<string>()
  #isStopped = false
  #wake: (() => void) | undefined
  #isAwake = false
  #nextDueMs = Number.POSITIVE_INFINITY
  #isDueKnown = false
  #typesCheckedMs = Number.NEGATIVE_INFINITY
  #byType = false
  #rotation = 0
  #done: Promise<void> = Promise.resolve()

  constructor(services: FetcherServices) {
    this.#services = services
  }

  start(): void {
    this.#done = this.#loop()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.nudge()
    await this.#done
  }

  /** Something changed: a slot is free, the lease is back. */
  nudge(): void {
    this.#isAwake = true
    this.#wake?.()
  }

  /** There may be work in this queue, or in all. */
  wake(queue?: string): void {
    for (const lane of this.#services.lanes) {
      if (queue !== undefined && lane.queue !== queue) continue
      lane.isDrained = false
      lane.wakeUps++
    }
    this.nudge()
  }

  /** A job of this process becomes due then. */
  dueIn(delayMs: number): void {
    const at = monotonicMs() + delayMs
    if (at >= this.#nextDueMs) return
    this.#nextDueMs = at
    this.nudge()
  }

  async #loop(): Promise<void> {
    while (!this.#isStopped) {
      this.#isAwake = false
      const wanted = this.#wanted()
      if (wanted.length === 0) await this.#sleep()
      else if (!(await this.#claim(wanted)) && !this.#isStopped) await this.#pause(ERROR_PAUSE_MS)
    }
  }

  #wanted(): { lane: Lane; limit: number }[] {
    if (!this.#services.mayClaim()) return []
    return this.#services.lanes
      .filter((lane) => !lane.isDrained)
      .map((lane) => ({ lane, limit: lane.freeSlots + this.#services.prefetchFor(lane) }))
      .filter(({ lane, limit }) => limit > 0 && (lane.buffer.length === 0 || limit > lane.buffer.length))
  }

  /** False when the database did not answer. */
  async #claim(wanted: readonly { lane: Lane; limit: number }[]): Promise<boolean> {
    const { db, clock, types } = this.#services
    this.#isDueKnown = false
    const claim = { runId: randomUUID(), workerId: this.#services.workerId() }
    const wakeUps = wanted.map(({ lane }) => lane.wakeUps)
    const withFreeSlot = wanted.filter(({ lane }) => lane.freeSlots > 0).map(({ lane }) => lane.queue)
    this.openClaims.add(claim.runId)
    try {
      await this.#lookAtTypes()
      const rotated = this.#byType ? [...types.slice(this.#rotation), ...types.slice(0, this.#rotation)] : types
      this.#rotation = (this.#rotation + 1) % Math.max(1, types.length)
      const jobs = await jobClaim(db, clock.databaseNow(), {
        ...claim,
        queues: wanted.map(({ lane, limit }) => ({ queue: lane.queue, limit })),
        types: rotated,
        suspectQueues: this.#services.mayTakeSuspect() ? withFreeSlot : [],
        byType: this.#byType,
      })
      wanted.forEach(({ lane, limit }, i) => {
        const isShort = jobs.filter((job) => job.queue === lane.queue).length < limit
        if (isShort && lane.wakeUps === wakeUps[i]) lane.isDrained = true
      })
      if (jobs.length > 0) this.#services.onClaimed(jobs, claim)
      this.openClaims.delete(claim.runId)
      return true
    } catch (error) {
      this.#services.onError('claim', error)
      void this.#release(claim)
      return false
    }
  }

  /** The answer was lost, the jobs may be ours: give them back, for as long as it takes. */
  async #release(claim: { runId: string; workerId: string }): Promise<void> {
    const { db, clock } = this.#services
    while (claim.workerId === this.#services.workerId()) {
      await new Promise((resolve) => setTimeout(resolve, ERROR_PAUSE_MS / 2))
      try {
        await jobReleaseRun(db, clock.databaseNow(), claim)
        this.wake()
        break
      } catch (error) {
        this.#services.onError('release a lost claim', error)
        if (this.#isStopped) break
      }
    }
    this.openClaims.delete(claim.runId)
  }

  /** Types we cannot run must not be scanned over: if any wait in our queues, we claim type by type. */
  async #lookAtTypes(): Promise<void> {
    const now = monotonicMs()
    if (now - this.#typesCheckedMs < TYPES_EVERY_MS) return
    this.#typesCheckedMs = now
    const known = new Set(this.#services.types.map(({ type }) => type))
    const queues = this.#services.lanes.map((lane) => lane.queue)
    const present = await queueTypes(this.#services.db, queues)
    this.#byType = present.some(({ type }) => !known.has(type))
  }

  async #sleep(): Promise<void> {
    const drained = this.#services.lanes.filter((lane) => lane.isDrained)
    if (drained.length === 0 || !this.#services.mayClaim()) return this.#pause(ERROR_PAUSE_MS / 2)
    const queues = drained.map((lane) => lane.queue)
    this.#services.onIdle(queues)
    await this.#askNextDue(queues)
    const poll = this.#services.isListenTrusted()
      ? BACKSTOP_MS
      : Math.min(...drained.map((lane) => lane.pollIntervalMs), BACKSTOP_MS)
    const now = monotonicMs()
    const dueIn = this.#nextDueMs - now
    await this.#pause(Math.min(poll, Math.max(0, dueIn)))
    if (monotonicMs() - now < Math.min(poll, dueIn)) return
    this.#nextDueMs = Number.POSITIVE_INFINITY
    this.wake()
  }

  /** Asked once after a claim that came back short. What is due already but was not given to us waits for the poll. */
  async #askNextDue(queues: readonly string[]): Promise<void> {
    if (this.#isAwake || this.#isDueKnown) return
    this.#isDueKnown = true
    try {
      const waitMs = await jobNextDue(this.#services.db, this.#services.clock.databaseNow(), queues)
      const wait = waitMs === null ? Number.POSITIVE_INFINITY : waitMs > 0 ? waitMs + 1 : UNCLAIMABLE_PAUSE_MS
      this.#nextDueMs = Math.min(this.#nextDueMs, monotonicMs() + wait)
    } catch (error) {
      this.#services.onError('next due', error)
      this.#isDueKnown = false
    }
  }

  async #pause(ms: number): Promise<void> {
    if (this.#isAwake || this.#isStopped) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.min(ms, MAX_TIMER_MS))
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    this.#wake = undefined
  }
}
