// The one loop of a process that claims jobs: it asks for all lanes at once, hands the jobs out, and sleeps until a
// wake-up, a due time or a poll.
import { randomUUID } from 'node:crypto'
import { type Clock, MAX_TIMER_MS, monotonicMs } from '../clock.ts'
import { DatabaseUnavailable } from '../errors.ts'
import type { Database } from '../store/db.ts'
import { type ClaimedJob, jobClaim, jobNextDue, jobReleaseRun, type Position, queueTypes } from '../store/jobs.ts'
import { groupLanes, type Lane, type LaneGroup, type LaneQueue, type Share, shareOut } from './lane.ts'
import { MAX_PREFETCH } from './prefetch.ts'

/** With trusted wake-ups one slow poll for all queues is only a backstop. */
const BACKSTOP_MS = 60_000
const ERROR_PAUSE_MS = 1_000
/** A single failure is mostly a cut connection: what its claim may have taken should not wait long. */
const FIRST_ERROR_PAUSE_MS = 50
const NOT_NOW_PAUSE_MS = 500
/** Per lane. Half of what may be prefetched: while one half runs, the other is claimed. */
const MAX_CLAIM = MAX_PREFETCH / 2
/** Worth a statement however much is in the buffer; smaller claims wait until there is less. */
const FULL_CLAIM = MAX_CLAIM / 2
const FEW_JOBS = 10
const MS_PER_JOB = 0.02
const TYPES_EVERY_MS = 5_000
const KEEP_TIME_EVERY_MS = 1_000
/** Something is due that we may not have: another process holds it, or nobody here knows its type. */
const UNCLAIMABLE_PAUSE_MS = 1_000

export interface Claim {
  runId: string
  workerId: string
}

export interface FetcherServices {
  db: Database
  clock: Clock
  lanes: readonly Lane[]
  workerId(): string
  /** The lease can be relied on and there is room for results. */
  mayClaim(): boolean
  isListenTrusted(): boolean
  prefetchFor(lane: Lane): number
  mayTakeSuspect(): boolean
  /** The claim's answer. `claim.workerId` is the one it was asked under. */
  onClaimed(jobs: ClaimedJob[], claim: Claim, group: LaneGroup): void
  onIdle(queues: readonly string[]): void
  onError(during: string, error: unknown): void
}

export class Fetcher {
  readonly #services: FetcherServices
  readonly #groups: readonly LaneGroup[]
  readonly #queues: readonly LaneQueue[]
  /** Claims whose answer has not come: reconciliation must not mistake their jobs for strays. */
  readonly #open = new Set<string>()
  /** Claims whose answer was lost: what they took is given back. */
  readonly #lost = new Map<string, Claim>()
  #isStopped = false
  #wake: (() => void) | undefined
  #isAwake = false
  #nextDueMs = Number.POSITIVE_INFINITY
  #isDueKnown = false
  #typesCheckedMs = Number.NEGATIVE_INFINITY
  #timeKeptMs = Number.NEGATIVE_INFINITY
  /** Groups whose queues hold types that they cannot run: those are claimed type by type. */
  #byType = new Set<LaneGroup>()
  #rotation = 0
  /** What the quickest claims took lately, apart from their jobs. */
  #leastMs = Number.POSITIVE_INFINITY
  /** The last claim found little. */
  #isQuiet = true
  #done: Promise<void> | undefined

  constructor(services: FetcherServices) {
    this.#services = services
    this.#groups = groupLanes(services.lanes)
    this.#queues = services.lanes.flatMap((lane) => lane.queues)
  }

  start(): void {
    this.#done ??= this.#loop()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.nudge()
    await this.#done
  }

  /** Is the answer to this claim still to come, or lost? */
  isOpen(runId: string): boolean {
    return this.#open.has(runId) || this.#lost.has(runId)
  }

  /** Something changed: a slot is free, the lease is back. */
  nudge(): void {
    this.#isAwake = true
    this.#wake?.()
  }

