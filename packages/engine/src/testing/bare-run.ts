// A run without a database: the row that enqueueing would have written, claimed in thought, through the same executor
// and verdict that a worker uses.
import { randomBytes, randomUUID } from 'node:crypto'
import { type EnqueueOptions, newJob } from '../client/enqueue-options.ts'
import { type Clock, monotonicMs, systemClock } from '../clock.ts'
import { type Duration, toMs } from '../contract/duration.ts'
import { KeyRing } from '../contract/key-ring.ts'
import { InvalidDefinition } from '../errors.ts'
import type { Door } from '../governance/breaker-call.ts'
import type { ClaimedJob } from '../store/job-claims.ts'
import type { NewJob } from '../store/jobs.ts'
import { ownCorrelation } from '../store/own-correlation.ts'
import type { Implementation } from '../worker/context.ts'
import { Executor } from '../worker/executor.ts'
import type { Lane } from '../worker/lane.ts'
import { planLanes } from '../worker/lane-plan.ts'
import { Run } from '../worker/run.ts'
import { keptAlive } from './inline-runner.ts'
import { isolatedInline } from './isolated-inline.ts'
import { asStored, LogCollector, type RunReport, reportOf } from './report.ts'

export interface BareOptions {
  /** Which attempt this is. Default 1. */
  attempt?: number
  /** How long ago it was enqueued. Default 0. */
  age?: Duration
  clock?: Clock
}

export async function runBare(
  implementation: Implementation,
  payload: unknown,
  options: BareOptions & EnqueueOptions,
): Promise<RunReport> {
  const { contract } = implementation
  const { job: enqueued } = await newJob(contract, payload, options)
  const job = claimed(enqueued, options)
  const [lane] = planLanes({}, [contract]) as [Lane]
  // Nothing is stored, so any key will do for what is sensitive.
  const keys = new KeyRing({ keys: [{ id: 'test', key: randomBytes(32) }] })
  const run = new Run(job, { runId: randomUUID(), lane, contract, keys, place: 0, claimedAtMs: monotonicMs() })
  const bench = new BareBench(run, implementation, options.clock ?? systemClock)
  const report = await bench.run()
  if (bench.misuse !== undefined) throw bench.misuse
  return report
}

/** Without a database every breaker is closed, and nobody counts. */
const CLOSED_DOOR: Door = { enter: async () => {}, succeeded: async () => {}, failed: async () => {} }

/** Stands where a worker would: hands the run to the executor and catches the settlement. */
class BareBench {
  readonly #run: Run
  readonly #implementation: Implementation
  readonly #clock: Clock
  readonly #logger = new LogCollector()
  /** The handler wants what only a database can give: the test must fail, not the attempt. */
  misuse: InvalidDefinition | undefined

  constructor(run: Run, implementation: Implementation, clock: Clock) {
    this.#run = run
    this.#implementation = implementation
    this.#clock = clock
  }

  run(): Promise<RunReport> {
    let executor: Executor | undefined
    const settled = new Promise<RunReport>((resolve) => {
      executor = new Executor({
        clock: this.#clock,
        traces: 'link',
        logger: this.#logger,
        enqueuer: { enqueue: () => this.#refuse('ctx.enqueue'), enqueuePrepared: () => this.#refuse('ctx.enqueue') },
        onProgress: () => {},
        implementation: () => this.#implementation,
        isolatedHandler: () => isolatedInline(this.#implementation),
        mayStart: () => true,
        admit: async () => undefined,
        budgetPort: () => {
          throw this.#misused('ctx.budget')
        },
        settle: (run, settlement) => {
          run.isSettling = true
          resolve(reportOf(run, settlement, this.#logger.lines))
        },
        completeInOwnTransaction: () => this.#refuse(),
        completeIn: () => this.#refuse(),
        breakerDoor: () => CLOSED_DOOR,
        once: () => this.#refuse(),
        step: () => this.#refuse(),
        tenantDb: () => this.#refuse(),
        isCompleted: async () => false,
        onStarted: () => {},
        onReturned: () => {},
        onCommitted: () => {},
        onLeaked: () => {},
        onPostponed: () => {},
      })
    })
    return keptAlive(settled, () => executor?.execute(this.#run))
  }

  async #refuse(what = 'ctx.transaction, ctx.complete, ctx.once, ctx.step or ctx.tenantDb'): Promise<never> {
    throw this.#misused(what)
  }

  #misused(what: string): InvalidDefinition {
    this.misuse ??= new InvalidDefinition(
      `The handler of job "${this.#run.job.type}" used ${what}, and this run has no database. Run it with runJob(…, { millrace }).`,
    )
    return this.misuse
  }
}

function claimed(job: NewJob, { attempt = 1, age = 0, clock = systemClock }: BareOptions): ClaimedJob {
  if (!Number.isInteger(attempt) || attempt < 1 || attempt > job.maxAttempts) {
    throw new InvalidDefinition(`attempt is ${attempt}: job "${job.type}" has attempts 1 to ${job.maxAttempts}.`)
  }
  const { type, queue, tenant, priority, maxAttempts, correlationId, parentJobId, createdBy } = job
  const id = '1'
  return {
    id,
    type,
    queue,
    tenant,
    priority,
    payload: asStored(job.payload),
    payloadVersion: job.payloadVersion,
    attempt,
    maxAttempts,
    crashes: 0,
    correlationId: correlationId ?? ownCorrelation(id),
    parentJobId,
    createdBy,
    isCancelRequested: false,
    runAtS: 0,
    orderKey: job.orderKey,
    limitKey: job.limitKey,
    tenantJobs: job.tenantJobs,
    workflowId: null,
    traceParent: job.traceParent,
    ageMs: toMs(age, 'age'),
    waitMs: 0,
    claimedAt: clock.databaseNow(),
  }
}
