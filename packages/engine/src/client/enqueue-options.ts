import { types } from 'node:util'
import { type DedupeRule, LIVE } from '../contract/dedupe.ts'
import { type Duration, toMs } from '../contract/duration.ts'
import type { JobContract, RequiresTenant } from '../contract/job.ts'
import { type CheckedPayload, checkedPayload } from '../contract/payload.ts'
import type { EnqueueWarning } from '../contract/warning.ts'
import { InvalidDefinition, TenantMismatch, TenantRequired } from '../errors.ts'
import { runContext } from '../run-context.ts'
import { isJobId } from '../store/job-id.ts'
import type { NewJob } from '../store/jobs.ts'
import type { Queryable } from '../store/statements.ts'
import { activeTraceParent } from '../tracing.ts'

export interface EnqueueOptions {
  /** Your own transaction: the job exists exactly if it commits. Anything with `query(text, values)`. */
  tx?: Queryable
  tenant?: string
  /** Any integer from 0, lower runs first. Default: the queue's. */
  priority?: number
  /** Not before this time … */
  runAt?: Date
  /** … or not before this long from now. */
  delay?: Duration
  /** Ties related jobs together. Default: the running job's; without one the new job's own, `job-<id>`. */
  correlationId?: string
  /** Default: the running job. */
  parentJobId?: string
  /** Who asked for it. */
  createdBy?: string
  maxAttempts?: number
  /** Instead of the contract's dedupe key. */
  dedupKey?: string
  /** W3C `traceparent`, to connect the job's spans with the caller's. Default: the active span, else the running job's. */
  traceParent?: string
}

/** What the engine itself may say beside. */
export interface JobOptions extends EnqueueOptions {
  /** Instead of the contract's order key. */
  orderKey?: string
  /** `tx` is a transaction of this client: whatever is asked meanwhile must be asked in it. */
  isOwnTx?: boolean
}

/** The options, demanded by the compiler where the queue requires a tenant that the payload does not name. */
export type OptionsArgument<C extends JobContract, Options extends EnqueueOptions = EnqueueOptions> =
  RequiresTenant<C> extends true ? [options: Options & { tenant: string }] : [options?: Options]

export interface PreparedJob {
  readonly job: NewJob
  readonly warnings: readonly EnqueueWarning[]
}

/** Checks payload and options and builds the row. Throws before anything is written. */
export function newJob(
  contract: JobContract,
  payload: unknown,
  options: JobOptions,
): PreparedJob | Promise<PreparedJob> {
  const checked = checkedPayload(contract, payload)
  if (checked instanceof Promise) return checked.then((later) => prepared(contract, payload, options, later))
  return prepared(contract, payload, options, checked)
}

function prepared(
  contract: JobContract,
  payload: unknown,
  options: JobOptions,
  { text, warnings }: CheckedPayload,
): PreparedJob {
  const running = runContext.getStore()
  const dedupKey = label(options.dedupKey ?? contract.dedupeKey?.(payload as never) ?? null, 'dedupKey')
  const dedupe = dedupKey === null ? LIVE : contract.dedupe
  const job = {
    type: contract.type,
    queue: contract.queue.name,
    tenant: label(tenantFor(contract, payload, options.tenant), 'tenant'),
    priority: wholeNumber(options.priority ?? contract.queue.priority, 'priority', 0),
    payload: text,
    payloadVersion: contract.version,
    runAt: runAtOf(options),
    delayMs: delayOf(options, dedupe),
    maxAttempts: wholeNumber(options.maxAttempts ?? contract.retry.attempts, 'maxAttempts', 1),
    ...keysOf(contract, payload, options),
    dedupKey,
    dedupe,
    correlationId: label(options.correlationId ?? null, 'correlationId') ?? running?.correlationId ?? null,
    parentJobId: jobId(options.parentJobId) ?? running?.jobId ?? null,
    createdBy: label(options.createdBy ?? null, 'createdBy'),
    traceParent:
      label(options.traceParent ?? null, 'traceParent') ?? activeTraceParent() ?? running?.traceParent ?? null,
    workflowId: null,
  }
  return { job, warnings }
}

