// The client that programs hold: enqueue, look, cancel, and start workers.
import type pg from 'pg'
import { CircuitBreakers } from './client/breakers.ts'
import { BudgetClient } from './client/budgets.ts'
import {
  type CorrelatedJobs,
  type CorrelationOptions,
  Correlations,
  type CorrelationTrace,
} from './client/correlation.ts'
import { DeadLetters, type RedriveOptions } from './client/dead-letters.ts'
import { EncryptionKeys } from './client/encryption-keys.ts'
import type { EnqueueOptions, OptionsArgument } from './client/enqueue-options.ts'
import { type EnqueueResult, Enqueuer } from './client/enqueuer.ts'
import { type EraseRequest, type EraseResult, Eraser } from './client/erasure.ts'
import { Explainers, type Explanation } from './client/explain.ts'
import { Herald } from './client/herald.ts'
import { HistorySettings } from './client/history-settings.ts'
import { Keys } from './client/keys.ts'
import { Limits } from './client/limits.ts'
import { type CancelResult, JobManager } from './client/manage.ts'
import { Pauses } from './client/pauses.ts'
import { type PrioritiseOptions, type PrioritiseResult, prioritiseJob } from './client/prioritise.ts'
import { type JobResult, type ResultOptions, Results } from './client/results.ts'
import { type RetryResult, retryJob } from './client/retry.ts'
import { Schedules } from './client/schedules.ts'
import { Tenants } from './client/tenants.ts'
import { Waker } from './client/waker.ts'
import { Workflows } from './client/workflows.ts'
import { type Clock, systemClock, within } from './clock.ts'
import type { JobContract, PayloadInput, ResultOutput } from './contract/job.ts'
import { type EncryptionOptions, KeyRing } from './contract/key-ring.ts'
import { Registry } from './contract/registry.ts'
import { EncryptionKeyMissing, InvalidDefinition, WorkerStopping } from './errors.ts'
import { Events } from './events.ts'
import { Admitter } from './governance/admitter.ts'
import { checkTenantPolicies, type TenantPolicyOptions, type TenantPolicyReport } from './governance/tenant-policies.ts'
import { checkTenantRole } from './governance/tenant-role.ts'
import { type Logger, stderrLogger } from './logger.ts'
import type { Schedule } from './schedule/define.ts'
import { DeclaredSchedules } from './schedule/schedules.ts'
import { ConnectGate } from './store/connect-gate.ts'
import { Database } from './store/db.ts'
import type { JobEvent } from './store/history.ts'
import type { JobFilter } from './store/job-list.ts'
import type { Job, JobAttempt, QueueCount } from './store/jobs.ts'
import { checkSchema } from './store/migrator.ts'
import type { JobStep } from './store/once-keys.ts'
import { checkServer } from './store/server.ts'
import { type WorkOptions, workerSettings } from './worker/work-options.ts'
import { Worker } from './worker/worker.ts'
import { Advancer } from './workflow/advancer.ts'
import type { WorkflowDefinition } from './workflow/definition.ts'
import { Definitions } from './workflow/definitions.ts'

export interface MillraceOptions {
  /** A connection string, or what `pg` takes. Plain data: it is passed on to a thread. */
  database: string | pg.ClientConfig
  /** Every contract this program enqueues or runs. */
  jobs: readonly JobContract[]
  /** What its workers enqueue at given times: see defineSchedule. */
  schedules?: readonly Schedule[]
  /** Every workflow this program starts or carries on. Their contracts need not be listed again. */
  workflows?: readonly WorkflowDefinition[]
  /** Default 'millrace'. */
  schema?: string
  /**
   * Connections at most for enqueueing, and as many again for the transactions of a worker's handlers. A worker needs
   * four more for itself, and two if its jobs are charged to budgets. Default 10.
   */
  maxConnections?: number
  /**
   * Use NOTIFY. Off: workers elsewhere find work at their next poll, up to a minute later, and results from elsewhere are
   * found by polling, up to 1 s later. Default true.
   */
  notify?: boolean
  /**
   * The role under which ctx.tenantDb runs a handler's queries: without login, without rights on Millrace's tables, bound
   * by row-level security. Checked when a worker starts.
   */
  tenantRole?: string | undefined
  /** Default: warnings and errors as JSON lines on stderr. A pino instance fits. */
  logger?: Logger
  /** The keys of job types that are `sensitive`. */
  encryption?: EncryptionOptions
  /** For tests that move time. */
  clock?: Clock
}

