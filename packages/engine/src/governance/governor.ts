// Claims from queues whose jobs are shared out or limited: whose turn it is, and how many of what may run.
//
// Under the queue's advisory lock, and those of limits that several queues share, it reads what runs and what was started
// lately, looks at the heads of the tenants' streams, decides, and takes: so what it decides on is what there is, in all
// processes together. Somebody else holding a lock is no reason to wait: whoever has it is handing out the same work.
import { type Clock, monotonicMs } from '../clock.ts'
import type { JobContract } from '../contract/job.ts'
import type { RetryAfter } from '../contract/outcome.ts'
import type { Registry } from '../contract/registry.ts'
import { TenantSuspended } from '../errors.ts'
import type { Database, Session } from '../store/db.ts'
import {
  governedLock,
  governedLook,
  governedStanding,
  governedTake,
  lockKeys,
  type Seen,
  type Standing,
} from '../store/governed-claims.ts'
import type { ClaimedJob } from '../store/job-claims.ts'
import { compareIds } from '../store/job-id.ts'
import { limitHold } from '../store/limits.ts'
import { isAnyoneShort, type Look, turnAfter } from './look.ts'
import { limitsOf } from './meters.ts'
import { QueueMemory } from './queue-memory.ts'
import { type Candidate, Round } from './round.ts'
import { PER_TENANT, Rules } from './rules.ts'

/** Jobs that one stream should contribute to a large claim: to look at a stream costs as much as to take a few jobs. */
const JOBS_PER_STREAM = 8
const MIN_STREAMS = 16
/** More than asked for, because limits and shares turn some away. */
const SPARE = 1.25
/** How much larger the second offer is, where the first was too small. */
const MORE = 4
const SUSPECTS = 10
/** Looks in a row that find nobody who may run, before we wait for something to change. */
const MAX_VAIN_LOOKS = 20
/** How long a queue is looked at type by type after a head was seen that may not run here. */
const BY_TYPE_MS = 5_000

export interface GovernedRequest {
  readonly queue: string
  readonly slots: number
  readonly types: readonly { type: string; stuckAfterMs: number }[]
  readonly runId: string
  readonly workerId: string
  readonly mayTakeSuspect: boolean
  /** Runs of this process, by type. */
  readonly here: ReadonlyMap<string, number>
}

export interface GovernedClaim {
  readonly jobs: readonly ClaimedJob[]
  /**
   * 'more': ask again at once. 'drained': until something changes there is nothing for us. 'busy': another process is at
   * it.
   */
  readonly state: 'more' | 'drained' | 'busy'
  /** When time alone makes room. */
  readonly waitMs: number
}

/** A queue in which no job of a tenant was seen for this long is claimed as a plain one again. */
const SHARED_MS = 60_000

export class Governor {
  readonly #db: Database
  readonly #clock: Clock
  readonly #registry: Registry
  readonly #rules = new Rules()
  readonly #memories = new Map<string, QueueMemory>()
  /** Until the rules change. */
  readonly #waiting = new Map<JobContract, readonly string[]>()

  constructor(services: { db: Database; clock: Clock; registry: Registry }) {
    this.#db = services.db
    this.#clock = services.clock
    this.#registry = services.registry
  }

  /** The rules by which it is known whether a queue is governed. */
  get rulesVersion(): number {
    return this.#rules.version
  }

  refresh(): Promise<void> {
    return this.#load(this.#db)
  }

  /** Reads the rules if they have another version by now, or were read long ago. */
  async keepUp(rulesVersion: number): Promise<void> {
    if (!this.#rules.isCurrent(rulesVersion)) await this.refresh()
  }

  async #load(session: Session): Promise<void> {
    await this.#rules.load(session)
    this.#waiting.clear()
  }

  /** Why runs of this tenant have to stop; undefined: they need not. */
  suspension(tenant: string | null): TenantSuspended | undefined {
    const rule = tenant === null ? undefined : this.#rules.tenants.get(tenant)
    // A deleted tenant's runs are asked to cancel, one by one.
    if (rule?.status !== 'suspended') return undefined
    return new TenantSuspended(rule.name, rule.status, rule.reason)
  }

