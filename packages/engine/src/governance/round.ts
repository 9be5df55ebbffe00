// One governed claim's decision: who may have how much of what was seen.
import type { JobContract } from '../contract/job.ts'
import type { KeyRing } from '../contract/key-ring.ts'
import type { Limit } from '../contract/limit.ts'
import type { Seen, Standing } from '../store/governed-claims.ts'
import { compareIds } from '../store/job-id.ts'
import type { Held } from '../store/parked-jobs.ts'
import type { PauseRule, TenantRule } from '../store/rules.ts'
import { allot, type Share } from './allot.ts'
import type { Balance, Rival } from './balance.ts'
import { jobCost } from './job-cost.ts'
import type { Look } from './look.ts'
import { limitsOf, type Metered, Meters } from './meters.ts'
import type { Rules } from './rules.ts'
import type { Turns } from './turns.ts'

/** A job that may run sooner is not worth two writes. */
const MIN_PARKED_MS = 1_000
/** A tenant that only waits for a slot, or for its rate, keeps its place in the walk if it has more jobs. */
const MAX_PARKED_CAPPED = 100
/** Fewer, because they come back together when one of them may start. */
const MAX_PARKED_RATED = 20
/** Of tenants for whom no time makes room: another look is worth it. */
const MAX_PARKED_MS = 30_000

export interface Candidate extends Metered {
  readonly id: string
  /** Of its stream in the walk; -1: its last run crashed. */
  readonly nth: number
  readonly priority: number
  readonly runAtS: number
}

export interface RoundRequest {
  readonly queue: string
  readonly slots: number
  readonly types: readonly { type: string }[]
  /** Runs of this process, by limit. */
  readonly here: ReadonlyMap<string, number>
}

interface Knowledge {
  readonly rules: Rules
  readonly turns: Turns
  readonly balance: Balance
  contractOf(type: string): JobContract | undefined
  /** Of what is sensitive in payloads. */
  readonly keys: KeyRing | undefined
}

export class Round {
  readonly #slots: number
  /** Whose rules differ from the ordinary, as they hold in this queue. */
  readonly #tenants: ReadonlyMap<string, TenantRule>
  readonly #turns: Turns
  readonly #balance: Balance
  readonly #contractOf: (type: string) => JobContract | undefined
  readonly #keys: KeyRing | undefined
  readonly #nowMs: number
  readonly #pauses: readonly PauseRule[]
  readonly #limits: ReadonlyMap<string, readonly Limit[]>
  readonly #running = new Map<string | null, number>()
  readonly meters: Meters
  /** The types to look for: the rest are paused or full for every tenant. */
  readonly types: readonly string[]
  readonly #allTypes: ReadonlySet<string>
  /** Tenants whose offer is not that of weight 1. */
  readonly weights: ReadonlyMap<string, number>
  #rivals: readonly Rival[] = []
  /** By tenant and type: the first that a limit has turned away. */
  readonly #refused = new Map<string, Candidate>()
  /** Something was seen that a limit or a pause turned away. */
  hasRefused = false

