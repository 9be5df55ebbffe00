// The one loop of a process that claims jobs: it asks for all lanes at once, hands the jobs out, and sleeps until a
// wake-up, a due time or a poll.
import { type Clock, monotonicMs } from '../clock.ts'
import type { BreakerGate } from '../governance/breaker-gate.ts'
import type { Governor } from '../governance/governor.ts'
import type { Database } from '../store/db.ts'
import { type ClaimedJob, jobClaim, jobNextDue, lookAround, type Position } from '../store/job-claims.ts'
import { Alarm } from './alarm.ts'
import type { BackPressure } from './back-pressure.ts'
import { groupLanes, type Lane, type LaneGroup, type LaneQueue, type LaneType, type Share, shareOut } from './lane.ts'
import { type Claim, OpenClaims } from './open-claims.ts'
import { MAX_PREFETCH } from './prefetch.ts'
import { claimProbe } from './probe-claim.ts'

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
const LOOK_AROUND_EVERY_MS = 500
/** Another process is just claiming from the same governed queue: what it leaves is ours. */
const BUSY_MS = 3
const KEEP_TIME_EVERY_MS = 1_000
/** Something is due that we may not have: another process holds it, or nobody here knows its type. */
const UNCLAIMABLE_PAUSE_MS = 1_000

export interface FetcherServices {
  db: Database
  clock: Clock
  governor: Governor
  lanes: readonly Lane[]
  /** Which types may be claimed, as far as their services go. Default: all. */
  gate?: BreakerGate
  /** Undefined: nothing ever yields. */
  pressure?: BackPressure | undefined
  workerId(): string
  /** The lease can be relied on and there is room for results. */
  mayClaim(): boolean
  isListenTrusted(): boolean
  prefetchFor(lane: Lane): number
  mayTakeSuspect(): boolean
  /** How many runs of each type this process has. */
  runsByType(): ReadonlyMap<string, number>
  /** The claim's answer. `claim.workerId` is the one it was asked under. */
  onClaimed(jobs: readonly ClaimedJob[], claim: Claim, group: LaneGroup): void
  onIdle(queues: readonly string[]): void
  onError(during: string, error: unknown): void
}

export class Fetcher {
  readonly #services: FetcherServices
  readonly #groups: readonly LaneGroup[]
  readonly #queues: readonly LaneQueue[]
  readonly #claims: OpenClaims
  readonly #alarm = new Alarm()
  #isStopped = false
  #isDueKnown = false
  #lookedAroundMs = Number.NEGATIVE_INFINITY
  #timeKeptMs = Number.NEGATIVE_INFINITY
  /** Groups whose queues hold types that they cannot run: those are claimed type by type. */
  #byType = new Set<LaneGroup>()
  /** Groups that looked for a probe in vain, and when they may again. */
  readonly #noProbeUntilMs = new Map<LaneGroup, number>()
  #rotation = 0
  /** What the quickest claims took lately, apart from their jobs. */
  #leastMs = Number.POSITIVE_INFINITY
  /** The last claim found little. */
  #isQuiet = true
  #done: Promise<void> | undefined

