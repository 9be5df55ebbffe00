// The client that programs hold: enqueue, look, cancel, and start workers.
import { Alerts } from './alerts/alerts.ts'
import { AdminTokens } from './client/admin-tokens.ts'
import { Audit } from './client/audit.ts'
import { BreakerCalls } from './client/breaker-calls.ts'
import { CircuitBreakers } from './client/breakers.ts'
import { BudgetClient } from './client/budgets.ts'
import { Bulk } from './client/bulk.ts'
import { Catalogue } from './client/catalogue.ts'
import {
  type CorrelatedJobs,
  type CorrelationOptions,
  Correlations,
  type CorrelationTrace,
} from './client/correlation.ts'
import { DeadLetters, type RedriveOptions } from './client/dead-letters.ts'
import { Duties } from './client/duties.ts'
import { EncryptionKeys } from './client/encryption-keys.ts'
import { type EnqueueByTypeOptions, enqueueByType } from './client/enqueue-by-type.ts'
import {
  type EnqueueAnswer,
  type EnqueueItem,
  type EnqueueItemsOptions,
  enqueuePerItem,
} from './client/enqueue-items.ts'
import type { EnqueueOptions, OptionsArgument } from './client/enqueue-options.ts'
import type { AnyItem, EnqueueResult } from './client/enqueuer.ts'
import { type EraseRequest, type EraseResult, Eraser } from './client/erasure.ts'
import { Escalations } from './client/escalations.ts'
import { Explainers, type ExplainOptions, type Explanation } from './client/explain.ts'
import { type FailOptions, type FailResult, failJob } from './client/fail.ts'
import { FairnessReader } from './client/fairness.ts'
import type { Fairness, TenantQueue } from './client/fairness-picture.ts'
import { HistorySettings } from './client/history-settings.ts'
import { Keys } from './client/keys.ts'
import { Limits } from './client/limits.ts'
import type { CancelResult } from './client/manage.ts'
import { Pauses } from './client/pauses.ts'
import { type PrioritiseOptions, type PrioritiseResult, prioritiseJob } from './client/prioritise.ts'
import { type PruneOptions, type PruneResult, pruneJobs } from './client/prune.ts'
import { Reports } from './client/reports.ts'
import { type JobResult, type ResultOptions, Results } from './client/results.ts'
import { type RetryResult, retryJob } from './client/retry.ts'
import { Schedules } from './client/schedules.ts'
import { type JobFilter, JobSearch } from './client/search.ts'
import { type QueueState, type Stats, StatsReader } from './client/stats.ts'
import { TenantWork, type TenantWorkOptions } from './client/tenant-work.ts'
import { Tenants } from './client/tenants.ts'
import { typed, withTypedErrors } from './client/typed-errors.ts'
import { Workers } from './client/workers.ts'
import { Workflows } from './client/workflows.ts'
import { type ClientServices, clientServices } from './client-services.ts'
import { ClientWorkers } from './client-workers.ts'
import { within } from './clock.ts'
import type { JobContract, PayloadInput, ResultOutput } from './contract/job.ts'
import { isStaleOwn, openOwn, type SealOptions, sealOwn } from './contract/own-sealed.ts'
import type { Service } from './contract/service.ts'
import type { Events } from './events.ts'
import type { BreakerCallOptions } from './governance/breaker-call.ts'
import { checkTenantPolicies, type TenantPolicyOptions, type TenantPolicyReport } from './governance/tenant-policies.ts'
import { readHealth } from './health/health.ts'
import { readVitals, type Vitals } from './health/vitals.ts'
import type { MillraceOptions } from './millrace-options.ts'
import type { JobEvent } from './store/history.ts'
import type { Job, JobAttempt, JobDetails } from './store/jobs.ts'
import type { JobStep } from './store/once-keys.ts'
import type { Queryable } from './store/statements.ts'
import type { Health } from './verdict.ts'
import type { WorkOptions } from './worker/work-options.ts'
import type { Worker } from './worker/worker.ts'

/** What has not been admitted by then is left to the sweep of others. */
const ADMIT_MS = 2_000

export function createMillrace(options: MillraceOptions): Millrace {
  return new Millrace(options)
}