export interface ClientServices {
  db: Database
  clock: Clock
  registry: Registry
  events: Events
  logger: Logger
  waker: Waker
  tenantRole: string | undefined
  admitter: Admitter
  enqueuer: Enqueuer
  declared: DeclaredSchedules
  advancer: Advancer
  /** More connections to the same database. The caller closes them. */
  open(maxConnections: number): Database
}

const DEFAULT_CONNECTIONS = 10
const ENGINE_CONNECTIONS = 3
const BUDGET_CONNECTIONS = 2
/** What has not been admitted by then is left to the sweep of others. */
const ADMIT_MS = 2_000

export function createMillrace(options: MillraceOptions): Millrace {
  return new Millrace(options)
}

export class Millrace {
  readonly events = new Events()
  /** Jobs that failed for good, and what to do with them. */
  readonly deadLetters: DeadLetters
  /** What jobs may spend, and have spent. */
  readonly budgets: BudgetClient
  /** Shares, limits and lifecycle of tenants. */
  readonly tenants: Tenants
  /** Stop claiming from a queue, of a type or for a tenant, and go on. */
  readonly pauses: Pauses
  /** What limits allow, what is used of them, and settings at run time. */
  readonly limits: Limits
  /** The circuit breakers of the services that handlers call. */
  readonly breakers: CircuitBreakers
  /** Which encryption keys are still needed, and how to be rid of one. */
  readonly encryptionKeys: EncryptionKeys
  /** Order and limit keys: those that a death has stopped, and how many of a key run at once. */
  readonly keys: Keys
  /** Which types have a history, and decisions about that. */
  readonly historySettings: HistorySettings
  /** Jobs that are enqueued at given times: look, run now, pause, edit, create, backfill. */
  readonly schedules: Schedules
  /** Jobs that form a graph. */
  readonly workflows: Workflows
  readonly #options: MillraceOptions
  readonly #connection: pg.ClientConfig
  readonly #schema: string
  readonly #clock: Clock
  readonly #registry: Registry
  readonly #declared: DeclaredSchedules
  readonly #gate = new ConnectGate()
  readonly #db: Database
  readonly #waker: Waker
  readonly #herald: Herald
  readonly #admitter: Admitter
  readonly #advancer: Advancer
  readonly #results: Results
  readonly #enqueuer: Enqueuer
  readonly #jobs: JobManager
  readonly #eraser: Eraser
  readonly #correlations: Correlations
  readonly #explainers: Explainers
  readonly #workers = new Set<Worker>()
  #closed: Promise<void> | undefined

