// Every error Millrace throws. Each carries its facts as fields and builds its own sentence:
// what happened, what was expected, what to do.
import { suggestion } from './did-you-mean.ts'
import { failureFrom } from './failure.ts'

export type MillraceErrorCode =
  | 'invalid_definition'
  | 'invalid_payload'
  | 'invalid_query'
  | 'payload_not_upgraded'
  | 'newer_payload'
  | 'secret_in_payload'
  | 'encryption_key_missing'
  | 'undecryptable'
  | 'seal_not_opened'
  | 'unknown_job_type'
  | 'contract_required'
  | 'tenant_required'
  | 'tenant_mismatch'
  | 'tenant_suspended'
  | 'tenant_limit_reached'
  | 'tenant_busy'
  | 'key_busy'
  | 'enqueue_unknown'
  | 'not_a_transaction'
  | 'transaction_failed'
  | 'lease_lost'
  | 'timed_out'
  | 'isolated_crash'
  | 'invalid_result'
  | 'database_unavailable'
  | 'database_conflict'
  | 'database_timeout'
  | 'connection_lost'
  | 'database_refused'
  | 'permission_denied'
  | 'schema_missing'
  | 'unsupported_database'
  | 'schema_too_old'
  | 'schema_too_new'
  | 'migration_failed'
  | 'worker_stopping'
  | 'job_not_found'
  | 'bulk_not_found'
  | 'worker_not_found'
  | 'result_timeout'
  | 'search_timeout'
  | 'result_mismatch'
  | 'budget_exceeded'
  | 'unknown_budget'
  | 'budget_source_failed'
  | 'client_closed'
  | 'breaker_open'
  | 'unknown_service'
  | 'once_busy'
  | 'history_refused'
  | 'tenant_isolation_violation'
  | 'unknown_schedule'
  | 'unknown_signal'
  | 'unknown_workflow'
  | 'workflow_not_found'
  | 'workflow_timeout'

export class MillraceError extends Error {
  readonly code: MillraceErrorCode

  constructor(code: MillraceErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.name = new.target.name
  }
}

/** A queue, job or option was declared in a way that cannot work. Thrown while the program starts. */
export class InvalidDefinition extends MillraceError {
  constructor(message: string) {
    super('invalid_definition', message)
  }
}

/** A query for jobs cannot be read. `start` and `end` are the place in its text; `suggestion` belongs there instead. */
export class InvalidQuery extends MillraceError {
  readonly query: string
  readonly start: number
  readonly end: number
  readonly suggestion: string | null
  /** What is wrong there, without the place. */
  readonly problem: string

  constructor(query: string, problem: { message: string; start: number; end: number; suggestion: string | null }) {
    super('invalid_query', `The query cannot be read at character ${problem.start + 1}: ${problem.message}`)
    this.query = query
    this.problem = problem.message
    this.start = problem.start
    this.end = problem.end
    this.suggestion = problem.suggestion
  }
}

/** There is no bulk operation with this id. */
export class BulkNotFound extends MillraceError {
  readonly id: string

  constructor(id: string) {
    super(
      'bulk_not_found',
      `There is no bulk operation ${id}. Reports are forgotten 30 days after the end of an operation; list those there are.`,
    )
    this.id = id
  }
}

/** A search could look at no job within its time. */
export class SearchTimeout extends MillraceError {
  readonly timeoutMs: number

  constructor(timeoutMs: number) {
    super(
      'search_timeout',
      `No job could be looked at within ${timeoutMs} ms: the database is busy. Try again, or give the search more time.`,
    )
    this.timeoutMs = timeoutMs
  }
}

export interface PayloadIssue {
  path: string
  message: string
}

/** The payload does not fit its schema, or cannot be stored as it is. `stored`: it was found so when it was to run. */
export class InvalidPayload extends MillraceError {
  readonly type: string
  readonly issues: readonly PayloadIssue[]
  readonly isStored: boolean

  constructor(type: string, issues: readonly PayloadIssue[], when: 'given' | 'stored' = 'given', cause?: unknown) {
    const list = issues.map((issue) => (issue.path ? `${issue.path}: ${issue.message}` : issue.message)).join('; ')
    super(
      'invalid_payload',
      when === 'given'
        ? `The payload of job "${type}" is not valid: ${list}. Correct the payload or the schema of the contract.`
        : `The stored payload of job "${type}" does not fit the schema of this worker: ${list}. It was enqueued under another version of the contract, and trying again would not help. Make the schema accept payloads that are already stored, or enqueue the job anew.`,
      cause,
    )
    this.type = type
    this.issues = issues
    this.isStored = when === 'stored'
  }
}