export class Millrace {
  readonly events: Events
  /** What fires, and silences. */
  readonly alerts: Alerts
  /** Jobs that failed for good, and what to do with them. */
  readonly deadLetters: DeadLetters
  /** What jobs may spend, and have spent. */
  readonly budgets: BudgetClient
  /** What the programs of the workers declare: queues, job types, limits and so on. */
  readonly catalogue: Catalogue
  /** Shares, limits and lifecycle of tenants. */
  readonly tenants: Tenants
  /** Stop claiming from a queue, of a type or for a tenant, and go on. */
  readonly pauses: Pauses
  /** What limits allow, what is used of them, and settings at run time. */
  readonly limits: Limits
  /** Who changed what, and what was refused to whom. */
  readonly audit: Audit
  /** Who may call the admin API: make, list, revoke and check its tokens. */
  readonly tokens: AdminTokens
  /** The circuit breakers of the services that handlers call. */
  readonly breakers: CircuitBreakers
  /** What people have to be told of, whether they were, and whether somebody looks after it. */
  readonly escalations: Escalations
  /** Which encryption keys are still needed, and how to be rid of one. */
  readonly encryptionKeys: EncryptionKeys
  /** Order and limit keys: those that a death has stopped, and how many of a key run at once. */
  readonly keys: Keys
  /** Which types have a history, and decisions about that. */
  readonly historySettings: HistorySettings
  /** Jobs that are enqueued at given times: look, run now, pause, edit, create, backfill. */
  readonly schedules: Schedules
  /** The same change to many jobs, as an operation that is tracked. */
  readonly bulk: Bulk
  /** Jobs by a query: pages, counts, suggestions. */
  readonly search: JobSearch
  /** Jobs that form a graph. */
  readonly workflows: Workflows
  /** Work that one process of all does at a time: take a duty, keep it, leave it. */
  readonly duties: Duties
  /** The living workers of all processes: what they do, and to ask one to take no more jobs or to stop. */
  readonly workers: Workers
  /** What became of runs over hours and days, dead letters by day, and how the queues stand now. */
  readonly reports: Reports
  readonly #services: ClientServices
  readonly #workers: ClientWorkers
  readonly #results: Results
  readonly #eraser: Eraser
  readonly #correlations: Correlations
  readonly #explainers: Explainers
  readonly #breakerCalls: BreakerCalls
  readonly #tenantWork: TenantWork
  readonly #stats: StatsReader
  readonly #fairness: FairnessReader
  #closed: Promise<void> | undefined

  constructor(options: MillraceOptions) {
    const services = clientServices(options)
    this.#services = services
    const area = <Area extends object>(made: Area) => withTypedErrors(made, services.db.schema)
    this.events = services.events
    this.alerts = area(new Alerts(services))
    this.deadLetters = area(new DeadLetters(services))
    this.budgets = area(new BudgetClient(services))
    this.catalogue = area(new Catalogue(services))
    this.tenants = area(new Tenants(services))
    this.pauses = area(new Pauses(services))
    this.limits = area(new Limits(services))
    this.audit = area(new Audit(services))
    this.tokens = area(new AdminTokens(services))
    this.breakers = area(new CircuitBreakers(services))
    this.escalations = area(new Escalations(services))
    this.encryptionKeys = area(new EncryptionKeys(services))
    this.keys = area(new Keys(services))
    this.historySettings = area(new HistorySettings(services))
    this.schedules = area(new Schedules(services))
    this.bulk = area(new Bulk(services))
    this.search = area(new JobSearch(services))
    this.workflows = area(new Workflows(services))
    this.workers = area(new Workers(services))
    this.reports = area(new Reports({ ...services, health: () => this.health() }))
    this.duties = area(new Duties(services))
    this.#workers = new ClientWorkers(services)
    this.#results = new Results(services, { isNotifyEnabled: services.isNotifyEnabled })
    this.#eraser = new Eraser(services)
    this.#correlations = new Correlations(services)
    this.#explainers = new Explainers(services)
    this.#breakerCalls = new BreakerCalls(services)
    this.#tenantWork = new TenantWork(services)
    this.#stats = new StatsReader(services)
    const { limits, pauses, breakers } = this
    this.#fairness = new FairnessReader({ ...services, limits, pauses, breakers })
  }

  /** Every contract that this client knows: those of `jobs`, and of the steps of its workflows. */
  contracts(): readonly JobContract[] {
    return this.#services.registry.contracts
  }

  /** Writes a job. Inside `{ tx }` it exists exactly if that transaction commits. */
  enqueue<C extends JobContract>(
    contract: C,
    payload: PayloadInput<C>,
    ...[options]: OptionsArgument<C>
  ): Promise<EnqueueResult> {
    return this.#typed(this.#services.enqueuer.enqueue(contract, payload, options ?? {}))
  }