  constructor(options: MillraceOptions) {
    this.#options = options
    this.#connection = typeof options.database === 'string' ? { connectionString: options.database } : options.database
    this.#schema = options.schema ?? 'millrace'
    this.#clock = options.clock ?? systemClock
    const { encryption } = options
    const definitions = new Definitions(options.workflows ?? [], (type) => this.#registry.get(type))
    const contracts = [...options.jobs, ...definitions.contracts]
    this.#registry = new Registry(contracts, encryption && new KeyRing(encryption))
    this.#declared = new DeclaredSchedules(options.schedules ?? [], this.#registry)
    this.#db = this.#open(options.maxConnections ?? DEFAULT_CONNECTIONS)
    const db = this.#db
    const isNotifyEnabled = options.notify ?? true
    this.#waker = new Waker(db, { isEnabled: isNotifyEnabled })
    this.#herald = new Herald({ db, events: this.events }, { isEnabled: isNotifyEnabled })
    this.#admitter = new Admitter({
      db,
      clock: this.#clock,
      wake: (queues) => this.#waker.wake(queues),
      onError: (during, error) => this.events.emit('database_error', { during, error }),
    })
    const services = {
      db,
      clock: this.#clock,
      registry: this.#registry,
      waker: this.#waker,
      herald: this.#herald,
      admitter: this.#admitter,
    }
    this.#results = new Results({ ...services, events: this.events, connection: this.#connection }, { isNotifyEnabled })
    this.#enqueuer = new Enqueuer({ ...services, events: this.events, logger: options.logger ?? stderrLogger })
    this.#jobs = new JobManager({ ...services, onStepsEnded: (ids) => void this.#advancer.heard(ids) })
    this.schedules = new Schedules({
      ...services,
      declared: this.#declared,
      enqueuer: this.#enqueuer,
      events: this.events,
      logger: options.logger ?? stderrLogger,
    })
    const courses = {
      ...services,
      definitions,
      events: this.events,
      insertSteps: this.#enqueuer.insertSteps.bind(this.#enqueuer),
    }
    this.#advancer = new Advancer({
      ...courses,
      logger: options.logger ?? stderrLogger,
      wake: (queues) => this.#waker.wake(queues),
      admit: (keys) => this.#admitter.admit(keys),
      cancel: (...args) => this.#jobs.cancelMany(...args),
      tell: (ids) => this.#waker.tellWorkflows(ids),
      onError: (during, error) => this.events.emit('database_error', { during, error }),
    })
    this.workflows = new Workflows({ ...courses, advancer: this.#advancer })
    this.deadLetters = new DeadLetters(services)
    this.budgets = new BudgetClient({ ...services, events: this.events })
    this.tenants = new Tenants({ ...services, jobs: this.#jobs })
    this.pauses = new Pauses(services)
    this.limits = new Limits(services)
    this.keys = new Keys(services)
    this.historySettings = new HistorySettings(services)
    this.breakers = new CircuitBreakers({ ...services, events: this.events, logger: options.logger ?? stderrLogger })
    this.encryptionKeys = new EncryptionKeys(courses)
    this.#eraser = new Eraser({ ...services, jobs: this.#jobs })
    this.#correlations = new Correlations(services)
    this.#explainers = new Explainers(services)
  }

  /** Writes a job. Inside `{ tx }` it exists exactly if that transaction commits. */
  enqueue<C extends JobContract>(
    contract: C,
    payload: PayloadInput<C>,
    ...[options]: OptionsArgument<C>
  ): Promise<EnqueueResult> {
    return this.#enqueuer.enqueue(contract, payload, options ?? {})
  }

  /** Writes many jobs of one type, all or none. The results are by position. */
  enqueueMany<C extends JobContract>(
    contract: C,
    payloads: readonly PayloadInput<C>[],
    ...[options]: OptionsArgument<C>
  ): Promise<EnqueueResult[]> {
    return this.#enqueuer.enqueueMany(contract, payloads, options ?? {})
  }

  /** As enqueue, for callers that know the type only by name, such as a command line. */
  async enqueueByType(type: string, payload: unknown, options: EnqueueOptions = {}): Promise<EnqueueResult> {
    return this.#enqueuer.enqueue(this.#registry.get(type), payload, options)
  }

  cancel(id: string, options: { reason?: string } = {}): Promise<CancelResult> {
    return this.#jobs.cancel(id, options.reason ?? 'cancelled on request')
  }

  /** Tries a job again: a waiting one at once, a dead one by redriving its letter as a new job. */
  retry(id: string, options: RedriveOptions): Promise<RetryResult> {
    return retryJob({ jobs: this.#jobs, deadLetters: this.deadLetters }, id, options)
  }

  /** Makes a waiting job due now. False: it is not waiting. */
  runNow(id: string): Promise<boolean> {
    return this.#jobs.runNow(id)
  }

  /** Why does this job not run? What holds it, who holds it, until when, and what to do. Throws JobNotFound. */
  explain(id: string): Promise<Explanation> {
    return this.#explainers.explain(id)
  }

  /** Gives a waiting job another priority: lower runs first. */
  prioritise(id: string, priority: number, options: PrioritiseOptions): Promise<PrioritiseResult> {
    return prioritiseJob({ db: this.#db, clock: this.#clock, waker: this.#waker }, id, priority, options)
  }

  job(id: string): Promise<Job | undefined> {
    return this.#jobs.get(id)
  }

  /** Jobs, live and archived, newest first. */
  jobs(filter: JobFilter = {}): Promise<Job[]> {
    return this.#jobs.list(filter)
  }

  /**
   * Waits until a job has ended for good, in whatever process, and says how. Throws ResultTimeout when it has not in
   * time, and JobNotFound when there is no such job. A handler that awaits another job keeps its slot meanwhile.
   */
  result<C extends JobContract = JobContract>(
    id: string,
    options: ResultOptions<C> = {},
  ): Promise<JobResult<ResultOutput<C>>> {
    return this.#results.result(id, options)
  }

  /** The failed attempts of a job, oldest first. */
  attempts(id: string): Promise<JobAttempt[]> {
    return this.#jobs.attempts(id)
  }

  /** Every transition of a job, oldest first, of types whose history is kept. */
  history(id: string): Promise<JobEvent[]> {
    return this.#jobs.history(id)
  }

  /** What a job has recorded by ctx.step, and a step that it is at: so far has it come. */
  steps(id: string): Promise<JobStep[]> {
    return this.#jobs.steps(id)
  }

  /** All jobs that share a correlation id, live and archived, in order of creation. */
  jobsByCorrelation(correlationId: string, options: CorrelationOptions = {}): Promise<CorrelatedJobs> {
    return this.#correlations.jobs(correlationId, options)
  }

  /** The same jobs and, in order of time, what happened to them: enqueued, each run, cancelled. */
  correlationTrace(correlationId: string, options: CorrelationOptions = {}): Promise<CorrelationTrace> {
    return this.#correlations.trace(correlationId, options)
  }

  /**
   * Takes payload, result, error texts and log lines out of jobs, wherever they are; the rows stay. Waiting jobs are
   * cancelled first, running ones asked to stop and named in the answer. Repeat it after a failure: it goes on.
   */
  erase(request: EraseRequest): Promise<EraseResult> {
    return this.#eraser.erase(request)
  }

  queues(): Promise<QueueCount[]> {
    return this.#jobs.queues()
  }

  /** Which tables with a tenant's column lack what ctx.tenantDb relies on. For a test of yours, or a check in CI. */
  checkTenantPolicies(options: TenantPolicyOptions = {}): Promise<TenantPolicyReport> {
    return checkTenantPolicies(this.#db, options)
  }

  /** Starts a worker in this process. Refuses a server or schema on which the guarantees would not hold. */
  async work(options: WorkOptions): Promise<Worker> {
    for (const { contract } of options.handlers) {
      this.#registry.demand(contract)
      if (contract.sensitive.length > 0 && this.#registry.keys === undefined)
        throw new EncryptionKeyMissing(contract.type)
    }
    const { tenantRole } = this.#options
    const settings = workerSettings(options, { connection: this.#connection, tenantRole })
    this.#demandPlainConnection()
    const db = this.#open(ENGINE_CONNECTIONS)
    try {
      await checkServer(db)
      await checkSchema(db)
      if (tenantRole !== undefined) await checkTenantRole(db, tenantRole)
      if (this.#closed !== undefined) throw new WorkerStopping()
    } catch (error) {
      await db.close()
      throw error
    }
    const slots = settings.lanes.reduce((sum, lane) => sum + lane.slots, 0)
    const worker = new Worker(settings, {
      db,
      budgetDb: this.#open(BUDGET_CONNECTIONS),
      handlerDb: this.#open(Math.min(slots, this.#options.maxConnections ?? DEFAULT_CONNECTIONS)),
      clock: this.#clock,
      registry: this.#registry,
      events: this.events,
      logger: this.#options.logger ?? stderrLogger,
      waker: this.#waker,
      herald: this.#herald,
      admitter: this.#admitter,
      enqueuer: this.#enqueuer,
      declared: this.#declared,
      advancer: this.#advancer,
      open: (maxConnections) => this.#open(maxConnections),
    })
    this.#workers.add(worker)
    try {
      await worker.start()
    } catch (error) {
      await worker.stop()
      throw error
    }
    return worker
  }

  /** What millrace/testing works with. Not public: only the type of this class is exported. */
  static servicesOf(millrace: Millrace): ClientServices {
    return {
      db: millrace.#db,
      clock: millrace.#clock,
      registry: millrace.#registry,
      events: millrace.events,
      logger: millrace.#options.logger ?? stderrLogger,
      waker: millrace.#waker,
      tenantRole: millrace.#options.tenantRole,
      admitter: millrace.#admitter,
      enqueuer: millrace.#enqueuer,
      declared: millrace.#declared,
      advancer: millrace.#advancer,
      open: (maxConnections) => millrace.#open(maxConnections),
    }
  }

  /** Stops the workers of this client and closes its connections. */
  close(): Promise<void> {
    this.#closed ??= this.#closeAll()
    return this.#closed
  }

  async #closeAll(): Promise<void> {
    await Promise.all([...this.#workers].map((worker) => worker.stop()))
    await this.#results.close()
    await within(ADMIT_MS, this.#advancer.idle())
    await within(ADMIT_MS, this.#admitter.idle())
    await this.#waker.flush()
    await this.#db.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** The pulse thread gets a copy of it, and functions cannot be copied. */
  #demandPlainConnection(): void {
    try {
      structuredClone(this.#connection)
    } catch {
      throw new InvalidDefinition(
        'A worker needs `database` as plain data, because it opens a connection in a thread: a password or ssl option that is a function cannot be passed on. Give the values themselves.',
      )
    }
  }

  #open(maxConnections: number): Database {
    return new Database({ connection: this.#connection, schema: this.#schema, maxConnections, gate: this.#gate })
  }
}
