// Enqueue: check, then write: in the caller's transaction, in a batch of keyed rows, or in a group commit.

import type { Clock } from '../clock.ts'
import type { JobContract } from '../contract/job.ts'
import type { Queue } from '../contract/queue.ts'
import type { Registry } from '../contract/registry.ts'
import { type EnqueueWarning, NO_WARNINGS } from '../contract/warning.ts'
import { DatabaseUnavailable, InvalidDefinition, InvalidPayload, SecretInPayload } from '../errors.ts'
import type { Events } from '../events.ts'
import type { Admitter } from '../governance/admitter.ts'
import { type KeyedResult, type KeyedWrite, needsTransaction } from '../governance/dedupe.ts'
import type { Asking } from '../governance/tenant-gate.ts'
import type { Logger } from '../logger.ts'
import { isNotifyQueueFull } from '../sql-state.ts'
import { type Database, isConnectionFailure, type Session } from '../store/db.ts'
import { compareIds } from '../store/job-id.ts'
import { chunksOf, type InsertOptions, jobInsert, jobWrite, type NewJob } from '../store/jobs.ts'
import { type WorkKey, workKeysOf } from '../store/keyed-work.ts'
import { withPatience } from '../store/lock-patience.ts'
import { type Message, notify } from '../store/notifications.ts'
import type { Queryable } from '../store/statements.ts'
import { CommitUnknown, demandOwnTenant, sessionOn } from '../store/transaction.ts'
import { tracer } from '../tracing.ts'
import { reportEnqueued } from './count-events.ts'
import { type EnqueueOptions, type JobOptions, newJob, type PreparedJob } from './enqueue-options.ts'
import { enqueueFailure, GroupCommit } from './group-commit.ts'
import { insertKeyed, KEY_WAIT_MS } from './keyed-insert.ts'
import { protectedJob } from './protect.ts'
import { sendTraced } from './send-span.ts'
import { TenantLimits } from './tenant-limits.ts'
import type { Waker } from './waker.ts'

/**
 * What became of an enqueue. A refusal throws instead: InvalidPayload, SecretInPayload, UnknownJobType, TenantRequired,
 * TenantSuspended, TenantLimitReached, TenantBusy, KeyBusy, EnqueueUnknown.
 */
export type EnqueueResult =
  /** A new job was written. `warnings`: what looks wrong in it, but need not be. */
  | { status: 'queued'; id: string; warnings: readonly EnqueueWarning[] }
  /** A new job was written, and waits until its tenant has fewer in the queue. */
  | { status: 'deferred'; id: string; warnings: readonly EnqueueWarning[] }
  /** Another job holds the dedup key: this is its id. It lives, or its dedupe window is not over. */
  | { status: 'duplicate'; id: string }
  /** A job that waited under the same dedup key has taken over payload and options: this is its id. */
  | { status: 'replaced'; id: string; warnings: readonly EnqueueWarning[] }

const BULK_DEADLINE_MS = 60_000

/** One of a list of jobs to be enqueued. */
export interface AnyItem {
  readonly job: JobContract
  readonly payload: unknown
  readonly options?: JobOptions
}

export interface PreparedItem extends PreparedJob {
  readonly queue: Queue
}

type GivenSteps = { jobs: readonly NewJob[]; tells: boolean; needsIds: boolean }
type WrittenSteps = { ids: readonly (string | null)[]; keys: WorkKey[] }
type TransactionOptions = Pick<JobOptions, 'tx' | 'isOwnTx'>
type TenantRooms = Awaited<ReturnType<TenantLimits['rooms']>>
type TenantBatches = Awaited<ReturnType<TenantLimits['batches']>>

export class Enqueuer {
  readonly #db: Database
  readonly #clock: Clock
  readonly #registry: Registry
  readonly #waker: Waker
  readonly #admitter: Admitter
  readonly #events: Events
  readonly #unkeyed: GroupCommit
  readonly #tenants: TenantLimits

  constructor(services: {
    db: Database
    clock: Clock
    registry: Registry
    waker: Waker
    events: Events
    logger: Logger
    admitter: Admitter
  }) {
    this.#db = services.db
    this.#clock = services.clock
    this.#registry = services.registry
    this.#waker = services.waker
    this.#admitter = services.admitter
    this.#events = services.events
    this.#tenants = new TenantLimits(services)
    this.#waker.onRules(() => this.#tenants.forget())
    this.#unkeyed = new GroupCommit(async (jobs) => {
      const queues = queuesOf(jobs)
      const telling = this.#waker.tellAfterSilence(queues)
      const insert = (options?: InsertOptions) => jobInsert(this.#db, this.#clock.databaseNow(), jobs, options)
      // Polling finds what could not be told.
      const ids = await insert(telling).catch((error: unknown) =>
        isNotifyQueueFull(error) ? insert() : Promise.reject(error),
      )
      if (telling === undefined) this.#waker.wake(queues)
      reportEnqueued(this.#events, jobs)
      return ids
    })
  }

