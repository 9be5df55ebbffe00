// Claims jobs for runs in the caller's process, by the statement that workers use and under a lease of its own, so that
// a real worker's rescuer leaves them alone.
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { monotonicMs } from '../clock.ts'
import type { JobContract } from '../contract/job.ts'
import { InvalidDefinition } from '../errors.ts'
import type { ClientServices } from '../millrace.ts'
import { type ClaimedJob, jobClaim } from '../store/jobs.ts'
import { ensurePartitions } from '../store/partitions.ts'
import { giveBack, settle } from '../store/settlements.ts'
import { jobHoldOthers } from '../store/testing.ts'
import { workerEnd, workerRegister } from '../store/workers.ts'
import { VERSION } from '../version.ts'
import type { Lane } from '../worker/lane.ts'
import { planLanes } from '../worker/lane-plan.ts'
import { Run } from '../worker/run.ts'

/** Nobody renews it: a test that takes longer has other worries. */
const LEASE_MS = 3_600_000

/** Two that hold each other's job would both come away with nothing. */
let turn: Promise<unknown> = Promise.resolve()

export class InlineClaims {
  readonly workerId = randomUUID()
  readonly #services: ClientServices
  readonly #lanes: readonly Lane[]

  constructor(services: ClientServices, contracts: readonly JobContract[]) {
    this.#services = services
    for (const contract of contracts) services.registry.demand(contract)
    this.#lanes = planLanes({}, contracts)
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
    const jobs = await jobClaim(db, clock.databaseNow(), {
      queues: [{ queue, limit: 1 }],
      types: lane.types,
      runId,
      workerId: this.workerId,
      suspectQueues: [queue],
      byType: false,
    })
    return jobs.sort((a, b) => b.crashes - a.crashes).map((job) => this.#runOf(job, runId, lane))
  }

  /** One certain job, whatever waits before it. */
  one(job: { id: string; queue: string }): Promise<Run> {
    const mine = turn.then(() => this.#claimAlone(job))
    turn = mine.catch(() => {})
    return mine
  }

  async #claimAlone(job: { id: string; queue: string }): Promise<Run> {
    // On a connection of its own: the client may have no second one.
    const holder = this.#services.open(1)
    try {
      const runs = await holder.transaction(async (tx) => {
        await jobHoldOthers(tx, job)
        return this.next(job.queue)
      })
      const run = runs.find((each) => each.job.id === job.id)
      await this.giveBack(runs.filter((each) => each !== run))
      if (run !== undefined) return run
    } finally {
      await holder.close()
    }
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