/** A stored payload of an older version could not be brought to the current one. Trying again would not help. */
export class PayloadNotUpgraded extends MillraceError {
  readonly type: string
  /** The version that is stored. */
  readonly from: number
  readonly to: number

  /** `threw`: what the step `at` threw, as far as it may be told. */
  constructor(type: string, facts: { from: number; to: number; at: number; threw?: string; cause?: unknown }) {
    const { from, to, at, threw, cause } = facts
    const stored = `The stored payload of job "${type}" has version ${from}, and this worker knows version ${to}`
    super(
      'payload_not_upgraded',
      threw === undefined
        ? `${stored}, but its contract has no step migrate[${at}]. Add the step, deploy, and redrive the dead letter.`
        : `${stored}, but its step migrate[${at}] threw ${threw}. Correct the step so that it takes what is stored, deploy, and redrive the dead letter.`,
      cause,
    )
    this.type = type
    this.from = from
    this.to = to
  }
}

/** A stored payload has a version that this program does not know yet. */
export class NewerPayload extends MillraceError {
  readonly type: string
  readonly stored: number
  readonly known: number

  constructor(type: string, stored: number, known: number) {
    super(
      'newer_payload',
      `The payload of job "${type}" has version ${stored}, and this program knows version ${known} at most. It is left for programs that know it: deploy the newer contract here too.`,
    )
    this.type = type
    this.stored = stored
    this.known = known
  }
}

/** The payload carries what looks like a secret. Nothing was enqueued. Names the place and the rule, never the value. */
export class SecretInPayload extends MillraceError {
  readonly type: string
  readonly path: string
  /** By what it was recognised. */
  readonly rule: string

  constructor(type: string, path: string, rule: string) {
    super(
      'secret_in_payload',
      `The payload of job "${type}" carries a secret${path === '' ? '' : ` at ${path}`}, judging by ${rule}. Payloads are kept in plain text, also in archives and backups. Keep the secret where secrets belong and pass a reference; if it must be there, list the path in \`sensitive\` of the contract, which encrypts it, or in \`allowSecrets\`.`,
    )
    this.type = type
    this.path = path
    this.rule = rule
  }
}

/** The type is sensitive, or a value is to be sealed, and this program has no keys to encrypt with. */
export class EncryptionKeyMissing extends MillraceError {
  /** Undefined: it was a value of the program's own. */
  readonly type: string | undefined

  constructor(type?: string) {
    const what =
      type === undefined
        ? 'A value cannot be sealed: this program has no keys to encrypt it with.'
        : `Job "${type}" has sensitive paths, and this program has no keys to encrypt them with.`
    super(
      'encryption_key_missing',
      `${what} Pass createMillrace({ encryption: { keys } }), or set MILLRACE_ENCRYPTION_KEYS for the command line.`,
    )
    this.type = type
  }
}

/** A stored value cannot be decrypted. Names the place and the key, never the value. */
export class Undecryptable extends MillraceError {
  readonly type: string
  readonly path: string
  /** The key under which it was encrypted. */
  readonly keyId: string

  constructor(
    type: string,
    facts: { part: string; path: string; keyId: string; isKeyMissing: boolean; known: readonly string[] },
  ) {
    const { part, path, keyId, isKeyMissing, known } = facts
    const why = isKeyMissing
      ? `it was encrypted under key "${keyId}", which this program does not have (${knownKeys(known)}). Add that key behind the others, then redrive the dead letter.`
      : `it does not open under key "${keyId}". Either that id belongs to another key by now, or the value was altered or moved from another place.`
    super(
      'undecryptable',
      `The stored ${part} of job "${type}" cannot be decrypted${path === '' ? '' : ` at ${path}`}: ${why}`,
    )
    this.type = type
    this.path = path
    this.keyId = keyId
  }
}

/** Why a value of the program's own does not open. */
export type SealRefusal = 'not_sealed' | 'unknown_key' | 'other_binding' | 'altered'

/** A value that millrace.seal wrote cannot be opened. Names what it belongs to and its key, never the value. */
export class SealNotOpened extends MillraceError {
  readonly why: SealRefusal
  /** What the caller opened it for. */
  readonly for: string | undefined
  /** The key under which it was sealed. */
  readonly keyId: string | undefined

