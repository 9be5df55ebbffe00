// The one loop of a process that claims jobs: it asks for all lanes that want some, and sleeps until a wake-up, a due time or
// a poll. How one claim is made is in claimer.ts.
import { monotonicMs } from '../clock.ts'
import { Beyond, LongWalk } from '../long-walk.ts'
import { jobNextDue, type NextDue, type Position, type QueueEntered } from '../store/job-claims.ts'
import { Alarm } from './alarm.ts'
import type { BackPressure } from './back-pressure.ts'
import { Claimer, type ClaimerServices } from './claimer.ts'
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
const KEEP_TIME_EVERY_MS = 1_000
/** The question for the next due time may have to walk over what nobody could vacuum. */
const MAX_UNASKED_MS = 5_000
/** Something is due that we may not have: another process holds it, or nobody here knows its type. */
const UNCLAIMABLE_PAUSE_MS = 1_000

export interface FetcherServices extends Omit<ClaimerServices, 'onAnswered'> {
  lanes: readonly Lane[]
  /** Undefined: nothing ever yields. */
  pressure?: BackPressure | undefined
  /** The lease can be relied on and there is room for results. */
  mayClaim(): boolean
  isListenTrusted(): boolean
  prefetchFor(lane: Lane): number
  onIdle(queues: readonly string[]): void
  onError(during: string, error: unknown): void
}

export class Fetcher {
  readonly #services: FetcherServices
  readonly #groups: readonly LaneGroup[]
  readonly #queues: readonly LaneQueue[]
  readonly #claimer: Claimer
  readonly #alarm = new Alarm()
  #isStopped = false
  #timeKeptMs = Number.NEGATIVE_INFINITY
  #askDueMs = Number.NEGATIVE_INFINITY
  readonly #askWalk = new LongWalk({ maxRestMs: MAX_UNASKED_MS })
  readonly #askBeyond = new Beyond({ msPerRow: 0 })
  #done: Promise<void> | undefined

  constructor(services: FetcherServices) {
    this.#services = services
    this.#groups = groupLanes(services.lanes)
    this.#queues = services.lanes.flatMap((lane) => lane.queues)
    const onAnswered = (ms: number) => services.pressure?.claimTook(ms)
    this.#claimer = new Claimer({ ...services, onAnswered }, this.#groups)
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
    return this.#claimer.isOpen(runId)
  }

  /** Something changed: a slot is free, the lease is back. */
  nudge(): void {
    this.#alarm.nudge()
  }