  async enqueue(contract: JobContract, payload: unknown, options: JobOptions): Promise<EnqueueResult> {
    this.#registry.demand(contract)
    return this.enqueueUnlisted(contract, payload, options)
  }

  /** The same, of a contract that was made from the catalogue. */
  async enqueueUnlisted(contract: JobContract, payload: unknown, options: JobOptions): Promise<EnqueueResult> {
    return this.#enqueue(contract, await newJob(contract, payload, options), options)
  }

  /** Writes a job that the process of an isolated handler has checked by its own copy of the contract. */
  async enqueuePrepared(prepared: PreparedJob): Promise<EnqueueResult> {
    const { type, queue } = prepared.job
    const contract = this.#registry.get(type)
    if (contract.queue.name !== queue) {
      throw new InvalidDefinition(
        `The handler enqueued a job of type "${type}" in queue "${queue}", and the contract that the worker knows has queue "${contract.queue.name}". Import the same contract in both.`,
      )
    }
    return this.#enqueue(contract, prepared, {})
  }

  async #enqueue(
    contract: JobContract,
    { job: plain, warnings }: PreparedJob,
    options: TransactionOptions,
  ): Promise<EnqueueResult> {
    const job = protectedJob(this.#registry, contract, plain)
    if (job.tenant !== null) return first(await this.write([{ job, warnings, queue: contract.queue }], options))
    const tracing = tracer()
    if (tracing === undefined) return this.#writeOne(job, warnings, options)
    return sendTraced({ tracer: tracing, registry: this.#registry }, [job], {
      write: ([traced]) => this.#writeOne(traced as NewJob, warnings, options),
      sent: (result) => [result],
    })
  }

  async #writeOne(
    job: NewJob,
    warnings: readonly EnqueueWarning[],
    options: TransactionOptions,
  ): Promise<EnqueueResult> {
    if (options.tx !== undefined) return warned(first(await this.#insertIn(options.tx, [job])), warnings)
    if (!isKeyed(job)) return queued(await this.#unkeyed.add(job), warnings)
    return warned(first(await this.#insertOwn([job])), warnings)
  }

  /** All or nothing: one invalid payload refuses the whole list, and one transaction writes it. */
  enqueueMany(contract: JobContract, payloads: readonly unknown[], options: EnqueueOptions): Promise<EnqueueResult[]> {
    return this.enqueueItems(
      payloads.map((payload) => ({ job: contract, payload, options })),
      options,
    )
  }

  /** The same, with a contract and options of its own for each position. */
  async enqueueItems(items: readonly AnyItem[], transaction: TransactionOptions): Promise<EnqueueResult[]> {
    const prepared: PreparedItem[] = []
    for (const item of items) {
      const outcome = this.prepare(item, prepared.length)
      prepared.push(outcome instanceof Promise ? await outcome : outcome)
    }
    return prepared.length === 0 ? [] : this.write(prepared, transaction)
  }

  /** Throws what refuses an item before anything is written, saying its position. */
  prepare({ job: contract, payload, options = {} }: AnyItem, position: number): PreparedItem | Promise<PreparedItem> {
    const refuse = (error: unknown): never => {
      throw inList(error, position)
    }
    const made = ({ job, warnings }: PreparedJob): PreparedItem => ({
      job: protectedJob(this.#registry, contract, job),
      warnings,
      queue: contract.queue,
    })
    try {
      this.#registry.demand(contract)
      const outcome = newJob(contract, payload, options)
      return outcome instanceof Promise ? outcome.then(made).catch(refuse) : made(outcome)
    } catch (error) {
      return refuse(error)
    }
  }

  /** All or nothing, by position. */
  async write(prepared: readonly PreparedItem[], options: TransactionOptions): Promise<EnqueueResult[]> {
    const tracing = tracer()
    if (tracing === undefined) return this.#write(prepared, options)
    const jobs = prepared.map(({ job }) => job)
    return sendTraced({ tracer: tracing, registry: this.#registry }, jobs, {
      write: (traced) =>
        this.#write(
          traced.map((job, i) => ({ ...(prepared[i] as PreparedItem), job })),
          options,
        ),
      sent: (results) => results,
    })
  }

  async #write(
    prepared: readonly PreparedItem[],
    { tx, isOwnTx = false }: TransactionOptions,
  ): Promise<EnqueueResult[]> {
    const jobs = prepared.map(({ job }) => job)
    const queues = new Map(prepared.map(({ queue }) => [queue.name, queue]))
    const session = tx === undefined ? this.#db : sessionOn(tx, this.#db.schema)
    demandOwnTenant(session, jobs.map(tenantOf))
    const limited = await this.#limited(
      queues,
      jobs,
      isOwnTx ? { session } : tx === undefined ? {} : { callers: session },
    )
    const excesses = limited.length === 0 ? [] : await this.#tenants.excesses(session, limited, jobs)
    const rooms = await this.#tenants.rooms(session, limited)
    const results = await this.#insert(this.#tenants.deferring(jobs, limited), tx, limited)
    // Whether the caller's transaction commits is not known here: its results carry the warnings, and nobody else is told.
    if (tx === undefined) this.#tenants.warn(excesses)
    const warnings = new Map(excesses.flatMap(({ over, warning }) => over.map((position) => [position, warning])))
    const deferrals = deferralsOf(results, rooms)
    return results.map((result, i) => {
      const own = (prepared[i] as PreparedJob).warnings
      const more = warnings.get(i)
      const told = warned(result, more === undefined ? own : [...own, more])
      return told.status === 'queued' && deferrals.has(i) ? { ...told, status: 'deferred' } : told
    })
  }

  /** Nothing is written yet, so whatever fails here is known to have come to nothing. */
  async #limited(queues: ReadonlyMap<string, Queue>, jobs: readonly NewJob[], asking: Asking): Promise<TenantBatches> {
    if (jobs.every(({ tenant }) => tenant === null)) return []
    try {
      return await this.#tenants.batches(queues, jobs, asking)
    } catch (error) {
      const isLost = isConnectionFailure(error) && !(error instanceof DatabaseUnavailable)
      throw isLost ? new DatabaseUnavailable(error) : enqueueFailure(error, jobs[0] as NewJob)
    }
  }

  async #insert(jobs: readonly NewJob[], tx: Queryable | undefined, limited: TenantBatches): Promise<EnqueueResult[]> {
    if (tx !== undefined) {
      await this.#tenants.demandRoom(sessionOn(tx, this.#db.schema), limited)
      return this.#insertIn(tx, jobs)
    }
    const [only] = jobs
    if (this.#tenants.isRejecting(limited))
      return this.#insertOwn(jobs, (session) => this.#tenants.demandRoom(session, limited))
    if (jobs.length === 1 && only !== undefined && !isKeyed(only)) return [queued(await this.#unkeyed.add(only))]
    return this.#insertOwn(jobs)
  }

  /**
   * Writes jobs of a workflow in the transaction that starts them; their tenants' limits hold. Its owner wakes workers and
   * admits the keys after its commit; `tells`: the transaction is somebody else's, and the commit itself says it. Ids that
   * are not needed may be null: then nobody has waited for the insert.
   */
  async insertSteps(session: Session, contract: JobContract, given: GivenSteps): Promise<WrittenSteps> {
    const tracing = tracer()
    if (tracing === undefined) return this.#insertSteps(session, contract, given)
    return sendTraced({ tracer: tracing, registry: this.#registry }, given.jobs, {
      write: (jobs) => this.#insertSteps(session, contract, { ...given, jobs }),
      sent: ({ ids }) => ids.map((id) => ({ id })),
    })
  }

  async #insertSteps(session: Session, contract: JobContract, given: GivenSteps): Promise<WrittenSteps> {
    demandOwnTenant(session, given.jobs.map(tenantOf))
    const queues = new Map([[contract.queue.name, contract.queue]])
    const limited = await this.#limited(queues, given.jobs, given.tells ? { callers: session } : { session })
    await this.#tenants.demandRoom(session, limited)
    const jobs = this.#tenants.deferring(given.jobs, limited)
    const keys = jobs.flatMap(workKeysOf)
    if (keys.length > 0) this.#admitter.expectBlocked()
    const options = given.tells ? this.#waker.tellAtCommit(queuesOf(jobs), keys) : {}
    const isWritten = !given.needsIds && !jobs.some(isKeyed) && fitsOneStatement(jobs)
    if (isWritten) {
      await jobWrite(session, this.#clock.databaseNow(), jobs, options)
      reportEnqueued(this.#events, jobs)
      return { ids: jobs.map(() => null), keys }
    }
    const results = await this.#insertAll(session, jobs, options)
    reportEnqueued(this.#events, jobs, results)
    return { ids: results.map(({ id }) => id), keys }
  }

  #insertIn(tx: Queryable, jobs: readonly NewJob[]): Promise<EnqueueResult[]> {
    const keys = jobs.flatMap(workKeysOf)
    if (keys.length > 0) this.#admitter.expectBlocked()
    const session = sessionOn(tx, this.#db.schema)
    const insert = async () => {
      const results = await this.#insertAll(session, jobs, this.#waker.tellAtCommit(queuesOf(jobs), keys))
      reportEnqueued(this.#events, jobs, results)
      return results
    }
    const mayWait = jobs.some(({ dedupKey }) => dedupKey !== null)
    return mayWait ? withPatience(session, KEY_WAIT_MS, insert) : insert()
  }

  /** `before`: what must hold in the same transaction. */
  async #insertOwn(jobs: readonly NewJob[], before?: (session: Session) => Promise<void>): Promise<EnqueueResult[]> {
    const superseded: string[] = []
    const onSuperseded = async (workerIds: readonly string[]) => void superseded.push(...workerIds)
    const options = { lockTimeoutMs: KEY_WAIT_MS, onSuperseded }
    const deadlineMs = BULK_DEADLINE_MS + jobs.length
    try {
      const isOneStatement = before === undefined && fitsOneStatement(jobs)
      const results = isOneStatement
        ? await this.#insertAll(this.#db, jobs, { ...options, deadlineMs })
        : await this.#db.transaction(async (tx) => {
            await before?.(tx)
            return this.#insertAll(tx, jobs, options)
          }, deadlineMs)
      reportEnqueued(this.#events, jobs, results)
      this.#waker.wake(queuesOf(jobs))
      await this.#waker.tellWorkers(superseded.map(reconcile))
      await this.#admitter.admit(jobs.flatMap(workKeysOf))
      return results
    } catch (error) {
      throw enqueueFailure(error instanceof CommitUnknown ? error.cause : error, jobs[0] as NewJob)
    }
  }

  async #insertAll(
    session: Session,
    jobs: readonly NewJob[],
    options: KeyedWrite['options'],
  ): Promise<EnqueueResult[]> {
    const now = this.#clock.databaseNow()
    if (jobs.some(isKeyed)) {
      const tellAtCommit = (workerIds: readonly string[]) => notify(session, this.#db.schema, workerIds.map(reconcile))
      const { onSuperseded = tellAtCommit } = options
      return (await insertKeyed({ session, now, options: { ...options, onSuperseded } }, jobs)).map(resultOf)
    }
    const results: EnqueueResult[] = []
    for (const chunk of chunksOf(jobs)) {
      const ids = await jobInsert(session, now, chunk, options)
      for (const id of ids) results.push(queued(id))
    }
    return results
  }
}

const reconcile = (workerId: string): Message => ({ kind: 'reconcile', workerId })

const isKeyed = ({ dedupKey, orderKey, limitKey, tenantJobs }: NewJob): boolean =>
  dedupKey !== null || orderKey !== null || limitKey !== null || tenantJobs !== null

/** Which of the new jobs wait for others of their tenant, by position. The oldest by id are let through first. */
function deferralsOf(results: readonly EnqueueResult[], rooms: TenantRooms): ReadonlySet<number> {
  const idAt = (position: number) => (results[position] as EnqueueResult).id
  const isNew = (position: number) => results[position]?.status === 'queued'
  return new Set(
    rooms.flatMap(({ positions, free }) =>
      positions
        .filter(isNew)
        .sort((a, b) => compareIds(idAt(a), idAt(b)))
        .slice(free),
    ),
  )
}

/** One statement is a transaction by itself. A keyed insert may take several, to read who holds the keys. */
function fitsOneStatement(jobs: readonly NewJob[]): boolean {
  if (jobs.length === 1) return !needsTransaction((jobs[0] as NewJob).dedupe)
  const [first] = chunksOf(jobs)
  return first?.length === jobs.length && !jobs.some(isKeyed)
}

/** The same refusal, saying which payload of the list it is about. */
function inList(error: unknown, position: number): unknown {
  const at = (path: string) => (path === '' ? `[${position}]` : `[${position}].${path}`)
  if (error instanceof SecretInPayload) return new SecretInPayload(error.type, at(error.path), error.rule)
  if (!(error instanceof InvalidPayload)) return error
  return new InvalidPayload(
    error.type,
    error.issues.map(({ path, message }) => ({ path: at(path), message })),
  )
}

const queued = (id: string, warnings = NO_WARNINGS): EnqueueResult => ({ status: 'queued', id, warnings })
const warned = (result: EnqueueResult, warnings: readonly EnqueueWarning[]): EnqueueResult =>
  warnings.length > 0 && result.status !== 'duplicate' ? { ...result, warnings } : result
const resultOf = (result: KeyedResult): EnqueueResult =>
  result.status === 'duplicate' ? result : { ...result, warnings: NO_WARNINGS }
const first = (results: readonly EnqueueResult[]): EnqueueResult => results[0] as EnqueueResult
const tenantOf = ({ tenant }: NewJob): string | null => tenant
const queuesOf = (jobs: readonly NewJob[]): Set<string> => new Set(jobs.map((job) => job.queue))