  constructor(
    why: SealRefusal,
    facts: { for?: string | undefined; keyId?: string; sealedFor?: string | undefined; known: readonly string[] },
  ) {
    const { keyId, sealedFor, known } = facts
    const whose = facts.for === undefined ? '' : ` for "${facts.for}"`
    const sentences: Record<SealRefusal, string> = {
      not_sealed: 'it is no text that millrace.seal returned',
      unknown_key: `it was sealed under key "${keyId}", which this program does not have (${knownKeys(known)}). Add that key behind the others`,
      other_binding: `it was sealed for "${sealedFor}". Open it for that, or seal the value anew`,
      altered: `it does not open under key "${keyId}". Either that id belongs to another key by now, or the text was altered`,
    }
    super('seal_not_opened', `A sealed value cannot be opened${whose}: ${sentences[why]}.`)
    this.why = why
    this.for = facts.for
    this.keyId = keyId
  }
}

const knownKeys = (known: readonly string[]): string =>
  known.length === 0 ? 'it has no keys' : `it has ${known.map((id) => `"${id}"`).join(', ')}`

/** No contract of that type was given to createMillrace. */
export class UnknownJobType extends MillraceError {
  readonly type: string

  constructor(type: string, known: readonly string[]) {
    super(
      'unknown_job_type',
      `There is no job type "${type}".${suggestion(type, known)} List its contract in createMillrace({ jobs }), or start a worker that declares it.`,
    )
    this.type = type
  }
}

const ENQUEUE_ELSEWHERE =
  'Enqueue it in a program that lists the contract in createMillrace({ jobs }); at the command line, pass --module.'

/** A type that this program knows only from the catalogue cannot be enqueued like that. */
export class ContractRequired extends MillraceError {
  readonly type: string

  constructor(type: string, why: string, remedy = ENQUEUE_ELSEWHERE) {
    super('contract_required', `Job "${type}" cannot be enqueued without its contract: ${why}. ${remedy}`)
    this.type = type
  }
}

/** The queue demands a tenant and none was given. */
export class TenantRequired extends MillraceError {
  constructor(type: string, queue: string) {
    super(
      'tenant_required',
      `Job "${type}" runs in queue "${queue}", which requires a tenant, and none was given. Pass { tenant } or declare \`tenant\` on the contract.`,
    )
  }
}

/** The contract reads the tenant from the payload, and the caller named another one. */
export class TenantMismatch extends MillraceError {
  constructor(type: string, derived: string, given: string) {
    super(
      'tenant_mismatch',
      `Job "${type}" belongs to tenant "${derived}" by its payload, but { tenant: "${given}" } was passed. Leave the option out, or correct the payload.`,
    )
  }
}

/** The tenant is suspended or deleted: nothing is enqueued for it, and its running jobs are aborted with this. */
export class TenantSuspended extends MillraceError {
  readonly tenant: string
  readonly status: 'suspended' | 'deleted'

  constructor(tenant: string, status: 'suspended' | 'deleted', reason: string | null) {
    const why = reason === null ? '' : ` (${reason})`
    const remedy =
      status === 'suspended'
        ? 'Its waiting jobs are held; they run when it is resumed.'
        : 'Its waiting jobs were cancelled. Register it again if it is to have jobs.'
    super('tenant_suspended', `Tenant "${tenant}" is ${status}${why}: nothing was enqueued. ${remedy}`)
    this.tenant = tenant
    this.status = status
  }
}

/** The tenant has as many jobs in the queue as it may have. */
export class TenantLimitReached extends MillraceError {
  readonly tenant: string
  readonly queue: string
  readonly maxJobs: number

  constructor(tenant: string, queue: string, maxJobs: number) {
    super(
      'tenant_limit_reached',
      `Tenant "${tenant}" has ${maxJobs} jobs waiting or running in queue "${queue}", which is its limit: nothing was enqueued. Try again when some are done, or raise the limit of the tenant or the queue.`,
    )
    this.tenant = tenant
    this.queue = queue
    this.maxJobs = maxJobs
  }
}

/** Another transaction is enqueueing for the same tenant, whose limit rejects what is too much, and has not ended. */
export class TenantBusy extends MillraceError {
  readonly tenant: string
  readonly queue: string

  constructor(tenant: string, queue: string, waitedMs: number, cause: unknown) {
    super(
      'tenant_busy',
      `Another transaction enqueues for tenant "${tenant}" into queue "${queue}", where one does so at a time, and did not end within ${waitedMs} ms. Nothing was enqueued: try again when that transaction has ended.`,
      cause,
    )
    this.tenant = tenant
    this.queue = queue
  }
}

