// What a process knows about who may run: the rules that people set, the limits of its contracts, and which queues must be
// claimed from by counting and sharing out. How such a claim is made is in governed-claim.ts.
import { type Clock, monotonicMs } from '../clock.ts'
import type { JobContract } from '../contract/job.ts'
import type { RetryAfter } from '../contract/outcome.ts'
import type { Registry } from '../contract/registry.ts'
import { TenantSuspended } from '../errors.ts'
import type { Database, Session } from '../store/db.ts'
import { FEW_JOBS, type Position } from '../store/job-claims.ts'
import { limitHold } from '../store/limits.ts'
import { type GovernedAnswer, GovernedClaim, type GovernedRequest } from './governed-claim.ts'
import { limitsOf } from './meters.ts'
import { isLimitedHere, runsHere } from './process-runs.ts'
import { QueueMemory } from './queue-memory.ts'
import { Rules } from './rules.ts'

/** What a limit with `perProcess` allows in this process. */
export interface PermitsHere {
  limit: string
  most: number
  free: number
  /** That it holds for. */
  types: string[]
}

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
  async keepUp(rulesVersion: number, session: Session = this.#db): Promise<void> {
    if (!this.#rules.isCurrent(rulesVersion)) await this.#load(session)
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

  /** What a limit per process leaves free. */
  freeHere(limit: string): number | undefined {
    return this.permitsHere().find((permits) => permits.limit === limit)?.free
  }

  /** Of every limit per process. */
  permitsHere(): PermitsHere[] {
    const found = new Map<string, PermitsHere>()
    for (const contract of this.#registry.contracts) {
      for (const { name, perProcess } of limitsOf(contract, this.#rules)) {
        if (perProcess === undefined) continue
        const free = Math.max(0, perProcess - (runsHere.get(name) ?? 0))
        const permits = found.get(name) ?? { limit: name, most: perProcess, free, types: [] }
        permits.types.push(contract.type)
        found.set(name, permits)
      }
    }
    return [...found.values()]
  }

  /** The queues in which something may have waited for a place that a run of this type has left. */
  queuesWaitingFor(contract: JobContract, tenant: string | null): readonly string[] {
    let queues = this.#waiting.get(contract)
    if (queues === undefined) {
      queues = this.#queuesSharing(contract)
      this.#waiting.set(contract, queues)
    }
    const isCapped = tenant !== null && this.#rules.tenantsIn(contract.queue.name).get(tenant)?.maxSlots != null
    return queues.length === 0 && isCapped ? [contract.queue.name] : queues
  }

  #queuesSharing(contract: JobContract): readonly string[] {
    const limits = limitsOf(contract, this.#rules).filter(
      ({ running, perProcess }) => (running ?? perProcess) !== undefined,
    )
    if (limits.length === 0) return NO_QUEUES
    const names = new Set(limits.map(({ name }) => name))
    const shares = ({ limits: own, queue }: JobContract) =>
      [...own, ...queue.limits].some(({ name }) => names.has(name))
    const others = this.#registry.contracts.filter(shares).map(({ queue }) => queue.name)
    return [...new Set([contract.queue.name, ...others])]
  }

  /** These jobs wait in this queue, perhaps before what was claimed from it last. */
  goBackTo(queue: string, jobs: readonly Position[]): void {
    for (const job of jobs) this.#memories.get(queue)?.goBackTo(job)
  }

  /** Jobs of tenants wait in it. */
  sawTenants(queue: string): void {
    this.#memoryOf(queue).sawTenants()
  }

  /** Do jobs of these types take places that all workers of the process share? */
  isLimitedHere(types: readonly { type: string }[]): boolean {
    return types.some(({ type }) => {
      const contract = this.#registry.find(type)
      return contract !== undefined && isLimitedHere(contract)
    })
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

  /** A claimed job of this process goes back without having run. */
  returned({ queue, tenant }: { queue: string; tenant: string | null }): void {
    this.#memories.get(queue)?.balance.returned(tenant)
  }

  /** A run of this process is over. */
  ran({ queue, tenant }: { queue: string; tenant: string | null }, ms: number): void {
    this.#memories.get(queue)?.balance.ran(tenant, ms)
  }

  async claim(request: GovernedRequest): Promise<GovernedAnswer> {
    const memory = this.#memoryOf(request.queue)
    const claim = (tx: Session) => this.claimIn(tx, request)
    // To plan the statements takes longer than a few jobs do; a large claim is worth plans of its own.
    const answer = memory.isQuiet ? await this.#db.transactionAhead(claim) : await this.#db.transaction(claim)
    answer.committed()
    memory.isQuiet = answer.jobs.length <= FEW_JOBS
    return answer
  }

  /** In a transaction that decides about more than this claim. The caller says when it is committed. */
  claimIn(tx: Session, request: GovernedRequest): Promise<GovernedAnswer> {
    const claim = new GovernedClaim(tx, request, {
      schema: this.#db.schema,
      clock: this.#clock,
      registry: this.#registry,
      rules: this.#rules,
      memory: this.#memoryOf(request.queue),
      keepUp: (rulesVersion, session) => this.keepUp(rulesVersion, session),
    })
    return claim.run()
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

const NO_QUEUES: readonly string[] = []
