// One governed claim: whose turn it is, and how many of what may run.
//
// Under the queue's advisory lock, and those of limits that several queues share, it reads what runs and what was started
// lately, looks at the heads of the tenants' streams, decides, and takes: so what it decides on is what there is, in all
// processes together. Somebody else holding a lock is no reason to wait: whoever has it is handing out the same work.
import { type Clock, monotonicMs } from '../clock.ts'
import type { Registry } from '../contract/registry.ts'
import type { Entry } from '../queue-entry.ts'
import type { Session } from '../store/db.ts'
import {
  governedLock,
  governedLook,
  governedStanding,
  governedTake,
  lockKeys,
  type Seen,
  type Standing,
} from '../store/governed-claims.ts'
import type { ClaimedJob, Position } from '../store/job-claims.ts'
import { compareIds } from '../store/job-id.ts'
import { limitRateLook } from '../store/limits.ts'
import { firstOffer, frontiers, isAnyoneShort, type Look, largerOffer, SPARE, turnAfter } from './look.ts'
import { Parking } from './parking.ts'
import type { QueueMemory } from './queue-memory.ts'
import { type Candidate, Round } from './round.ts'
import { PER_TENANT, type Rules } from './rules.ts'

/** Jobs that one stream should contribute to a large claim: to look at a stream costs as much as to take a few jobs. */
const JOBS_PER_STREAM = 8
const MIN_STREAMS = 32
const SUSPECTS = 10
/** Looks in a row that find nobody who may run, before we wait for something to change. */
const MAX_VAIN_LOOKS = 20
/** How long a queue is looked at type by type after a head was seen that may not run here. */
const BY_TYPE_MS = 5_000

const FROM_HEAD: Entry = { from: 'head', behind: [] }

export interface GovernedRequest {
  readonly queue: string
  readonly slots: number
  readonly types: readonly { type: string; stuckAfterMs: number }[]
  readonly runId: string
  readonly workerId: string
  readonly mayTakeSuspect: boolean
  /** Runs of this process, by limit. */
  readonly here: ReadonlyMap<string, number>
}

/** What came of it. */
export interface GovernedAnswer {
  readonly jobs: readonly ClaimedJob[]
  /**
   * 'more': ask again at once. 'drained': until something changes there is nothing for us. 'busy': another process is at
   * it.
   */
  readonly state: 'more' | 'drained' | 'busy'
  /** When time alone makes room. */
  readonly waitMs: number
  /** To be called after the commit. */
  committed(): void
}

/** What the process knows beforehand. */
export interface ClaimKnowledge {
  readonly schema: string
  readonly clock: Clock
  readonly registry: Registry
  readonly rules: Rules
  /** Of the queue that is claimed from. */
  readonly memory: QueueMemory
  /** Reads the rules if they have another version by now, or were read long ago. */
  keepUp(rulesVersion: number, tx: Session): Promise<void>
}

interface Decision {
  readonly round: Round
  /** Undefined: there was nothing to look for. */
  readonly look: Look | undefined
  readonly chosen: readonly Candidate[]
  /** More parked jobs may be claimed again than were let go at once. */
  readonly isMoreParked: boolean
}

interface Asked {
  readonly round: Round
  readonly standing: Standing
  readonly streams: number
  /** How many each stream of weight 1 is asked for. */
  readonly offer: number
}

export class GovernedClaim {
  readonly #tx: Session
  readonly #request: GovernedRequest
  readonly #knowledge: ClaimKnowledge

  constructor(tx: Session, request: GovernedRequest, knowledge: ClaimKnowledge) {
    this.#tx = tx
    this.#request = request
    this.#knowledge = knowledge
  }