/** Another transaction is enqueueing the same dedup key and has not ended. */
export class KeyBusy extends MillraceError {
  readonly type: string
  /** The key, or all keys of the list that was enqueued at once: it is one of them. */
  readonly dedupKeys: readonly string[]

  constructor(type: string, dedupKeys: readonly string[], waitedMs: number | undefined, cause?: unknown) {
    const [first = ''] = dedupKeys
    const which = dedupKeys.length > 1 ? `One of the ${dedupKeys.length} dedup keys` : `The dedup key "${first}"`
    const wait = waitedMs === undefined ? 'in time' : `within ${waitedMs} ms`
    super(
      'key_busy',
      `${which} of job "${type}" is held by another transaction that did not end ${wait}. Nothing was enqueued: try again when that transaction has ended.`,
      cause,
    )
    this.type = type
    this.dedupKeys = dedupKeys
  }
}

/** The connection broke before the answer came: the job may or may not exist. */
export class EnqueueUnknown extends MillraceError {
  constructor(type: string, isKeyed: boolean, cause: unknown) {
    const remedy = isKeyed
      ? 'It has a dedup key, so enqueueing it again is safe: at most one will live.'
      : 'Enqueue again only if running it twice is harmless, or give it a dedup key.'
    super(
      'enqueue_unknown',
      `The connection was lost before Postgres confirmed job "${type}": it may or may not be enqueued. ${remedy}`,
      cause,
    )
  }
}

/** `tx` is no open transaction, so the call would not be part of one. Nothing was written. */
export class NotATransaction extends MillraceError {
  constructor(why: string) {
    super(
      'not_a_transaction',
      `\`tx\` is not an open transaction: ${why}. Nothing was written. Pass the client on which you ran \`begin\`, or the transaction that your library hands to its callback; without one, leave \`tx\` out.`,
    )
  }
}

/** The caller's transaction is no longer open: its connection broke, or an earlier statement failed. */
export class TransactionFailed extends MillraceError {
  constructor(cause: unknown) {
    super(
      'transaction_failed',
      `The transaction that was passed as \`tx\` cannot go on (${messageOf(cause)}). Postgres rolls back all of it, so nothing was written. Roll back, begin a new transaction and do all of it again.`,
      cause,
    )
  }
}

/** This run no longer owns its job: another one has taken over, or soon will. Effects of its transaction were rolled back. */
export class LeaseLost extends MillraceError {
  constructor(detail: string) {
    super(
      'lease_lost',
      `This run no longer owns its job: ${detail}. Stop working; whatever this run does now will not be recorded.`,
    )
  }
}

/** The handler took longer than the type's timeout. */
export class TimedOut extends MillraceError {
  readonly timeoutMs: number

  constructor(type: string, timeoutMs: number) {
    super(
      'timed_out',
      `Job "${type}" did not finish within its timeout of ${timeoutMs} ms. Make it faster, or raise \`timeout\` on its contract.`,
    )
    this.timeoutMs = timeoutMs
  }
}

/** How a process ended. */
export interface ProcessEnd {
  readonly exitCode: number | null
  readonly signal: string | null
  /** The limit that it exceeded, if that is why. */
  readonly memoryLimitMb: number | null
  /** The error that ended it, if there was one. */
  readonly uncaught?: unknown
}

/** The process of an isolated handler ended before the handler returned. The attempt has failed; the worker goes on. */
export class IsolatedCrash extends MillraceError {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly memoryLimitMb: number | null

  constructor(type: string, end: ProcessEnd) {
    const remedy =
      end.memoryLimitMb === null
        ? 'Its log lines, or the stderr of the worker, may tell why.'
        : 'Make it need less, or raise `memoryMb` where it is implemented.'
    super(
      'isolated_crash',
      `The process of job "${type}" ended before its handler returned: ${howItEnded(end)}. ${remedy}`,
      end.uncaught,
    )
    this.exitCode = end.exitCode
    this.signal = end.signal
    this.memoryLimitMb = end.memoryLimitMb
  }
}