  /** Writes many jobs of one type, all or none. The results are by position. */
  enqueueMany<C extends JobContract>(
    contract: C,
    payloads: readonly PayloadInput<C>[],
    ...[options]: OptionsArgument<C>
  ): Promise<EnqueueResult[]>
  /** Writes jobs of several types, each with options of its own. A refused one is an answer, and the others go in. */
  enqueueMany<const Jobs extends readonly JobContract[]>(
    items: { readonly [At in keyof Jobs]: EnqueueItem<Jobs[At]> },
    options: EnqueueItemsOptions & { perItem: true },
  ): Promise<EnqueueAnswer[]>
  /** Writes jobs of several types, each with options of its own, all or none. The results are by position. */
  enqueueMany<const Jobs extends readonly JobContract[]>(
    items: { readonly [At in keyof Jobs]: EnqueueItem<Jobs[At]> },
    options?: EnqueueItemsOptions & { perItem?: false },
  ): Promise<EnqueueResult[]>
  enqueueMany(
    given: JobContract | readonly AnyItem[],
    second: readonly unknown[] | EnqueueItemsOptions = {},
    options: EnqueueOptions = {},
  ): Promise<EnqueueAnswer[]> {
    const { enqueuer } = this.#services
    if (!isList(given)) return this.#typed(enqueuer.enqueueMany(given, isList(second) ? second : [], options))
    const { tx, perItem = false }: EnqueueItemsOptions = isList(second) ? {} : second
    if (perItem) return this.#typed(enqueuePerItem(this.#services, given, tx))
    return this.#typed(enqueuer.enqueueItems(given, tx === undefined ? {} : { tx }))
  }

  /**
   * As enqueue, for callers that know the type only by name, such as a command line. A type whose contract this client does
   * not have is enqueued by what the catalogue says of it, and its payload is checked by its JSON Schema. Throws
   * ContractRequired where that does not do.
   */
  enqueueByType(type: string, payload: unknown, options: EnqueueByTypeOptions = {}): Promise<EnqueueResult> {
    return this.#typed(enqueueByType(this.#services, { type, payload }, options))
  }

  /** A waiting job ends at once; a running one is asked to stop. `reason` default: who cancelled it. */
  cancel(id: string, options: { by: string; reason?: string }): Promise<CancelResult> {
    return this.#typed(this.#services.jobs.cancel(id, options))
  }

  /** Fails a job by hand: a failed attempt under its retry rules, or a dead letter now. A running one is aborted first. */
  fail(id: string, options: FailOptions): Promise<FailResult> {
    return this.#typed(failJob(this.#services, id, options))
  }

  /** Forgets archived jobs before their retention is over. */
  prune(options: PruneOptions): Promise<PruneResult> {
    return this.#typed(pruneJobs(this.#services, options))
  }

  /** Tries a job again: a waiting one at once, a dead one by redriving its letter as a new job. */
  retry(id: string, options: RedriveOptions): Promise<RetryResult> {
    return this.#typed(retryJob({ jobs: this.#services.jobs, deadLetters: this.deadLetters }, id, options))
  }

  /** Makes a waiting job due now. False: it is not waiting. */
  runNow(id: string, options: { by: string }): Promise<boolean> {
    return this.#typed(this.#services.jobs.runNow(id, options))
  }

  /** Why does this job not run? What holds it, who holds it, until when, and what to do. Throws JobNotFound. */
  explain(id: string, options: ExplainOptions = {}): Promise<Explanation> {
    return this.#typed(this.#explainers.explain(id, options))
  }

  /** Gives a waiting job another priority: lower runs first. */
  prioritise(id: string, priority: number, options: PrioritiseOptions): Promise<PrioritiseResult> {
    return this.#typed(prioritiseJob(this.#services, id, priority, options))
  }

  job(id: string): Promise<JobDetails | undefined> {
    return this.#typed(this.#services.jobs.get(id))
  }

  /** Jobs, live and archived, newest first. */
  jobs(filter: JobFilter = {}): Promise<Job[]> {
    return this.#typed(this.search.list(filter))
  }

  /**
   * Waits until a job has ended for good, in whatever process, and says how. Throws ResultTimeout when it has not in
   * time, and JobNotFound when there is no such job. A handler that awaits another job keeps its slot meanwhile.
   */
  result<C extends JobContract = JobContract>(
    id: string,
    options: ResultOptions<C> = {},
  ): Promise<JobResult<ResultOutput<C>>> {
    return this.#typed(this.#results.result(id, options))
  }

  /** The failed attempts of a job, oldest first. */
  attempts(id: string): Promise<JobAttempt[]> {
    return this.#typed(this.#services.jobs.attempts(id))
  }

  /** Every transition of a job, oldest first, of types whose history is kept. */
  history(id: string): Promise<JobEvent[]> {
    return this.#typed(this.#services.jobs.history(id))
  }

  /** What a job has recorded by ctx.step, and a step that it is at: so far has it come. */
  steps(id: string): Promise<JobStep[]> {
    return this.#typed(this.#services.jobs.steps(id))
  }

  /** All jobs that share a correlation id, live and archived, in order of creation. */
  jobsByCorrelation(correlationId: string, options: CorrelationOptions = {}): Promise<CorrelatedJobs> {
    return this.#typed(this.#correlations.jobs(correlationId, options))
  }