  constructor(services: FetcherServices) {
    this.#services = services
    this.#claims = new OpenClaims({ ...services, onAnswered: (ms) => services.pressure?.claimTook(ms) })
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
    return this.#claims.has(runId)
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

  /** A job of this process becomes due then. */
  dueIn(delayMs: number): void {
    if (this.#alarm.setIn(delayMs)) this.nudge()
  }

  async #loop(): Promise<void> {
    let failures = 0
    while (!this.#isStopped) {
      if (this.#alarm.isDue()) this.wake()
      this.#alarm.listen()
      try {
        if (await this.#claims.releaseLost()) this.wake()
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
      if (!isWorthIt) return []
      const { pressure } = this.#services
      return pressure === undefined ? shareOut(lane, limit) : pressure.shareOut(lane, limit)
    })
  }

  async #claim(group: LaneGroup, wanted: readonly Share[]): Promise<void> {
    await this.#lookAround()
    const types = await this.#admit(group, wanted)
    const isGoverned = ({ queue }: Share) => this.#services.governor.isGoverned(queue.name, group.types)
    const plain = wanted.filter((share) => !isGoverned(share))
    if (plain.length > 0) await this.#claimPlain(group, plain, types)
    for (const share of wanted) if (!plain.includes(share)) await this.#claimGoverned(group, share, types)
  }

  async #claimGoverned(group: LaneGroup, { queue, limit }: Share, types: readonly LaneType[]): Promise<void> {
    const { governor } = this.#services
    const { wakeUps } = queue
    this.#isDueKnown = false
    const answer = await this.#claims.under(group, (claim) =>
      governor.claim({
        ...claim,
        queue: queue.name,
        slots: limit,
        types,
        mayTakeSuspect: this.#services.mayTakeSuspect(),
        here: this.#services.runsByType(),
      }),
    )
    if (answer.state === 'more' || queue.wakeUps !== wakeUps) return
    queue.isDrained = true
    if (answer.state === 'busy') {
      // When to look again is known, so nobody need be asked.
      this.#isDueKnown = true
      this.dueIn(BUSY_MS * (0.5 + Math.random()))
    } else if (Number.isFinite(answer.waitMs)) this.dueIn(answer.waitMs + 1)
  }

  async #claimPlain(group: LaneGroup, wanted: readonly Share[], types: readonly LaneType[]): Promise<void> {
    const wakeUps = wanted.map(({ queue }) => queue.wakeUps)
    const byType = this.#isByType(group) || types.length < group.types.length
    const sentAtMs = monotonicMs()
    const entries = wanted.map(({ queue }) => (byType ? undefined : queue.entry.behind(sentAtMs)))
    this.#isDueKnown = false
    const jobs = await this.#askFor(group, wanted, { types, byType, entries })
    const walkMs = byType ? 0 : this.#walkOf(monotonicMs() - sentAtMs, jobs.length)
    this.#isQuiet = jobs.length <= FEW_JOBS
    wanted.forEach(({ queue, limit }, i) => {
      const isFromHead = entries[i] === undefined
      const taken = wanted.length === 1 ? jobs : jobs.filter((job) => job.queue === queue.name)
      if (!byType) queue.entry.claimed(taken, { isFromHead, sentAtMs, walkMs })
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
    {
      types,
      byType,
      entries,
    }: { types: readonly LaneType[]; byType: boolean; entries: readonly (Position | undefined)[] },
  ): Promise<readonly ClaimedJob[]> {
    if (types.length === 0) return []
    const { db, clock, governor } = this.#services
    const queues = wanted.map(({ queue, limit }, i) => ({ queue: queue.name, limit, behind: entries[i] }))
    this.#rotation = (this.#rotation + 1) % Math.max(1, types.length)
    const { jobs } = await this.#claims.under(group, async (claim) => ({
      jobs: await jobClaim(db, clock.databaseNow(), {
        ...claim,
        queues,
        types: byType ? [...types.slice(this.#rotation), ...types.slice(0, this.#rotation)] : types,
        // Also while there is a backlog to prefetch: otherwise a suspect would wait for its end.
        suspectQueues: this.#services.mayTakeSuspect() ? queues.map(({ queue }) => queue) : [],
        byType,
        isQuiet: this.#isQuiet,
        rulesVersion: governor.rulesVersion,
      }),
    }))
    return jobs
  }