  /** There may be work in this queue, or in all. */
  wake(queue?: string): void {
    for (const each of this.#queues) if (queue === undefined || each.name === queue) each.wake()
    this.nudge()
  }

  /** These jobs wait in this queue, perhaps before what was claimed from it last. */
  goBackTo(queue: string, jobs: readonly Position[]): void {
    for (const each of this.#queues) if (each.name === queue) each.goBackTo(jobs)
  }

  /** A job of this process becomes due in this queue then. */
  dueIn(queue: string, delayMs: number): void {
    for (const each of this.#queues) if (each.name === queue && each.lookIn(delayMs)) this.nudge()
  }

  async #loop(): Promise<void> {
    let failures = 0
    while (!this.#isStopped) {
      const nowMs = monotonicMs()
      for (const queue of this.#queues) queue.wakeIfDue(nowMs)
      this.#alarm.listen()
      try {
        if (await this.#claimer.releaseLost()) this.wake()
        let hasClaimed = false
        for (const group of this.#groups) {
          const wanted = this.#wanted(group)
          if (wanted.length === 0) continue
          await this.#claimer.claim(group, wanted)
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
      if (!isWorthIt) return []
      const { pressure } = this.#services
      return pressure === undefined ? shareOut(lane, limit) : pressure.shareOut(lane, limit)
    })
  }

  async #sleep(): Promise<void> {
    const drained = this.#queues.filter((queue) => queue.isDrained)
    if (drained.length === 0 || !this.#services.mayClaim()) {
      if (!this.#isStopped) await this.#alarm.pause(NOT_NOW_PAUSE_MS)
      return
    }
    this.#services.onIdle(namesOf(drained))
    await this.#askNextDue(drained)
    this.#setPoll(drained)
    const nextLookMs = Math.min(...this.#queues.map(({ lookAtMs }) => lookAtMs))
    if (!this.#isStopped) await this.#alarm.pause(nextLookMs - monotonicMs())
  }

  /** While other lanes are busy nobody sleeps; drained queues must not miss their due times and polls meanwhile. */
  async #keepTime(): Promise<void> {
    const drained = this.#queues.filter((queue) => queue.isDrained)
    if (drained.length === 0 || monotonicMs() - this.#timeKeptMs < KEEP_TIME_EVERY_MS) return
    this.#timeKeptMs = monotonicMs()
    this.#alarm.listen()
    await this.#askNextDue(drained)
    this.#setPoll(drained)
  }

  /** Nudges come and go; the poll of a queue is due when it is due. */
  #setPoll(drained: readonly LaneQueue[]): void {
    const isTrusted = this.#services.isListenTrusted()
    for (const queue of drained) queue.lookIn(isTrusted ? BACKSTOP_MS : Math.min(queue.pollIntervalMs, BACKSTOP_MS))
  }

  /**
   * Each queue is asked for once after a claim from it that came back short: a question for all would find what came into a
   * queue since, before its poll. What is due already but was not given to us waits a moment.
   */
  async #askNextDue(drained: readonly LaneQueue[]): Promise<void> {
    const unknown = drained.filter(({ isDueKnown }) => !isDueKnown)
    if (this.#alarm.isRung || unknown.length === 0) return
    const askedAtMs = monotonicMs()
    if (askedAtMs < this.#askDueMs) {
      // It walked for long: what becomes due meanwhile is noticed then.
      for (const queue of unknown) queue.lookIn(this.#askDueMs - askedAtMs)
    } else {
      const { db, clock } = this.#services
      const answers = await jobNextDue(db, clock.databaseNow(), entered(unknown))
      const answeredAtMs = monotonicMs()
      this.#askDueMs = answeredAtMs + this.#askWalk.restAfter(this.#askBeyond.of(answeredAtMs - askedAtMs, 0))
      await this.#learn(answers)
      const waits = new Map(answers.map(({ queue, waitMs }) => [queue, waitMs]))
      for (const queue of unknown) {
        const waitMs = waits.get(queue.name) ?? Number.POSITIVE_INFINITY
        queue.lookIn(waitMs > 0 ? waitMs + 1 : UNCLAIMABLE_PAUSE_MS)
      }
    }
    for (const queue of unknown) queue.isDueKnown = true
  }

  /** A queue that turns out to be governed was not claimed from as it should be: look again. */
  async #learn(answers: readonly NextDue[]): Promise<void> {
    const { governor } = this.#services
    const sharedQueues = answers.filter(({ isShared }) => isShared).map(({ queue }) => queue)
    const { rulesVersion } = answers[0] as NextDue
    const isOld = rulesVersion !== governor.rulesVersion
    await governor.keepUp(rulesVersion)
    for (const { name, lane } of this.#places()) {
      const wasGoverned = !isOld && governor.isGoverned(name, lane.types)
      if (sharedQueues.includes(name)) governor.sawTenants(name)
      if (!wasGoverned && (isOld || governor.isGoverned(name, lane.types))) this.wake(name)
    }
  }

  #places(): { name: string; lane: Lane }[] {
    return this.#services.lanes.flatMap((lane) => lane.queues.map(({ name }) => ({ name, lane })))
  }
}

const namesOf = (queues: readonly LaneQueue[]): string[] => [...new Set(queues.map(({ name }) => name))]

/** Queues that are claimed from type by type are asked from their heads, as an entry of a type says nothing about the others. */
function entered(queues: readonly LaneQueue[]): QueueEntered[] {
  const nowMs = monotonicMs()
  const found = new Map<string, QueueEntered>()
  for (const queue of queues) {
    // Of several lanes: the others look further up when it is time for them.
    if (found.has(queue.name)) continue
    found.set(queue.name, { queue: queue.name, behind: queue.entry({ byType: false }).enter(nowMs).behind })
  }
  return [...found.values()]
}