  /** There may be work in this queue, or in all. */
  wake(queue?: string): void {
    for (const each of this.#queues) if (queue === undefined || each.name === queue) each.wake()
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
    let failures = 0
    while (!this.#isStopped) {
      this.#wakeIfDue()
      this.#isAwake = false
      try {
        await this.#releaseLost()
        let hasClaimed = false
        for (const group of this.#groups) {
          const wanted = this.#wanted(group)
          if (wanted.length === 0) continue
          await this.#claim(group, wanted)
          hasClaimed = true
        }
        failures = 0
        if (hasClaimed) await this.#keepTime()
        else await this.#sleep()
      } catch (error) {
        this.#services.onError('claim', error)
        // A nudge must not cut this short: a busy process would turn an outage into a storm.
        await new Promise((resolve) => setTimeout(resolve, failures++ === 0 ? FIRST_ERROR_PAUSE_MS : ERROR_PAUSE_MS))
      }
    }
  }

  #wanted(group: LaneGroup): Share[] {
    if (!this.#services.mayClaim()) return []
    return group.lanes.flatMap((lane) => {
      const limit = Math.min(lane.freeSlots + this.#services.prefetchFor(lane), lane.batchSize, MAX_CLAIM)
      const isWorthIt = limit > 0 && (limit > lane.buffer.length || limit >= FULL_CLAIM)
      return isWorthIt ? shareOut(lane, limit) : []
    })
  }

  async #claim(group: LaneGroup, wanted: readonly Share[]): Promise<void> {
    await this.#lookAtTypes()
    const wakeUps = wanted.map(({ queue }) => queue.wakeUps)
    const sentAtMs = monotonicMs()
    const entries = wanted.map(({ queue }) => (this.#isByType(group) ? undefined : queue.entry.behind(sentAtMs)))
    this.#isDueKnown = false
    const jobs = await this.#askFor(group, wanted, entries)
    const walkMs = this.#walkOf(monotonicMs() - sentAtMs, jobs.length)
    this.#isQuiet = jobs.length <= FEW_JOBS
    wanted.forEach(({ queue, limit }, i) => {
      const isFromHead = entries[i] === undefined
      const taken = wanted.length === 1 ? jobs : jobs.filter((job) => job.queue === queue.name)
      if (!this.#isByType(group)) queue.entry.claimed(taken, { isFromHead, sentAtMs, walkMs })
      if (taken.length >= limit || queue.wakeUps !== wakeUps[i]) return
      queue.isDrained = true
      // Behind the entry, that is: the head is still to be looked at.
      if (!isFromHead) this.dueIn(queue.entry.untilHead(monotonicMs()))
    })
  }

  /** What a claim took beyond the way to the server and back, and beyond its jobs. */
  #walkOf(tookMs: number, jobs: number): number {
    const restMs = tookMs - jobs * MS_PER_JOB
    this.#leastMs = Math.min(restMs, this.#leastMs * 1.01 + 0.01)
    return restMs - this.#leastMs
  }

  #isByType(group: LaneGroup): boolean {
    return group.isSelective || this.#byType.has(group)
  }

  async #askFor(
    group: LaneGroup,
    wanted: readonly Share[],
    entries: readonly (Position | undefined)[],
  ): Promise<ClaimedJob[]> {
    const { db, clock } = this.#services
    const { types } = group
    const claim = { runId: randomUUID(), workerId: this.#services.workerId() }
    const queues = wanted.map(({ queue, limit }, i) => ({ queue: queue.name, limit, behind: entries[i] }))
    const byType = this.#isByType(group)
    this.#rotation = (this.#rotation + 1) % Math.max(1, types.length)
    this.#open.add(claim.runId)
    try {
      const jobs = await jobClaim(db, clock.databaseNow(), {
        ...claim,
        queues,
        types: byType ? [...types.slice(this.#rotation), ...types.slice(0, this.#rotation)] : types,
        // Also while there is a backlog to prefetch: otherwise a suspect would wait for its end.
        suspectQueues: this.#services.mayTakeSuspect() ? queues.map(({ queue }) => queue) : [],
        byType,
        isQuiet: this.#isQuiet,
      })
      if (jobs.length > 0) this.#services.onClaimed(jobs, claim, group)
      return jobs
    } catch (error) {
      // Unless it was never sent, it may have taken jobs that nobody here knows of.
      if (!(error instanceof DatabaseUnavailable)) this.#lost.set(claim.runId, claim)
      throw error
    } finally {
      this.#open.delete(claim.runId)
    }
  }

  /** Throws while the database cannot be asked, so that nothing is claimed before the lost is given back. */
  async #releaseLost(): Promise<void> {
    const { db, clock } = this.#services
    for (const claim of [...this.#lost.values()]) {
      // Under another worker id they are orphans, and the rescuers' business.
      if (claim.workerId === this.#services.workerId()) await jobReleaseRun(db, clock.databaseNow(), claim)
      this.#lost.delete(claim.runId)
      this.wake()
    }
  }

  /** Types we cannot run must not be scanned over: if any wait in our queues, we claim type by type. */
  async #lookAtTypes(): Promise<void> {
    if (monotonicMs() - this.#typesCheckedMs < TYPES_EVERY_MS) return
    const present = await queueTypes(this.#services.db, namesOf(this.#queues))
    this.#byType = new Set(
      this.#groups.filter((group) => {
        const known = new Set(group.types.map(({ type }) => type))
        const queues = new Set(group.lanes.flatMap((lane) => namesOf(lane.queues)))
        return present.some(({ queue, type }) => queues.has(queue) && !known.has(type))
      }),
    )
    this.#typesCheckedMs = monotonicMs()
  }

  async #sleep(): Promise<void> {
    const drained = this.#queues.filter((queue) => queue.isDrained)
    if (drained.length === 0 || !this.#services.mayClaim()) {
      await this.#pause(NOT_NOW_PAUSE_MS)
      return
    }
    const queues = namesOf(drained)
    this.#services.onIdle(queues)
    await this.#askNextDue(queues)
    this.#setPoll(drained)
    await this.#pause(this.#nextDueMs - monotonicMs())
  }

  /** While other lanes are busy nobody sleeps; drained queues must not miss their due times and polls meanwhile. */
  async #keepTime(): Promise<void> {
    const drained = this.#queues.filter((queue) => queue.isDrained)
    if (drained.length === 0 || monotonicMs() - this.#timeKeptMs < KEEP_TIME_EVERY_MS) return
    this.#timeKeptMs = monotonicMs()
    this.#isDueKnown = false
    this.#isAwake = false
    await this.#askNextDue(namesOf(drained))
    this.#setPoll(drained)
  }

  /** Nudges come and go; the poll is due when it is due. */
  #setPoll(drained: readonly LaneQueue[]): void {
    const poll = this.#services.isListenTrusted()
      ? BACKSTOP_MS
      : Math.min(...drained.map((queue) => queue.pollIntervalMs), BACKSTOP_MS)
    this.#nextDueMs = Math.min(this.#nextDueMs, monotonicMs() + poll)
  }

  #wakeIfDue(): void {
    if (monotonicMs() < this.#nextDueMs) return
    this.#nextDueMs = Number.POSITIVE_INFINITY
    this.wake()
  }

  /** Asked once after a claim that came back short. What is due already but was not given to us waits a moment. */
  async #askNextDue(queues: readonly string[]): Promise<void> {
    if (this.#isAwake || this.#isDueKnown) return
    this.#isDueKnown = true
    const waitMs = await jobNextDue(this.#services.db, this.#services.clock.databaseNow(), queues)
    const wait = waitMs === null ? Number.POSITIVE_INFINITY : waitMs > 0 ? waitMs + 1 : UNCLAIMABLE_PAUSE_MS
    this.#nextDueMs = Math.min(this.#nextDueMs, monotonicMs() + wait)
  }

  /** Until the time is over or something wakes us. */
  async #pause(ms: number): Promise<void> {
    if (this.#isAwake || this.#isStopped) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.min(Math.max(0, ms), MAX_TIMER_MS))
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    this.#wake = undefined
  }
}

const namesOf = (queues: readonly LaneQueue[]): string[] => [...new Set(queues.map(({ name }) => name))]