  /** The types of a group that no breaker holds back. What only one run may try is tried on the way. */
  async #admit(group: LaneGroup, wanted: readonly Share[]): Promise<readonly LaneType[]> {
    const { gate, governor } = this.#services
    if (gate === undefined) return group.types
    const { types, chances } = await gate.admit(group.types)
    if (monotonicMs() < (this.#noProbeUntilMs.get(group) ?? 0)) return types
    for (const chance of chances) {
      const queues = wanted.filter(({ lane }) => lane.freeSlots > 0).map(({ queue }) => queue.name)
      const about = { queues, mayTakeSuspect: this.#services.mayTakeSuspect(), here: this.#services.runsByType() }
      const taken = await this.#claims.under(group, (claim) =>
        claimProbe({ gate, governor }, chance, { ...claim, ...about }),
      )
      // Nothing waits for it, or another process has the probe: other work must not pay for asking again and again.
      if (taken.jobs.length === 0) this.#noProbeUntilMs.set(group, monotonicMs() + UNCLAIMABLE_PAUSE_MS)
    }
    return types
  }

  /**
   * Types we cannot run must not be scanned over: if any wait in our queues, we claim type by type. Nor are jobs of
   * tenants claimed as others are.
   */
  async #lookAround(): Promise<void> {
    if (monotonicMs() - this.#lookedAroundMs < LOOK_AROUND_EVERY_MS) return
    const { db, governor } = this.#services
    const { types, shared, rulesVersion } = await lookAround(db, namesOf(this.#queues))
    this.#byType = new Set(
      this.#groups.filter((group) => {
        const known = new Set(group.types.map(({ type }) => type))
        const queues = new Set(group.lanes.flatMap((lane) => namesOf(lane.queues)))
        return types.some(([queue, type]) => queues.has(queue) && !known.has(type))
      }),
    )
    for (const queue of shared) governor.sawTenants(queue)
    await governor.keepUp(rulesVersion)
    this.#lookedAroundMs = monotonicMs()
  }

  async #sleep(): Promise<void> {
    const drained = this.#queues.filter((queue) => queue.isDrained)
    if (drained.length === 0 || !this.#services.mayClaim()) {
      if (!this.#isStopped) await this.#alarm.pause(NOT_NOW_PAUSE_MS)
      return
    }
    const queues = namesOf(drained)
    this.#services.onIdle(queues)
    await this.#askNextDue(queues)
    this.#setPoll(drained)
    if (!this.#isStopped) await this.#alarm.sleep()
  }

  /** While other lanes are busy nobody sleeps; drained queues must not miss their due times and polls meanwhile. */
  async #keepTime(): Promise<void> {
    const drained = this.#queues.filter((queue) => queue.isDrained)
    if (drained.length === 0 || monotonicMs() - this.#timeKeptMs < KEEP_TIME_EVERY_MS) return
    this.#timeKeptMs = monotonicMs()
    this.#isDueKnown = false
    this.#alarm.listen()
    await this.#askNextDue(namesOf(drained))
    this.#setPoll(drained)
  }

  /** Nudges come and go; the poll is due when it is due. */
  #setPoll(drained: readonly LaneQueue[]): void {
    const poll = this.#services.isListenTrusted()
      ? BACKSTOP_MS
      : Math.min(...drained.map((queue) => queue.pollIntervalMs), BACKSTOP_MS)
    this.#alarm.setIn(poll)
  }

  /** Asked once after a claim that came back short. What is due already but was not given to us waits a moment. */
  async #askNextDue(queues: readonly string[]): Promise<void> {
    if (this.#alarm.isRung || this.#isDueKnown) return
    this.#isDueKnown = true
    const { db, clock } = this.#services
    const { waitMs, sharedQueues, rulesVersion } = await jobNextDue(db, clock.databaseNow(), queues)
    await this.#learn(sharedQueues, rulesVersion)
    if (waitMs !== null) this.#alarm.setIn(waitMs > 0 ? waitMs + 1 : UNCLAIMABLE_PAUSE_MS)
  }

  /** A queue that turns out to be governed was not claimed from as it should be: look again. */
  async #learn(sharedQueues: readonly string[], rulesVersion: number): Promise<void> {
    const { governor } = this.#services
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
