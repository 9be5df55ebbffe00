// Claims jobs for runs in the caller's process, by the statement that workers use and under a lease of its own, so that
// a real worker's rescuer leaves them alone.
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { monotonicMs } from '../clock.ts'
import type { JobContract } from '../contract/job.ts'
import { InvalidDefinition } from '../errors.ts'
import { type GovernedRequest, Governor } from '../governance/governor.ts'
import type { ClientServices } from '../millrace.ts'
import { governedTake } from '../store/governed-claims.ts'
import { type ClaimedJob, jobClaim } from '../store/jobs.ts'
import { ensurePartitions } from '../store/partitions.ts'
import { giveBack, settle } from '../store/settlements.ts'
import { workerEnd, workerRegister } from '../store/workers.ts'
import { VERSION } from '../version.ts'
import type { Lane } from '../worker/lane.ts'
import { planLanes } from '../worker/lane-plan.ts'
import { Run } from '../worker/run.ts'

/** Nobody renews it: a test that takes longer has other worries. */
const LEASE_MS = 3_600_000

export class InlineClaims {
  readonly workerId = randomUUID()
  readonly #services: ClientServices
  readonly #lanes: readonly Lane[]
  readonly #governor: Governor

  constructor(services: ClientServices, contracts: readonly JobContract[]) {
    this.#services = services
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
    const { db, clock } = this.#services
    await ensurePartitions(db, clock.databaseNow())
    const lanes = Object.fromEntries(this.#lanes.map((lane) => [lane.name, 1]))
    const worker = { id: this.workerId, host: hostname(), pid: process.pid, version: VERSION, lanes, ttlMs: LEASE_MS }
    // On the database's own clock, as every lease.
    await workerRegister(db, null, worker)
  }

  async end(): Promise<void> {
    await workerEnd(this.#services.db, null, this.workerId, 'the test is done with it')
  }

  /** The head of a queue; with it perhaps a job whose last run crashed, which then comes first. */
  async next(queue: string): Promise<Run[]> {
    const lane = this.#lanes.find((each) => each.name === queue) as Lane
    const runId = randomUUID()
    const { db, clock } = this.#services
    const claim = { runId, workerId: this.workerId, types: lane.types }
    const plain = await jobClaim(db, clock.databaseNow(), {
      ...claim,
      queues: [{ queue, limit: 1 }],
      suspectQueues: [queue],
      byType: false,
    })
    const jobs = plain.length > 0 ? plain : await this.#nextGoverned(queue, claim)
    return [...jobs].sort((a, b) => b.crashes - a.crashes).map((job) => this.#runOf(job, runId, lane))
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
    const lane = this.#lanes.find((each) => each.name === job.queue) as Lane
    const runId = randomUUID()
    const { db, clock } = this.#services
    const [claimed] = await governedTake(db, clock.databaseNow(), {
      ids: [job.id],
      types: lane.types.map((each) => ({ ...each, limits: [] })),
      runId,
      workerId: this.workerId,
      queue: job.queue,
      turn: null,
      spent: [],
      isDurable: false,
    })
    if (claimed !== undefined) return this.#runOf(claimed, runId, lane)
    throw new InvalidDefinition(
      `Job ${job.id} cannot be claimed: it is not waiting, not due, or somebody else has it. Are workers running on this database?`,
    )
  }

  async giveBack(runs: readonly Run[]): Promise<void> {
    const { db, clock } = this.#services
    const settlements = runs.map((run) => giveBack(run.fence))
    await settle(db, clock.databaseNow(), settlements)
  }

  #runOf(job: ClaimedJob, runId: string, lane: Lane): Run {
    const contract = this.#services.registry.get(job.type)
    return new Run(job, { runId, lane, contract, place: 0, claimedAtMs: monotonicMs() })
  }
}