function howItEnded({ exitCode, signal, memoryLimitMb, uncaught }: ProcessEnd): string {
  if (memoryLimitMb !== null) return `out of memory (limit ${memoryLimitMb} MB)`
  const how = signal !== null ? `killed by ${signal}` : exitCode !== null ? `exit code ${exitCode}` : 'it did not start'
  if (uncaught === undefined) return signal === 'SIGKILL' ? `${how}, perhaps by the kernel for lack of memory` : how
  const { class: name, message } = failureFrom(uncaught)
  return `${how} (${name}: ${message})`
}

/** The handler's result does not fit the contract's result schema, or cannot be stored. */
export class InvalidResult extends MillraceError {
  constructor(type: string, detail: string) {
    super(
      'invalid_result',
      `The result of job "${type}" cannot be recorded: ${detail}. Correct the handler or the contract's result schema.`,
    )
  }
}

/** No connection could be made, or the server refused for a reason that passes. Nothing was written. */
export class DatabaseUnavailable extends MillraceError {
  /** Where no connection could be made to, without the password. */
  readonly address: string | undefined

  constructor(cause: unknown, address?: string) {
    const detail = messageOf(cause)
    super(
      'database_unavailable',
      address === undefined
        ? `Postgres is not available (${detail}). Nothing was written. Try again later.`
        : `Postgres cannot be reached at ${address} (${detail}). Nothing was sent. ${connectRemedy(cause, detail)}`,
      cause,
    )
    this.address = address
  }
}

/** By the SQLSTATE of the server's refusal; without a password the driver itself refuses. */
function connectRemedy(cause: unknown, detail: string): string {
  const state = (cause as { code?: unknown } | null)?.code
  if (state === '3D000') return 'That server has no such database: create it, or correct its name.'
  if (state === '28P01' || state === '28000' || /password must be/.test(detail)) {
    return 'The server expects another user or password: correct them in the connection string, or in PGUSER and PGPASSWORD.'
  }
  return 'Check that the server runs there. Millrace tries to connect again, at most every two seconds.'
}

/** Another transaction was in the way: a deadlock, a serialization failure, or a lock that was not free in time. Nothing was changed. */
export class DatabaseConflict extends MillraceError {
  constructor(cause: unknown) {
    super(
      'database_conflict',
      `Another transaction was in the way (${messageOf(cause)}). Nothing was changed: try again. In a transaction of your own, roll back first.`,
      cause,
    )
  }
}

export class DatabaseTimeout extends MillraceError {
  constructor(what: string, deadlineMs: number) {
    super('database_timeout', `Postgres did not answer ${what} within ${deadlineMs} ms; the connection was closed.`)
  }
}

/** The connection broke before the answer came. */
export class ConnectionLost extends MillraceError {
  constructor(cause: unknown) {
    super(
      'connection_lost',
      `The connection to Postgres broke before its answer came (${messageOf(cause)}). A change may have happened or not: look, then try again.`,
      cause,
    )
  }
}

/** Postgres refused a statement, and would refuse it again. Nothing was changed. */
export class DatabaseRefused extends MillraceError {
  constructor(cause: Error & { code?: string | undefined }) {
    super(
      'database_refused',
      `Postgres refused a statement of Millrace (${cause.message}, SQLSTATE ${cause.code}). Nothing was changed. See \`cause\` for all that Postgres says.`,
      cause,
    )
  }
}

/** The role of the connection lacks rights on the schema. */
export class PermissionDenied extends MillraceError {
  constructor(schema: string, cause: unknown) {
    super(
      'permission_denied',
      `The role of this connection lacks a right on the schema "${schema}" (${messageOf(cause)}). Nothing was changed. Connect as the role that ran \`millrace migrate\`, or grant this role the same rights.`,
      cause,
    )
  }
}

/** The database has no schema of Millrace, or one of an older version. */
export class SchemaMissing extends MillraceError {
  constructor(schema: string, cause: unknown) {
    super(
      'schema_missing',
      `This database lacks what Millrace needs in the schema "${schema}" (${messageOf(cause)}). Run \`${migrateCommand(schema)}\` on it, then try again.`,
      cause,
    )
  }
}

const migrateCommand = (schema: string): string =>
  schema === 'millrace' ? 'millrace migrate' : `millrace migrate --schema ${schema}`
const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message || cause.name : String(cause))

export class UnsupportedDatabase extends MillraceError {
  constructor(message: string) {
    super('unsupported_database', message)
  }
}

/** The code knows migrations that this schema has not seen. */
export class SchemaTooOld extends MillraceError {
  readonly missing: readonly string[]