  /** The same jobs and, in order of time, what happened to them: enqueued, each run, cancelled. */
  correlationTrace(correlationId: string, options: CorrelationOptions = {}): Promise<CorrelationTrace> {
    return this.#typed(this.#correlations.trace(correlationId, options))
  }

  /**
   * Takes payload, result, error texts and log lines out of jobs, wherever they are; the rows stay. Waiting jobs are
   * cancelled first, running ones asked to stop and named in the answer. Repeat it after a failure: it goes on.
   */
  erase(request: EraseRequest): Promise<EraseResult> {
    return this.#typed(this.#eraser.erase(request))
  }

  /** Every queue that is known, also idle ones, with what waits and runs in it and with its pauses. */
  queues(): Promise<QueueState[]> {
    return this.#typed(this.#stats.queues())
  }

  /** By queue and type, and by queue and tenant: what waits, runs and has failed, and what became of runs in the last hour. */
  stats(): Promise<Stats> {
    return this.#typed(this.#stats.stats())
  }

  /** Who gets what share of a queue, who waits how long, and which rule holds whom. `tenant`: is named in any case. */
  fairness(queue: string, options: { tenant?: string } = {}): Promise<Fairness> {
    return this.#typed(this.#fairness.of(queue, options))
  }

  /** What a tenant has in each queue, where it has anything. */
  tenantQueues(tenant: string): Promise<TenantQueue[]> {
    return this.#typed(this.#fairness.queuesOf(tenant))
  }

  /** One reading of what alerts judge by: queues, error rates, workers, breakers, dead letters, budgets. */
  vitals(): Promise<Vitals> {
    return this.#typed(readVitals(this.#services))
  }

  /** One verdict on the whole platform, with a plain sentence and a remedy for everything that is not well. Never throws. */
  health(): Promise<Health> {
    return readHealth(this.#services)
  }

  /** Encrypts a value for a column of yours, bound to what it belongs to. The text is JSON. */
  seal(value: unknown, options: SealOptions): string {
    return sealOwn(this.#services.registry.keys, value, options)
  }

  /** The value in a text of `seal`. Throws SealNotOpened, also if it was sealed for something else. */
  open(text: string, options: SealOptions): unknown {
    return openOwn(this.#services.registry.keys, text, options)
  }

  /** Whether a text of `seal` is under an older key: open it and seal the value anew. */
  isStale(text: string): boolean {
    return isStaleOwn(this.#services.registry.keys, text)
  }

  /**
   * Calls a service through its circuit breaker outside of handlers, as ctx.breaker does in them. While it is open nothing is
   * called: `fallback` answers, or BreakerOpen is thrown.
   */
  breaker<Value>(
    service: Service | string,
    call: () => Value | Promise<Value>,
    options?: BreakerCallOptions<Value>,
  ): Promise<Value> {
    return this.#breakerCalls.call(service, call, options)
  }

  /**
   * Runs `work` in a transaction under the tenant's role and row security, as ctx.tenantDb does in a handler. Commits when it
   * returns, rolls back when it throws, and after 60 seconds. To reach for another tenant throws TenantIsolationViolation.
   */
  tenantDb<Value>(
    tenant: string,
    work: (tx: Queryable) => Promise<Value>,
    options?: TenantWorkOptions,
  ): Promise<Value> {
    return this.#tenantWork.run(tenant, work, options)
  }

  /** Which tables with a tenant's column lack what ctx.tenantDb relies on. For a test of yours, or a check in CI. */
  checkTenantPolicies(options: TenantPolicyOptions = {}): Promise<TenantPolicyReport> {
    return this.#typed(checkTenantPolicies(this.#services.db, options))
  }

  /** Starts a worker in this process. Refuses a server or schema on which the guarantees would not hold. */
  work(options: WorkOptions): Promise<Worker> {
    return this.#typed(this.#workers.start(options))
  }

  /** What millrace/testing works with. Not public: only the type of this class is exported. */
  static servicesOf(millrace: Millrace): ClientServices {
    return millrace.#services
  }

  /** Stops the workers of this client and closes its connections. */
  close(): Promise<void> {
    this.#closed ??= this.#closeAll()
    return this.#closed
  }

  #typed<Answer>(answer: Promise<Answer>): Promise<Answer> {
    return typed(answer, this.#services.db.schema)
  }

  async #closeAll(): Promise<void> {
    const { admitter, advancer, db, notices, waker } = this.#services
    await this.#workers.close()
    await this.#results.close()
    await this.#tenantWork.close()
    await within(ADMIT_MS, advancer.idle())
    await within(ADMIT_MS, admitter.idle())
    await waker.flush()
    await notices.close()
    await db.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/** Array.isArray does not narrow readonly lists. */
const isList = <Item>(given: unknown | readonly Item[]): given is readonly Item[] => Array.isArray(given)
