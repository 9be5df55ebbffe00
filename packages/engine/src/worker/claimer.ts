// One claim for the lanes of a group: past the breakers, as the rules of its queues demand, and under a run id that is
// remembered until the answer is here.
import { type Clock, monotonicMs } from '../clock.ts'
import type { BreakerGate } from '../governance/breaker-gate.ts'
import type { Governor } from '../governance/governor.ts'
import { inTurn, runsHere } from '../governance/process-runs.ts'
import { Beyond, LongWalk } from '../long-walk.ts'
import type { Entry } from '../queue-entry.ts'
import type { Database } from '../store/db.ts'
import { type ClaimedJob, FEW_JOBS, jobClaim, lookAround, type TypeInQueue } from '../store/job-claims.ts'
import type { LaneGroup, LaneType, Share } from './lane.ts'
import { type Claim, OpenClaims } from './open-claims.ts'
import { claimProbe } from './probe-claim.ts'

const MS_PER_JOB = 0.01
const LOOK_AROUND_EVERY_MS = 500
/** How long a type that nobody here knows, or a first job of a tenant, may go unseen because the look is a long walk. */
const MAX_UNSEEN_MS = 5_000
/** Another process is just claiming from the same governed queue: what it leaves is ours. */
const BUSY_MS = 3
/** Nothing waits for a probe, or another process has it. */
const NO_PROBE_PAUSE_MS = 1_000

export interface ClaimerServices {
  db: Database
  clock: Clock
  governor: Governor
  /** Which types may be claimed, as far as their services go. Default: all. */
  gate?: BreakerGate
  workerId(): string
  mayTakeSuspect(): boolean
  /** The claim's answer. `claim.workerId` is the one it was asked under. */
  onClaimed(jobs: readonly ClaimedJob[], claim: Claim, group: LaneGroup): void
  /** An answer took so long. */
  onAnswered(tookMs: number): void
}

interface Answered {
  jobs: readonly ClaimedJob[]
  /** Before any of them starts: a handler's own time is not the claim's. */
  answeredAtMs: number
}