  constructor(request: RoundRequest, standing: Standing, { rules, turns, balance, contractOf, keys }: Knowledge) {
    this.#slots = request.slots
    this.#tenants = rules.tenantsIn(request.queue)
    this.#turns = turns
    this.#balance = balance
    this.#contractOf = contractOf
    this.#keys = keys
    this.#nowMs = standing.nowS * 1_000
    this.#pauses = rules.pausesIn(request.queue, this.#nowMs)
    const types = request.types.map(({ type }) => type)
    this.#allTypes = new Set(types)
    this.#limits = new Map(
      types.flatMap((type) => {
        const contract = contractOf(type)
        return contract === undefined ? [] : [[type, limitsOf(contract, rules)]]
      }),
    )
    this.meters = new Meters(this.#limits, { standing, here: request.here, nowMs: this.#nowMs })
    for (const [tenant, , jobs] of standing.running ?? []) {
      this.#running.set(tenant, (this.#running.get(tenant) ?? 0) + jobs)
    }
    this.types = types.filter((type) => !this.#isTypePaused(type) && !this.meters.isFull(type))
    this.weights = this.#weights()
  }

  /** The whole queue is. */
  get isPaused(): boolean {
    return this.#pauses.some(({ type, tenant }) => type === null && tenant === null)
  }

  get hasExcluded(): boolean {
    return this.types.length < this.#allTypes.size
  }

  get hasLimits(): boolean {
    return [...this.#limits.values()].some((limits) => limits.length > 0)
  }

  get costedTypes(): string[] {
    return this.types.filter((type) => this.#contractOf(type)?.costOf !== undefined)
  }

  /** When time alone makes room, in milliseconds from now. */
  get waitMs(): number {
    const ends = this.#pauses.map(({ untilMs }) => (untilMs ?? Number.POSITIVE_INFINITY) - this.#nowMs)
    return Math.min(this.meters.waitMs, ...ends)
  }

  /** Some stream begins with a job that may not run: what lies behind it would be hidden. */
  hasForeignHead(seen: readonly Seen[]): boolean {
    const types = new Set(this.types)
    return seen.some(([, , headType]) => headType !== null && !types.has(headType))
  }

  /** The limits that are written on the runs of a type. */
  namedLimitsOf(type: string): string[] {
    const limits = this.#limits.get(type) ?? []
    return limits.filter(({ name, running }) => running !== undefined && !name.includes(':')).map(({ name }) => name)
  }

  choose({ seen, isCut }: Pick<Look, 'seen' | 'isCut'>): Candidate[] {
    const candidates = seen.flatMap((each) => this.#candidate(each))
    const suspect = candidates.find((each) => each.nth < 0 && this.#admit(each))
    const rest = candidates.filter(({ nth }) => nth >= 0).sort(inOrder)
    const slots = this.#slots - (suspect === undefined ? 0 : 1)
    const { chosen, rivals } = allot(
      slots,
      rest,
      (tenant) => this.#shareOf(tenant, isCut),
      (job) => this.#admit(job),
    )
    this.#rivals = isCut ? [] : rivals
    return suspect === undefined ? chosen : [suspect, ...chosen]
  }

  /** It counts for whoever comes next: all that was chosen as a turn, what could be taken as a use of slots. */
  serve(chosen: readonly Candidate[], taken: readonly { tenant: string | null }[]): void {
    for (const { tenant } of chosen) this.#turns.serve(tenant, this.#weightOf(tenant))
    for (const { tenant } of taken) this.#balance.take(tenant, this.#weightOf(tenant))
    this.#balance.compete(this.#rivals)
  }

  #admit(job: Candidate): boolean {
    const isPaused = this.#pauses.some(
      ({ type, tenant }) => (type ?? job.type) === job.type && (tenant ?? job.tenant) === job.tenant,
    )
    const status = job.tenant === null ? undefined : this.#tenants.get(job.tenant)?.status
    if (isPaused || (status ?? 'active') !== 'active' || !this.meters.admit(job)) {
      this.hasRefused = true
      if (job.tenant !== null) this.#refused.set(JSON.stringify([job.tenant, job.type]), job)
      return false
    }
    return true
  }

  /** How many jobs of a tenant may start, as far as its own rules go. */
  roomOf(tenant: string): number {
    if (this.weights.get(tenant) === 0) return 0
    const maxSlots = this.#tenants.get(tenant)?.maxSlots ?? Number.POSITIVE_INFINITY
    return maxSlots - (this.#running.get(tenant) ?? 0)
  }

  /** Those that may start nothing, whether they have jobs or not. */
  heldTenants(): Held[] {
    return [...this.weights].flatMap(([tenant, weight]) => (weight === 0 ? this.#heldOf(tenant) : []))
  }

  /** Those of which a limit of their own has turned away a job, for a while. */
  refusedTenants(): Held[] {
    return [...this.#refused.values()].flatMap((job) => {
      if (this.weights.get(job.tenant as string) === 0) return []
      const waitMs = this.meters.tenantWaitMs(job) ?? 0
      if (waitMs < MIN_PARKED_MS) return []
      const untilS = (this.#nowMs + Math.min(waitMs, MAX_PARKED_MS)) / 1_000
      return [{ tenant: job.tenant as string, type: job.type, untilS, few: MAX_PARKED_RATED }]
    })
  }

  #heldOf(tenant: string): Held {
    const isSuspended = (this.#tenants.get(tenant)?.status ?? 'active') !== 'active'
    const pauses = this.#pauses.filter((pause) => pause.type === null && pause.tenant === tenant)
    const ends = pauses.map(({ untilMs }) => untilMs ?? Number.POSITIVE_INFINITY)
    const isForTime = !isSuspended && pauses.length > 0
    const untilS = isForTime ? Math.max(...ends) / 1_000 : Number.POSITIVE_INFINITY
    return { tenant, type: null, untilS, few: isSuspended || isForTime ? null : MAX_PARKED_CAPPED }
  }

  #weightOf(tenant: string | null): number {
    return tenant === null ? 1 : (this.#tenants.get(tenant)?.weight ?? 1)
  }

  /** `isByTurn`: who is looked at has its turn, and would wait for the next one if it were rounded down. */
  #shareOf(tenant: string | null, isByTurn: boolean): Share {
    const rule = tenant === null ? undefined : this.#tenants.get(tenant)
    return {
      running: this.#running.get(tenant) ?? 0,
      weight: this.#weightOf(tenant),
      minSlots: rule?.minSlots ?? 0,
      maxSlots: rule?.maxSlots ?? Number.POSITIVE_INFINITY,
      served: this.#turns.servedOf(tenant),
      isAhead: !isByTurn && this.#balance.isAhead(tenant),
    }
  }

  #candidate([nth, tenant, , id, type, priority, runAtS, payload]: Seen): Candidate[] {
    if (id === null) return []
    const cost = payload === null ? 1 : jobCost(this.#contractOf(type), this.#keys, { tenant, payload })
    return [{ id, tenant, type, nth, priority, runAtS, cost }]
  }

  #isTypePaused(type: string): boolean {
    return this.#pauses.some((pause) => pause.tenant === null && pause.type === type)
  }

  #weights(): Map<string, number> {
    const weights = new Map<string, number>()
    for (const { name, status, weight, maxSlots } of this.#tenants.values()) {
      const isFull = maxSlots !== null && (this.#running.get(name) ?? 0) >= maxSlots
      weights.set(name, status !== 'active' || isFull ? 0 : weight)
    }
    for (const { type, tenant } of this.#pauses) if (type === null && tenant !== null) weights.set(tenant, 0)
    return weights
  }
}

/**
 * Of each tenant in the order in which they are to run; the tenants in the order of the walk. A tenant's priorities are streams of
 * their own there; all jobs without tenant are one.
 */
function inOrder(a: Candidate, b: Candidate): number {
  return a.nth - b.nth || a.priority - b.priority || a.runAtS - b.runAtS || compareIds(a.id, b.id)
}
