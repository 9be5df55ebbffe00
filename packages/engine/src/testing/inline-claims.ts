// Claims jobs for runs in the caller's process, by the statement that workers use and under a lease of its own, so that
// a real worker's rescuer leaves them alone.
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { ClientServices } from '../client-services.ts'
import { monotonicMs } from '../clock.ts'
import type { JobContract } from '../contract/job.ts'
import { InvalidDefinition } from '../errors.ts'
import { BreakerGate } from '../governance/breaker-gate.ts'
import type { GovernedRequest } from '../governance/governed-claim.ts'
import { Governor } from '../governance/governor.ts'
import { checkTenantRole } from '../governance/tenant-role.ts'
import { governedTake } from '../store/governed-claims.ts'
import { type ClaimedJob, jobClaim } from '../store/job-claims.ts'
import { ensurePartitions } from '../store/partitions.ts'
import { giveBack, settle } from '../store/settlements.ts'
import { workerEnd, workerRegister } from '../store/workers.ts'
import { VERSION } from '../version.ts'
import type { Lane, LaneType } from '../worker/lane.ts'
import { planLanes } from '../worker/lane-plan.ts'
import { claimProbe } from '../worker/probe-claim.ts'
import { Run } from '../worker/run.ts'
import { inlineBreakers } from './inline-breakers.ts'

/** Nobody renews it: a test that takes longer has other worries. */
const LEASE_MS = 3_600_000

export class InlineClaims {
  readonly workerId = randomUUID()
  readonly #services: ClientServices
  readonly #lanes: readonly Lane[]
  readonly #governor: Governor
  readonly #gate: BreakerGate

  constructor(services: ClientServices, contracts: readonly JobContract[], breakers = inlineBreakers(services)) {
    this.#services = services
    this.#gate = new BreakerGate(breakers, contracts)
    for (const contract of contracts) services.registry.demand(contract)
    this.#lanes = planLanes({}, contracts)
    this.#governor = new Governor(services)
  }

  get queues(): string[] {
    return this.#lanes.map((lane) => lane.name)
  }

  get types(): string[] {
    return this.#lanes[0]?.types.map(({ type }) => type) ?? []
  }

  async begin(): Promise<void> {
    const { db, clock, tenantRole, declared } = this.#services
    if (tenantRole !== undefined) await checkTenantRole(db, tenantRole)
    await ensurePartitions(db, clock.databaseNow())
    const lanes = Object.fromEntries(this.#lanes.map((lane) => [lane.name, 1]))
    const knows = { types: this.types, schedules: declared.names, program: null }
    const about = { host: hostname(), pid: process.pid, version: VERSION, lanes, ...knows, ttlMs: LEASE_MS }
    // On the database's own clock, as every lease.
    await workerRegister(db, null, { id: this.workerId, ...about })
  }

  async end(): Promise<void> {
    await workerEnd(this.#services.db, null, this.workerId, 'the test is done with it')
  }

  /** The head of a queue; with it perhaps a job whose last run crashed, which then comes first. */
  async next(queue: string): Promise<Run[]> {
    const lane = this.#laneOf(queue)
    const { types, chances } = await this.#gate.admit(lane.types)
    const claim = { runId: randomUUID(), workerId: this.workerId }
    const about = { queues: [queue], mayTakeSuspect: true, here: new Map() }
    for (const chance of chances) {
      const { jobs } = await claimProbe({ gate: this.#gate, governor: this.#governor }, chance, { ...claim, ...about })
      if (jobs.length > 0) return jobs.map((job) => this.#runOf(job, claim.runId, lane))
    }
    return types.length === 0 ? [] : this.#head(queue, types)
  }

  /** When a breaker that holds jobs back lets one of them try. */
  get nextProbeAt(): Date | null {
    return this.#gate.nextProbeAt
  }

  async #head(queue: string, types: readonly LaneType[]): Promise<Run[]> {
    const lane = this.#laneOf(queue)
    const { db, clock } = this.#services
    const claim = { runId: randomUUID(), workerId: this.workerId, types }
    const plain = await jobClaim(db, clock.databaseNow(), {
      ...claim,
      queues: [{ queue, limit: 1 }],
      suspectQueues: [queue],
      byType: types.length < lane.types.length,
    })
    const jobs = plain.length > 0 ? plain : await this.#nextGoverned(queue, claim)
    return [...jobs].sort((a, b) => b.crashes - a.crashes).map((job) => this.#runOf(job, claim.runId, lane))
  }

  /** Of a tenant: whose turn it is. A look may have to go on behind the last one. */
  async #nextGoverned(
    queue: string,
    claim: Pick<GovernedRequest, 'runId' | 'workerId' | 'types'>,
  ): Promise<readonly ClaimedJob[]> {
    for (;;) {
      const answer = await this.#governor.claim({ ...claim, queue, slots: 1, mayTakeSuspect: true, here: new Map() })
      if (answer.jobs.length > 0 || answer.state === 'drained') return answer.jobs
    }
  }

  /** One certain job, whatever waits before it, and whatever limits say. */
  async one(job: { id: string; queue: string }): Promise<Run> {
    const lane = this.#laneOf(job.queue)
    const runId = randomUUID()
    const { db, clock } = this.#services
    const [claimed] = await governedTake(db, clock.databaseNow(), {
      ids: [job.id],
      types: lane.types.map((each) => ({ ...each, limits: [] })),
      runId,
      workerId: this.workerId,
      queue: job.queue,
      turn: null,
      since: null,
      spent: [],
      isDurable: false,
    })
    if (claimed !== undefined) return this.#runOf(claimed, runId, lane)
    throw new InvalidDefinition(
      `Job ${job.id} cannot be claimed: it is not waiting, not due, blocked by others of its key, or somebody else has it. Are workers running on this database?`,
    )
  }

  #laneOf(queue: string): Lane {
    return this.#lanes.find((each) => each.name === queue) as Lane
  }

  async giveBack(runs: readonly Run[]): Promise<void> {
    const { db, clock } = this.#services
    const settlements = runs.map((run) => giveBack(run.fence))
    await settle(db, clock.databaseNow(), settlements)
  }

  #runOf(job: ClaimedJob, runId: string, lane: Lane): Run {
    const { registry } = this.#services
    const contract = registry.get(job.type)
    return new Run(job, { runId, lane, contract, keys: registry.keys, place: 0, claimedAtMs: monotonicMs() })
  }
}