export class Claimer {
  readonly #services: ClaimerServices
  readonly #groups: readonly LaneGroup[]
  readonly #queues: readonly string[]
  readonly #claims: OpenClaims
  #lookAroundDueMs = Number.NEGATIVE_INFINITY
  readonly #lookWalk = new LongWalk({ maxRestMs: MAX_UNSEEN_MS })
  readonly #lookBeyond = new Beyond({ msPerRow: 0 })
  /** Types that wait in a queue, or did, and that every group knows which serves it. */
  readonly #familiar: TypeInQueue[] = []
  /** Groups whose queues hold types that they cannot run: those are claimed type by type. */
  readonly #byType = new Set<LaneGroup>()
  /** Groups that looked for a probe in vain, and when they may again. */
  readonly #noProbeUntilMs = new Map<LaneGroup, number>()
  #rotation = 0
  readonly #beyond = {
    together: new Beyond({ msPerRow: MS_PER_JOB }),
    byType: new Beyond({ msPerRow: MS_PER_JOB }),
  }
  /** The last claim found little. */
  #isQuiet = true

  constructor(services: ClaimerServices, groups: readonly LaneGroup[]) {
    this.#services = services
    this.#groups = groups
    const queues = groups.flatMap(({ lanes }) => lanes.flatMap((lane) => lane.queues))
    this.#queues = [...new Set(queues.map(({ name }) => name))]
    this.#claims = new OpenClaims(services)
  }

  /** Is the answer to this claim still to come, or lost? */
  isOpen(runId: string): boolean {
    return this.#claims.has(runId)
  }

  /** Gives back what claims took whose answer was lost; true if there were any. */
  releaseLost(): Promise<boolean> {
    return this.#claims.releaseLost()
  }

  async claim(group: LaneGroup, wanted: readonly Share[]): Promise<void> {
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
    const ask = () =>
      this.#claims.under(group, (claim) =>
        governor.claim({
          ...claim,
          queue: queue.name,
          slots: limit,
          types,
          mayTakeSuspect: this.#services.mayTakeSuspect(),
          here: runsHere,
        }),
      )
    const answer = governor.isLimitedHere(types) ? await inTurn(ask) : await ask()
    if (answer.state === 'more' || queue.wakeUps !== wakeUps) return
    queue.drained()
    queue.isDueKnown = answer.state === 'busy'
    if (answer.state === 'busy') queue.lookIn(BUSY_MS * (0.5 + Math.random()))
    else if (Number.isFinite(answer.waitMs)) queue.lookIn(answer.waitMs + 1)
  }

  async #claimPlain(group: LaneGroup, wanted: readonly Share[], types: readonly LaneType[]): Promise<void> {
    if (types.length === 0) {
      // Breakers hold all of them back.
      for (const { queue } of wanted) queue.drained()
      return
    }
    const wakeUps = wanted.map(({ queue }) => queue.wakeUps)
    const byType = this.#isByType(group) || types.length < group.types.length
    const sentAtMs = monotonicMs()
    const entries = wanted.map(({ queue }) => queue.entry({ byType }).enter(sentAtMs))
    const { jobs, answeredAtMs } = await this.#askFor(group, wanted, { types, byType, entries })
    const beyond = byType ? this.#beyond.byType : this.#beyond.together
    const walkMs = beyond.of(answeredAtMs - sentAtMs, jobs.length)
    this.#isQuiet = jobs.length <= FEW_JOBS
    wanted.forEach(({ queue, limit }, i) => {
      const { from } = entries[i] as Entry
      const taken = wanted.length === 1 ? jobs : jobs.filter((job) => job.queue === queue.name)
      const entry = queue.entry({ byType })
      const nth = entries.slice(0, i).filter((other) => from === 'head' && other.from === 'head').length
      entry.claimed(taken, { from, sentAtMs, walkMs, nth })
      if (taken.length >= limit || queue.wakeUps !== wakeUps[i]) return
      queue.drained()
      // As far as it was looked at, that is.
      const waitMs = entry.untilFurtherUp(from, monotonicMs())
      if (Number.isFinite(waitMs)) queue.lookIn(waitMs)
    })
  }

  #isByType(group: LaneGroup): boolean {
    return group.isSelective || this.#byType.has(group)
  }

  async #askFor(
    group: LaneGroup,
    wanted: readonly Share[],
    { types, byType, entries }: { types: readonly LaneType[]; byType: boolean; entries: readonly Entry[] },
  ): Promise<Answered> {
    const { db, clock, governor } = this.#services
    const queues = wanted.map(({ queue, limit }, i) => ({ queue: queue.name, limit, behind: entries[i]?.behind ?? [] }))
    this.#rotation = (this.#rotation + 1) % Math.max(1, types.length)
    return this.#claims.under(group, async (claim) => {
      const jobs = await jobClaim(db, clock.databaseNow(), {
        ...claim,
        queues,
        types: byType ? [...types.slice(this.#rotation), ...types.slice(0, this.#rotation)] : types,
        // Also while there is a backlog to prefetch: otherwise a suspect would wait for its end.
        suspectQueues: this.#services.mayTakeSuspect() ? queues.map(({ queue }) => queue) : [],
        byType,
        isQuiet: this.#isQuiet,
        rulesVersion: governor.rulesVersion,
      })
      return { jobs, answeredAtMs: monotonicMs() }
    })
  }

  /** The types of a group that no breaker holds back. What only one run may try is tried on the way. */
  async #admit(group: LaneGroup, wanted: readonly Share[]): Promise<readonly LaneType[]> {
    const { gate, governor } = this.#services
    if (gate === undefined) return group.types
    const { types, chances } = await gate.admit(group.types)
    if (monotonicMs() < (this.#noProbeUntilMs.get(group) ?? 0)) return types
    for (const chance of chances) {
      const queues = wanted.filter(({ lane }) => lane.freeSlots > 0).map(({ queue }) => queue.name)
      const about = { queues, mayTakeSuspect: this.#services.mayTakeSuspect(), here: runsHere }
      const ask = () =>
        this.#claims.under(group, (claim) => claimProbe({ gate, governor }, chance, { ...claim, ...about }))
      const taken = governor.isLimitedHere(chance.types) ? await inTurn(ask) : await ask()
      // Nothing waits for it, or another process has the probe: other work must not pay for asking again and again.
      if (taken.jobs.length === 0) this.#noProbeUntilMs.set(group, monotonicMs() + NO_PROBE_PAUSE_MS)
    }
    return types
  }

  /**
   * Types we cannot run must not be scanned over: if any wait in our queues, we claim type by type. Nor are jobs of
   * tenants claimed as others are.
   */
  async #lookAround(): Promise<void> {
    const askedAtMs = monotonicMs()
    if (askedAtMs < this.#lookAroundDueMs) return
    const { db, governor } = this.#services
    const { types, shared, rulesVersion } = await lookAround(db, this.#queues, this.#familiar)
    const walkMs = this.#lookBeyond.of(monotonicMs() - askedAtMs, 0)
    this.#byType.clear()
    for (const [queue, type] of types) {
      const strangers = this.#groups.filter((group) => group.serves(queue) && !group.knows(type))
      if (strangers.length === 0) this.#familiar.push([queue, type])
      for (const group of strangers) this.#byType.add(group)
    }
    for (const queue of shared) governor.sawTenants(queue)
    await governor.keepUp(rulesVersion)
    this.#lookAroundDueMs = monotonicMs() + Math.max(LOOK_AROUND_EVERY_MS, this.#lookWalk.restAfter(walkMs))
  }
}