  /** The service behind a limit asked for a pause: nothing more starts under it meanwhile, in no process. */
  async hold(contract: JobContract, tenant: string | null, { delayMs, limit }: RetryAfter): Promise<void> {
    const limits = limitsOf(contract, this.#rules)
    const held = limits.filter(({ name, rate }) => (limit === undefined ? rate !== undefined : name === limit))
    const now = this.#clock.databaseNow()
    for (const { name, isPerTenant } of held) {
      await limitHold(this.#db, now, { name, tenant: isPerTenant ? (tenant ?? '') : '', delayMs })
    }
  }

  /** What a limit per process leaves free. `here`: runs of this process, by type. */
  freeHere(limit: string, here: ReadonlyMap<string, number>): number | undefined {
    const under = this.#registry.contracts.flatMap((contract) => {
      const found = limitsOf(contract, this.#rules).find(({ name }) => name === limit)
      return found?.perProcess === undefined ? [] : [{ type: contract.type, most: found.perProcess }]
    })
    const [first] = under
    if (first === undefined) return undefined
    return Math.max(
      0,
      under.reduce((free, { type }) => free - (here.get(type) ?? 0), first.most),
    )
  }

  /** The queues in which something may have waited for a place that a run of this type has left. */
  queuesWaitingFor(contract: JobContract, tenant: string | null): readonly string[] {
    let queues = this.#waiting.get(contract)
    if (queues === undefined) {
      queues = this.#queuesSharing(contract)
      this.#waiting.set(contract, queues)
    }
    const isCapped = tenant !== null && this.#rules.tenants.get(tenant)?.maxSlots != null
    return queues.length === 0 && isCapped ? [contract.queue.name] : queues
  }

  #queuesSharing(contract: JobContract): readonly string[] {
    const limits = limitsOf(contract, this.#rules).filter(({ running }) => running !== undefined)
    if (limits.length === 0) return NO_QUEUES
    const names = new Set(limits.map(({ name }) => name))
    const shares = ({ limits: own, queue }: JobContract) =>
      [...own, ...queue.limits].some(({ name }) => names.has(name))
    const others = this.#registry.contracts.filter(shares).map(({ queue }) => queue.name)
    return [...new Set([contract.queue.name, ...others])]
  }

  /** Jobs of tenants wait in it. */
  sawTenants(queue: string): void {
    this.#memoryOf(queue).sharedUntilMs = monotonicMs() + SHARED_MS
  }

  /** Must its jobs be counted, or shared out among tenants? */
  isGoverned(queue: string, types: readonly { type: string }[]): boolean {
    if (monotonicMs() < this.#memoryOf(queue).sharedUntilMs) return true
    if (this.#rules.pausesIn(queue, Number.NEGATIVE_INFINITY).length > 0) return true
    return types.some(({ type }) => {
      const contract = this.#registry.find(type)
      return contract?.queue.name === queue && limitsOf(contract, this.#rules).length > 0
    })
  }

  claim(request: GovernedRequest): Promise<GovernedClaim> {
    return this.#db.transaction((tx) => this.claimIn(tx, request))
  }

  /** In a transaction that decides about more than this claim. */
  async claimIn(tx: Session, request: GovernedRequest): Promise<GovernedClaim> {
    const { queue } = request
    const limits = this.#limitNames(request)
    const locks = [`queue:${queue}`, ...limits.named.map((name) => `limit:${name}`)]
    if (!(await governedLock(tx, lockKeys(this.#db.schema, locks)))) return nothing('busy')
    const standing = await this.#standing(tx, queue, [...limits.named, ...limits.unnamed])
    const { round, look, chosen } = await this.#decide(tx, request, standing)
    if (look === undefined) return nothing('drained', round.waitMs)
    const turn = turnAfter(look, chosen)
    const jobs =
      chosen.length > 0 || turn !== null
        ? await governedTake(tx, this.#clock.databaseNow(), {
            ...request,
            ids: chosen.map(({ id }) => id).sort(compareIds),
            types: request.types.map((each) => ({ ...each, limits: round.namedLimitsOf(each.type) })),
            turn,
            spent: round.meters.spent,
            isDurable: round.hasLimits,
          })
        : []
    round.serve(chosen)
    if (jobs.length < chosen.length) this.#memoryOf(queue).missed(chosen, jobs)
    // In the order of the choice: sorted by due time, those whose turn comes often would stand behind all others.
    const order = new Map(chosen.map(({ id }, i) => [id, i]))
    const inTurn = [...jobs].sort((a, b) => (order.get(a.id) ?? 0) - (order.get(b.id) ?? 0))
    return { jobs: inTurn, state: this.#stateAfter(request, { round, look, chosen }), waitMs: round.waitMs }
  }

  /** Looks and chooses; again with larger offers, if somebody had more than was asked for and would get it. */
  async #decide(tx: Session, request: GovernedRequest, standing: Standing): Promise<Decision> {
    const memory = this.#memoryOf(request.queue)
    const streams = Math.max(MIN_STREAMS, Math.ceil(request.slots / JOBS_PER_STREAM))
    let offer = Math.ceil((request.slots * SPARE) / Math.min(streams, memory.streams))
    for (;;) {
      const round = new Round(request, standing, {
        rules: this.#rules,
        turns: memory.turns,
        contractOf: (type) => this.#registry.find(type),
        keys: this.#registry.keys,
      })
      if (round.isPaused || round.types.length === 0) return { round, look: undefined, chosen: [] }
      const look = await this.#look(tx, request, { round, standing, streams, offer })
      const chosen = round.choose(look.seen)
      if (offer >= request.slots || !isAnyoneShort(look, chosen)) return { round, look, chosen }
      offer = Math.min(request.slots, offer * MORE)
    }
  }

  async #standing(tx: Session, queue: string, limits: readonly string[]): Promise<Standing> {
    const standing = await governedStanding(tx, this.#clock.databaseNow(), queue, limits)
    if (!this.#rules.isCurrent(standing.version)) await this.#load(tx)
    return standing
  }

  async #look(
    tx: Session,
    request: GovernedRequest,
    { round, standing, streams, offer }: { round: Round; standing: Standing; streams: number; offer: number },
  ): Promise<Look> {
    const { queue, slots } = request
    const memory = this.#memoryOf(queue)
    const look = (byType: boolean): Promise<Seen[]> =>
      governedLook(tx, this.#clock.databaseNow(), {
        queue,
        types: round.types,
        byType,
        behind: standing.turn || null,
        streams,
        offer,
        weights: round.weights,
        plainOffer: Math.ceil(slots * SPARE),
        suspectOffer: request.mayTakeSuspect ? SUSPECTS : 0,
        costedTypes: round.costedTypes,
        except: memory.heldElsewhere(),
      })
    let byType = round.hasExcluded || monotonicMs() < memory.byTypeUntilMs
    let seen = await look(byType)
    if (!byType && round.hasForeignHead(seen)) {
      memory.byTypeUntilMs = monotonicMs() + BY_TYPE_MS
      byType = true
      seen = await look(true)
    }
    const found = seen.reduce((most, [nth]) => Math.max(most, nth), 0)
    if (found > 0) this.sawTenants(queue)
    const isCut = found >= streams
    const plainStream = seen.some(([nth]) => nth === 0) ? 1 : 0
    memory.streams = isCut ? Number.POSITIVE_INFINITY : Math.max(1, found + plainStream)
    return { seen, byType, isCut, offer }
  }

  #stateAfter(
    { queue, slots }: GovernedRequest,
    { round, look, chosen }: { round: Round; look: Look; chosen: readonly Candidate[] },
  ): GovernedClaim['state'] {
    // The turn goes on: the next look is another one. With nothing found until now it may be as vain.
    if (chosen.length >= slots || (look.isCut && chosen.length > 0)) return 'more'
    if (look.isCut) return this.#goesOn(queue) ? 'more' : 'drained'
    // What was turned away may hide others of its tenant: once more, type by type.
    if (round.hasRefused && !look.byType) {
      this.#memoryOf(queue).byTypeUntilMs = monotonicMs() + BY_TYPE_MS
      return 'more'
    }
    return isAnyoneShort(look, chosen) ? 'more' : 'drained'
  }

  /** Of the limits declared in code, and of those that may have been set for a queue or a type. */
  #limitNames({ queue, types }: GovernedRequest): { named: string[]; unnamed: string[] } {
    const contracts = types.flatMap(({ type }) => this.#registry.find(type) ?? [])
    const named = contracts.flatMap((contract) => [...contract.limits, ...contract.queue.limits])
    const own = [`queue:${queue}`, ...types.map(({ type }) => `type:${type}`)]
    return {
      named: [...new Set(named.map(({ name }) => name))],
      unnamed: own.flatMap((name) => [name, name + PER_TENANT]),
    }
  }

  /** True as long as not all tenants can have been looked at in vain. */
  #goesOn(queue: string): boolean {
    const memory = this.#memoryOf(queue)
    memory.vainLooks = (memory.vainLooks + 1) % MAX_VAIN_LOOKS
    return memory.vainLooks !== 0
  }

  #memoryOf(queue: string): QueueMemory {
    let memory = this.#memories.get(queue)
    if (memory === undefined) {
      memory = new QueueMemory()
      this.#memories.set(queue, memory)
    }
    return memory
  }
}

interface Decision {
  readonly round: Round
  /** Undefined: there was nothing to look for. */
  readonly look: Look | undefined
  readonly chosen: readonly Candidate[]
}

const NO_QUEUES: readonly string[] = []

const nothing = (state: GovernedClaim['state'], waitMs = Number.POSITIVE_INFINITY): GovernedClaim => ({
  jobs: [],
  state,
  waitMs,
})