  async run(): Promise<GovernedAnswer> {
    const { clock, memory, schema } = this.#knowledge
    const request = this.#request
    const { queue } = request
    const limits = this.#limitNames()
    const locks = [`queue:${queue}`, ...limits.named.map((name) => `limit:${name}`)]
    if (!(await governedLock(this.#tx, lockKeys(schema, locks)))) return nothing('busy')
    const standing = await this.#standing([...limits.named, ...limits.unnamed])
    const parking = new Parking(this.#tx, { queue, now: clock.databaseNow(), memory })
    const decision = await this.#decide(standing, parking)
    const { round, look, chosen } = decision
    if (look === undefined) return nothing('drained', round.waitMs)
    const turn = turnAfter(look, chosen)
    const jobs =
      chosen.length > 0 || turn !== null
        ? await governedTake(this.#tx, clock.databaseNow(), {
            ...request,
            ids: chosen.map(({ id }) => id).sort(compareIds),
            types: request.types.map((each) => ({ ...each, limits: round.namedLimitsOf(each.type) })),
            turn,
            since: standing.since,
            spent: round.meters.spent,
            isDurable: round.hasLimits,
          })
        : []
    round.serve(chosen, jobs)
    parking.took(jobs)
    if (!look.byType) memory.entryFor(round.types).moved(frontiers(look, jobs), look.walked)
    if (jobs.length < chosen.length) memory.missed(chosen, jobs)
    // In the order of the choice: sorted by due time, those whose turn comes often would stand behind all others.
    const order = new Map(chosen.map(({ id }, i) => [id, i]))
    const inTurn = [...jobs].sort((a, b) => (order.get(a.id) ?? 0) - (order.get(b.id) ?? 0))
    // Without what was in its way the next look is another one.
    const hasParked = await parking.park(round, look)
    const state = hasParked ? 'more' : this.#stateAfter({ ...decision, look })
    const waits = [round.waitMs, this.#untilFurtherUp(round, look), parking.waitMs(standing)]
    return { jobs: inTurn, state, waitMs: Math.min(...waits), committed: () => parking.committed() }
  }

  /** Looks and chooses; again with larger offers, if somebody had more than was asked for and would get it. */
  async #decide(standing: Standing, parking: Parking): Promise<Decision> {
    const request = this.#request
    const { memory, registry, rules } = this.#knowledge
    memory.balance.settle()
    const streams = Math.max(MIN_STREAMS, Math.ceil(request.slots / JOBS_PER_STREAM))
    let isMoreParked: boolean | undefined
    let offer = firstOffer(request.slots, Math.min(streams, memory.streams))
    for (;;) {
      const round = new Round(request, standing, {
        rules,
        turns: memory.turns,
        balance: memory.balance,
        contractOf: (type) => registry.find(type),
        keys: registry.keys,
      })
      if (round.isPaused || round.types.length === 0) return { round, look: undefined, chosen: [], isMoreParked: false }
      isMoreParked ??= await parking.letGo(round, standing)
      const look = await this.#look({ round, standing, streams, offer })
      await this.#learnRates(round, look)
      const chosen = round.choose(look)
      const larger = largerOffer(offer, request.slots)
      if (larger === undefined || !isAnyoneShort(look, chosen)) return { round, look, chosen, isMoreParked }
      offer = larger
    }
  }

  async #standing(limits: readonly string[]): Promise<Standing> {
    const { clock, keepUp } = this.#knowledge
    const { queue } = this.#request
    const standing = await governedStanding(this.#tx, clock.databaseNow(), { queue, limits, tenants: [] })
    await keepUp(standing.version, this.#tx)
    return standing
  }

  /** Only of the tenants that were seen: a table of rates holds every tenant that had a start lately. */
  async #learnRates({ meters }: Round, { seen }: Look): Promise<void> {
    const names = meters.namesPerTenant
    if (names.length === 0) return
    const tenants = new Set(seen.flatMap(([, tenant, , id]) => (id === null || tenant === null ? [] : tenant)))
    if (tenants.size > 0) meters.learn(await limitRateLook(this.#tx, names, [...tenants]))
  }

  async #look({ round, standing, streams, offer }: Asked): Promise<Look> {
    const { queue, slots, mayTakeSuspect } = this.#request
    const { clock, memory } = this.#knowledge
    const except = memory.heldElsewhere()
    const look = (byType: boolean, entries: readonly Position[]): Promise<Seen[]> =>
      governedLook(this.#tx, clock.databaseNow(), {
        queue,
        types: round.types,
        byType,
        behind: standing.turn || null,
        streams,
        offer,
        weights: round.weights,
        plainOffer: Math.ceil(slots * SPARE),
        suspectOffer: mayTakeSuspect ? SUSPECTS : 0,
        costedTypes: round.costedTypes,
        except,
        entries,
      })
    let byType = round.hasExcluded || monotonicMs() < memory.byTypeUntilMs
    const sentAtMs = monotonicMs()
    let entry: Entry = byType ? FROM_HEAD : memory.entryFor(round.types).enter(sentAtMs)
    let seen = await look(byType, entry.behind)
    const walkMs = memory.beyond.of(monotonicMs() - sentAtMs, seen.length)
    if (!byType && round.hasForeignHead(seen)) {
      memory.byTypeUntilMs = monotonicMs() + BY_TYPE_MS
      byType = true
      entry = FROM_HEAD
      seen = await look(byType, entry.behind)
    }
    const found = seen.reduce((most, [nth]) => Math.max(most, nth), 0)
    if (found > 0) memory.sawTenants()
    const isCut = found >= streams
    const plainStream = seen.some(([nth]) => nth === 0) ? 1 : 0
    memory.streams = isCut ? Number.POSITIVE_INFINITY : Math.max(1, found + plainStream)
    const isWhole = !byType && except.length === 0
    return { seen, byType, isCut, offer, isWhole, walked: { from: entry.from, sentAtMs, walkMs } }
  }

  /** When to look again for what this look may have missed. */
  #untilFurtherUp({ types }: Round, { byType, walked: { from } }: Look): number {
    if (byType) return Number.POSITIVE_INFINITY
    return this.#knowledge.memory.entryFor(types).untilFurtherUp(from, monotonicMs())
  }

  #stateAfter({ round, look, chosen, isMoreParked }: Decision & { look: Look }): GovernedAnswer['state'] {
    const { memory } = this.#knowledge
    const { slots } = this.#request
    // The turn goes on: the next look is another one. With nothing found until now it may be as vain.
    if (isMoreParked || chosen.length >= slots || (look.isCut && chosen.length > 0)) return 'more'
    if (look.isCut) return this.#goesOn() ? 'more' : 'drained'
    // What was turned away may hide others of its tenant: once more, type by type.
    if (round.hasRefused && !look.byType) {
      memory.byTypeUntilMs = monotonicMs() + BY_TYPE_MS
      return 'more'
    }
    return isAnyoneShort(look, chosen) ? 'more' : 'drained'
  }

  /** Of the limits declared in code, and of those that may have been set for a queue or a type. */
  #limitNames(): { named: string[]; unnamed: string[] } {
    const { queue, types } = this.#request
    const contracts = types.flatMap(({ type }) => this.#knowledge.registry.find(type) ?? [])
    const named = contracts.flatMap((contract) => [...contract.limits, ...contract.queue.limits])
    const own = [`queue:${queue}`, ...types.map(({ type }) => `type:${type}`)]
    return {
      named: [...new Set(named.map(({ name }) => name))],
      unnamed: own.flatMap((name) => [name, name + PER_TENANT]),
    }
  }

  /** True as long as not all tenants can have been looked at in vain. */
  #goesOn(): boolean {
    const { memory } = this.#knowledge
    memory.vainLooks = (memory.vainLooks + 1) % MAX_VAIN_LOOKS
    return memory.vainLooks !== 0
  }
}

const nothing = (state: GovernedAnswer['state'], waitMs = Number.POSITIVE_INFINITY): GovernedAnswer => ({
  jobs: [],
  state,
  waitMs,
  committed: () => {},
})