function keysOf({ order, keyLimit }: JobContract, payload: unknown, options: JobOptions) {
  const orderKey = label(options.orderKey ?? order?.key(payload as never) ?? null, 'order key')
  const limitKey = label(keyLimit?.key(payload as never) ?? null, 'limit key')
  return {
    orderKey,
    orderStops: orderKey !== null && order?.stops === true,
    limitKey,
    limitConcurrency: limitKey === null ? null : (keyLimit?.concurrency ?? null),
    tenantJobs: null,
  }
}

const MAX_LABEL = 500
/** Years as Postgres and ISO 8601 write them alike: from 0001 to 9999. */
const FIRST_RUN_AT_MS = Date.parse('0001-01-01T00:00:00Z')
const LAST_RUN_AT_MS = Date.parse('9999-12-31T23:59:59.999Z')

/** Text that is stored beside the job and indexed: it has to be text, and not a document. */
export function label(value: unknown, what: string): string | null {
  if (value === null) return null
  if (typeof value !== 'string' || value.length > MAX_LABEL || value.includes('\u0000') || !value.isWellFormed()) {
    const given = typeof value === 'string' ? `${value.length} characters` : typeof value
    throw new InvalidDefinition(
      `${what} is not usable (${given}): expected text of at most ${MAX_LABEL} characters without NUL or lone surrogates.`,
    )
  }
  return value
}

/** Who decides something: it is written down with the decision. */
export function author(by: string, option = 'by'): string {
  if (!by) throw new InvalidDefinition(`\`${option}\` is missing: say who decides, because it is written down with it.`)
  return label(by, option) as string
}

function jobId(id: string | undefined): string | null {
  if (id === undefined) return null
  if (!isJobId(id)) throw new InvalidDefinition(`parentJobId is ${JSON.stringify(id)}: expected the id of a job.`)
  return id
}

function tenantFor(contract: JobContract, payload: unknown, given: string | undefined): string | null {
  const derived = contract.tenantOf?.(payload as never)
  if (derived !== undefined && given !== undefined && derived !== given) {
    throw new TenantMismatch(contract.type, derived, given)
  }
  const tenant = derived ?? given ?? null
  if (!tenant && contract.queue.options.tenant === 'required')
    throw new TenantRequired(contract.type, contract.queue.name)
  return tenant
}

export function runAtOf(options: Pick<EnqueueOptions, 'runAt' | 'delay'>): Date | null {
  if (options.runAt === undefined) return null
  if (options.delay !== undefined) throw new InvalidDefinition('Both runAt and delay were given: pass one of them.')
  const { runAt } = options
  // Also for callers without a compiler.
  const ms = types.isDate(runAt) ? runAt.getTime() : Number.NaN
  if (ms >= FIRST_RUN_AT_MS && ms <= LAST_RUN_AT_MS) return runAt
  const given = Number.isNaN(ms) ? String(runAt) : runAt.toISOString()
  throw new InvalidDefinition(`runAt is ${given}: expected a valid Date from the year 1 to the year 9999.`)
}

/** A debounced job waits as its contract says, unless the caller knows better. */
function delayOf({ delay, runAt }: EnqueueOptions, dedupe: DedupeRule): number {
  if (delay !== undefined) return toMs(delay, 'delay')
  return dedupe.mode === 'debounce' && runAt === undefined ? dedupe.waitMs : 0
}

export function wholeNumber(value: number, what: string, lowest: number): number {
  if (!Number.isInteger(value) || value < lowest || value > 2_147_483_647) {
    throw new InvalidDefinition(`${what} is ${value}: expected an integer from ${lowest} to 2147483647.`)
  }
  return value
}