  constructor(
    schema: string,
    missing: readonly string[],
    { needs = 'this version of Millrace', command = migrateCommand(schema) } = {},
  ) {
    super(
      'schema_too_old',
      `The schema "${schema}" lacks ${missing.join(', ')}, which ${needs} needs. Run \`${command}\`, then start again.`,
    )
    this.missing = missing
  }
}

/** A newer Millrace has changed the schema in a way that this version must not run on. */
export class SchemaTooNew extends MillraceError {
  readonly breaking: readonly string[]

  constructor(schema: string, breaking: readonly string[]) {
    super(
      'schema_too_new',
      `The schema "${schema}" has ${breaking.join(', ')}, marked as breaking and unknown to this version of Millrace: a newer one has migrated it. Nothing was changed. Deploy the newer version here too.`,
    )
    this.breaking = breaking
  }
}

/** `problem` completes the sentence that begins with the migration's name, and says what to do. */
export class MigrationFailed extends MillraceError {
  readonly migration: string

  constructor(migration: string, problem: string, cause?: unknown) {
    super('migration_failed', `Migration ${migration} ${problem}`, cause)
    this.migration = migration
  }
}

/** The reason on a handler's abort signal when its worker shuts down. */
export class WorkerStopping extends MillraceError {
  constructor() {
    super('worker_stopping', 'The worker is shutting down. The job goes back to its queue and no attempt is lost.')
  }
}

/** No live job has that id, and none in the archive. `detail` says what else there is to say. */
export class JobNotFound extends MillraceError {
  readonly id: string

  constructor(id: string, detail: string) {
    super('job_not_found', `There is no job ${JSON.stringify(id)}: ${detail}`)
    this.id = id
  }
}

/** No living worker of that id can be asked. `detail` says why. */
export class WorkerNotFound extends MillraceError {
  readonly id: string

  constructor(id: string, detail: string) {
    super('worker_not_found', `Worker ${JSON.stringify(id)} cannot be asked: ${detail}`)
    this.id = id
  }
}

/** The job had not ended in time. It goes on. */
export class ResultTimeout extends MillraceError {
  readonly id: string
  readonly timeoutMs: number

  constructor(id: string, timeoutMs: number, cause?: unknown) {
    const trouble = cause === undefined ? '' : ' The database could not be asked when last tried: see `cause`.'
    super(
      'result_timeout',
      `Job ${id} was not known to have ended within ${timeoutMs} ms.${trouble} It was not touched and goes on: await it again, pass a longer { timeout }, or cancel it.`,
      cause,
    )
    this.id = id
    this.timeoutMs = timeoutMs
  }
}

/** A stored result does not fit the schema it is read by. */
export class ResultMismatch extends MillraceError {
  readonly id: string

  constructor(id: string, type: string, detail: string) {
    super(
      'result_mismatch',
      `Job ${id} completed, but its result does not fit the result schema of "${type}": ${detail}. The worker may run another version of the contract, or the schema does not accept what it puts out: correct the schema, or await without { contract }.`,
    )
    this.id = id
  }
}

export interface BudgetRefusal {
  readonly budget: string
  readonly unit: string
  readonly period: string
  /** Spent and reserved. */
  readonly used: number
  readonly limit: number
  /** QUEUE: the job is tried again at `retryAt`. HARD_STOP: it ends. */
  readonly level: 'QUEUE' | 'HARD_STOP'
  /** What was to be reserved; null: the budget holds the whole type back. */
  readonly amount: number | null
  readonly retryAt: Date
  readonly retryInMs: number
}

/**
 * A budget does not have what was asked of it. A run that ends with this error does not fail: its job waits for the next
 * full hour, or is cancelled if the limit is spent.
 */
export class BudgetExceeded extends MillraceError implements BudgetRefusal {
  declare readonly budget: string
  declare readonly unit: string
  declare readonly period: string
  declare readonly used: number
  declare readonly limit: number
  declare readonly level: 'QUEUE' | 'HARD_STOP'
  declare readonly amount: number | null
  declare readonly retryAt: Date
  declare readonly retryInMs: number

  constructor(refusal: BudgetRefusal) {
    const { budget, unit, period, used, limit, level, amount, retryAt } = refusal
    const want = amount === null ? '' : `, and ${amount} ${unit} more were to be reserved`
    const course =
      level === 'QUEUE'
        ? `The job is tried again at ${retryAt.toISOString()} and loses no attempt.`
        : 'The job ends and is not retried.'
    super(
      'budget_exceeded',
      `Budget "${budget}" has used ${used} of ${limit} ${unit} in ${period} (${level})${want}. ${course} To let it run, raise the limit: millrace budgets set ${budget} --limit N.`,
    )
    Object.assign(this, refusal)
  }
}

/** No contract of this program names that budget, and no worker has declared it on this database. */
export class UnknownBudget extends MillraceError {
  readonly budget: string

  constructor(budget: string, known: readonly string[]) {
    super(
      'unknown_budget',
      `There is no budget "${budget}".${suggestion(budget, known)} A contract must name it, and that contract be listed in createMillrace({ jobs }).`,
    )
    this.budget = budget
  }
}

/** The program's own table of a budget could not be read or added to, because of its code. */
export class BudgetSourceFailed extends MillraceError {
  constructor(budget: string, cause: unknown) {
    const { class: name, message } = failureFrom(cause)
    super(
      'budget_source_failed',
      `The source of budget "${budget}" failed (${name}: ${message}). Correct its \`read\` and \`add\`: without them nobody knows what is left.`,
      cause,
    )
  }
}

/** The client was closed, so nobody is left to wait for an answer. */
export class ClientClosed extends MillraceError {
  constructor(id: string) {
    super(
      'client_closed',
      `This client was closed, so it no longer waits for job ${id}. The job goes on: await it with another client.`,
    )
  }
}

/** Thrown by ctx.breaker instead of calling: the service is unwell. A job that lets it through waits, and keeps its attempt. */
export class BreakerOpen extends MillraceError {
  readonly service: string
  readonly openedAt: Date | null
  /** When the service is tried next, as far as is known. */
  readonly nextProbeAt: Date | null
  /** How long the job waits. */
  readonly delayMs: number

  constructor(service: string, facts: { openedAt: Date | null; nextProbeAt: Date | null; delayMs: number }) {
    const since = facts.openedAt === null ? '' : ` since ${facts.openedAt.toISOString()}`
    const next = facts.nextProbeAt === null ? '' : ` The next try is at ${facts.nextProbeAt.toISOString()}.`
    super(
      'breaker_open',
      `The breaker of service "${service}" is open${since}, so it was not called.${next} Pass { fallback }, or let this error through in a handler: the job waits without using an attempt.`,
    )
    this.service = service
    this.openedAt = facts.openedAt
    this.nextProbeAt = facts.nextProbeAt
    this.delayMs = facts.delayMs
  }
}

/** Nobody has heard of that service: no contract names it, and its breaker has no row. */
export class UnknownService extends MillraceError {
  readonly service: string

  constructor(service: string, known: readonly string[]) {
    super(
      'unknown_service',
      `There is no breaker for service "${service}".${suggestion(service, known)} Nothing was changed: list what there is with \`millrace breakers\`.`,
    )
    this.service = service
  }
}

/** There is no schedule of that name, in the database or in this program's code. */
export class UnknownSchedule extends MillraceError {
  readonly schedule: string

  constructor(schedule: string, known: readonly string[]) {
    super(
      'unknown_schedule',
      `There is no schedule "${schedule}".${suggestion(schedule, known)} Nothing was changed: list what there is with \`millrace schedules\`. One that code declares is there once a worker with that code has started.`,
    )
    this.schedule = schedule
  }
}

/** Another run is doing what ctx.once would do under this key. Let it pass: the job waits and keeps its attempt. */
export class OnceBusy extends MillraceError {
  readonly key: string
  readonly scope: string
  /** The job that holds the key, if it could be seen. */
  readonly holderJobId: string | null
  readonly delayMs = 5_000

  constructor({ key, scope }: { key: string; scope: string }, holderJobId: string | null, cause?: unknown) {
    super(
      'once_busy',
      `The key "${key}" of "${scope}" is held by ${holderJobId === null ? 'another transaction' : `job ${holderJobId}`}, which is still at it, so nothing was done here. Let this error be thrown: the job runs again in 5 s without losing an attempt.`,
      cause,
    )
    this.key = key
    this.scope = scope
    this.holderJobId = holderJobId
  }
}

/** The history of a type cannot be switched: this role may not, or the tables were in use for too long. */
export class HistoryRefused extends MillraceError {
  readonly reason: 'not_permitted' | 'busy'
  /** What must have been run for the history to be written. */
  readonly statements: readonly string[]

  constructor(reason: HistoryRefused['reason'], statements: readonly string[], cause: unknown) {
    const why =
      reason === 'busy'
        ? 'some transaction kept its tables in use, and enqueues must not wait for that. Try again, or look in pg_stat_activity for one that is open for long.'
        : `this role may not do it. Let the owner of Millrace's tables run \`millrace history on <type>\`, which keeps the setting and runs: ${statements.join('; ')}.`
    super('history_refused', `The history of jobs was not switched: ${why}`, cause)
    this.reason = reason
    this.statements = statements
  }
}

/** A handler, or a call of millrace.tenantDb, reached for what belongs to another tenant: it was refused and audited. */
export class TenantIsolationViolation extends MillraceError {
  /** Null outside of jobs, as is `type`. */
  readonly jobId: string | null
  readonly type: string | null
  /** For whom the work was done. */
  readonly tenant: string
  /** Into which a foreign row was to be written, if the server said. */
  readonly table: string | null
  /** Who was named instead, if it was by name. */
  readonly otherTenant: string | null

  constructor(
    job: { jobId: string | null; type: string | null; tenant: string },
    attempted: { table?: string | null; otherTenant?: string },
    cause?: unknown,
  ) {
    const { table = null, otherTenant = null } = attempted
    const deed =
      otherTenant === null
        ? `tried to write a row of another tenant${table === null ? '' : ` into table "${table}"`}`
        : `named tenant "${otherTenant}"`
    const who =
      job.jobId === null
        ? `Work of millrace.tenantDb for tenant "${job.tenant}"`
        : `Job ${job.jobId} ("${job.type}") belongs to tenant "${job.tenant}" and`
    super(
      'tenant_isolation_violation',
      `${who} ${deed}. Permission denied; nothing was written, and the attempt is in the audit log. Correct the code: trying again would not help.`,
      cause,
    )
    this.jobId = job.jobId
    this.type = job.type
    this.tenant = job.tenant
    this.table = table
    this.otherTenant = otherTenant
  }
}

/** What a handler throws when trying again cannot help: the job goes to the dead letters at once. */
export class Unrecoverable extends Error {
  override readonly name = 'Unrecoverable'
}

/** The longest wait a RetryAfter can ask for: whoever answers "in a year" is not obeyed. */
export const MAX_RETRY_AFTER_MS = 24 * 60 * 60 * 1000
/** The shortest: an answer of "in 0 seconds" must not become a loop. */
export const MIN_RETRY_AFTER_MS = 500

/** No workflow of that name was given to createMillrace, or it has no such step. */
export class UnknownWorkflow extends MillraceError {
  readonly workflow: string
  readonly step: string | undefined

  constructor(workflow: string, known: readonly string[], step?: string) {
    super(
      'unknown_workflow',
      step === undefined
        ? `There is no workflow "${workflow}" in this program.${suggestion(workflow, known)} List it in createMillrace({ workflows }).`
        : `Workflow "${workflow}" was started with a step "${step}", which it does not have in this program. Keep a step as long as workflows run that were started with it.`,
    )
    this.workflow = workflow
    this.step = step
  }
}

/** The workflow has no step that waits for a signal of that name. */
export class UnknownSignal extends MillraceError {
  readonly workflow: string
  readonly signal: string

  constructor(workflow: string, signal: string, known: readonly string[]) {
    const all = known.length === 0 ? 'It waits for none.' : `It has ${known.map((name) => `"${name}"`).join(', ')}.`
    super(
      'unknown_signal',
      `Workflow "${workflow}" has no signal "${signal}".${suggestion(signal, known)} ${all} Declare it with .signal(name, options).`,
    )
    this.workflow = workflow
    this.signal = signal
  }
}

/** No workflow has that id. */
export class WorkflowNotFound extends MillraceError {
  readonly id: string

  constructor(id: string) {
    super(
      'workflow_not_found',
      `There is no workflow ${JSON.stringify(id)}: it was never started, its transaction has not committed, or nothing is kept of it any more. Pass the id that workflows.start returned.`,
    )
    this.id = id
  }
}

/** The workflow had not ended in time. It goes on. */
export class WorkflowTimeout extends MillraceError {
  readonly id: string
  readonly timeoutMs: number

  constructor(id: string, timeoutMs: number, status: string) {
    super(
      'workflow_timeout',
      `Workflow ${id} is ${status} and had not ended within ${timeoutMs} ms. It was not touched and goes on: await it again, pass a longer { timeout }, or look at its steps with workflows.get.`,
    )
    this.id = id
    this.timeoutMs = timeoutMs
  }
}
