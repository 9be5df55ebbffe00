// Redriving dead letters: for each a new job of the same work, linked with the one that died.
//
// Contracts judge payloads before the transaction begins: schemas are other people's code, and may be slow. Inside it
// the letters are locked, the jobs inserted and the letters marked, so that all of it commits or nothing does, and two
// who redrive the same letter at once create one job. One bad letter never fails its neighbours: a batch that Postgres
// will not take is halved until the culprit stands alone.
import type { Clock } from '../clock.ts'
import type { Registry } from '../contract/registry.ts'
import { KeyBusy, MillraceError, type MillraceErrorCode, UnknownJobType } from '../errors.ts'
import type { Admitter } from '../governance/admitter.ts'
import { type KeyedResult, withoutReplacing } from '../governance/dedupe.ts'
import { isRefused } from '../sql-state.ts'
import { auditWrite, type NewAuditEntry } from '../store/audit.ts'
import type { Database } from '../store/db.ts'
import {
  deadLetterGet,
  deadLetterLock,
  deadLetterRedriven,
  type LockedLetter,
  type WholeDeadLetter,
} from '../store/dead-letters.ts'
import type { NewJob } from '../store/jobs.ts'
import { workKeysOf } from '../store/keyed-work.ts'
import { stepInherit } from '../store/once-keys.ts'
import type { Transaction } from '../store/transaction.ts'
import { newJob } from './enqueue-options.ts'
import { insertKeyed, KEY_WAIT_MS } from './keyed-insert.ts'
import { edited, isErased, originalPayload, protectedJob } from './protect.ts'

export type RedriveResult =
  /** A new job does the work: this is its id. */
  | { status: 'redriven'; id: string; jobId: string }
  /** A live job holds the dedup key: this is its id. The letter stays as it was. */
  | { status: 'duplicate'; id: string; jobId: string }
  /** Somebody was faster: this is the job. */
  | { status: 'already_redriven'; id: string; jobId: string }
  /** It cannot be redriven as it is; the letter stays as it was. */
  | { status: 'refused'; id: string; reason: RefusalReason; message: string }
  | { status: 'not_found'; id: string }

export type RefusalReason =
  /** The contract, or the database, will not have this job: the same codes as those of the errors of `enqueue`. */
  | MillraceErrorCode
  /** A function of the contract threw on this payload. */
  | 'contract_failed'
  /** Postgres will not store this job. */
  | 'not_storable'
  /** It needs no more attention: somebody said so. */
  | 'resolved'
  | 'ignored'
  /** Only of automatic redrives: a person has taken it over. */
  | 'acknowledged'
  /** What it carried was erased: pass a payload, or leave it. */
  | 'erased'
  /** It is the job of a workflow: resume that one. */
  | 'workflow'

export interface RedriveServices {
  db: Database
  clock: Clock
  registry: Registry
  admitter: Admitter
  wake(queues: Iterable<string>): void
}

export interface RedriveRequest {
  /** Who asks: the new job's `createdBy`. */
  by: string
  /** Instead of the original one. */
  payload?: unknown
  /** Instead of the original number. */
  maxAttempts?: number
  /** Leave alone what a person has acknowledged. */
  isAutomatic?: boolean
}

interface Prepared {
  id: string
  job: NewJob
}

/** A payload may have 256 KB: a batch of them has to fit into memory. */
const BATCH = 100
const AUTOMATIC_KEY_WAIT_MS = 100

/** One result per letter. `ids` are different from each other. */
export async function redrive(
  services: RedriveServices,
  ids: readonly string[],
  request: RedriveRequest,
): Promise<Map<string, RedriveResult>> {
  const results = new Map<string, RedriveResult>()
  for (let from = 0; from < ids.length; from += BATCH) {
    const batch = ids.slice(from, from + BATCH)
    const letters = await deadLetterGet(services.db, batch)
    const prepared: Prepared[] = []
    for (const id of batch) {
      const letter = letters.get(id)
      const outcome = letter === undefined ? notFound(id) : await prepare(services.registry, letter, request)
      if ('job' in outcome) prepared.push(outcome)
      else results.set(id, outcome)
    }
    for (const result of await write(services, prepared, request)) results.set(result.id, result)
  }
  return results
}

/** The new job, checked as an enqueue is; or why there is none. */
async function prepare(
  registry: Registry,
  letter: WholeDeadLetter,
  request: RedriveRequest,
): Promise<Prepared | RedriveResult> {
  const { id, type, originalJob } = letter
  // What was decided before is the better answer, whatever the contract says today.
  const decided = decision(letter, request)
  if (decided !== undefined) return decided
  const contract = registry.find(type)
  if (contract === undefined) return refusal(id, new UnknownJobType(type, registry.types))
  const isEdited = request.payload !== undefined
  if (!isEdited && isErased(originalJob.payload)) {
    const message = `What dead letter ${id} carried was erased. Redrive it with a payload of its own, or resolve it.`
    return { status: 'refused', id, reason: 'erased', message }
  }
  const dedupKey = originalJob.dedup_key ?? originalJob.start_key ?? null
  const keepsKey = dedupKey !== null && !(isEdited && contract.dedupeKey !== undefined)
  try {
    const payload = isEdited ? edited(contract, request.payload) : originalPayload(registry, contract, letter)
    const { job } = await newJob(contract, payload, {
      ...(letter.tenant === null ? {} : { tenant: letter.tenant }),
      ...(keepsKey ? { dedupKey } : {}),
      priority: originalJob.priority,
      correlationId: letter.correlationId,
      parentJobId: letter.jobId,
      createdBy: request.by,
      ...(originalJob.trace_parent == null ? {} : { traceParent: originalJob.trace_parent }),
      maxAttempts: request.maxAttempts ?? originalJob.max_attempts,
    })
    return { id, job: { ...protectedJob(registry, contract, job), dedupe: withoutReplacing(job.dedupe) } }
  } catch (error) {
    return refusal(id, error)
  }
}

async function write(
  services: RedriveServices,
  batch: readonly Prepared[],
  request: RedriveRequest,
): Promise<RedriveResult[]> {
  if (batch.length === 0) return []
  try {
    const results = await services.db.transaction((tx) => writeIn(tx, services.clock, batch, request))
    services.wake(new Set(batch.map(({ job }) => job.queue)))
    await services.admitter.admit(batch.flatMap(({ job }) => workKeysOf(job)))
    return results
  } catch (error) {
    if (!(error instanceof KeyBusy) && !isRefused(error)) throw error
    if (batch.length === 1) return [refusal((batch[0] as Prepared).id, error)]
    const middle = batch.length >> 1
    const first = await write(services, batch.slice(0, middle), request)
    return [...first, ...(await write(services, batch.slice(middle), request))]
  }
}

async function writeIn(
  tx: Transaction,
  clock: Clock,
  batch: readonly Prepared[],
  request: RedriveRequest,
): Promise<RedriveResult[]> {
  const now = clock.databaseNow()
  const ids = batch.map(({ id }) => id)
  const isPatient = !request.isAutomatic
  const locked = await deadLetterLock(tx, ids, { isPatient })
  const results: RedriveResult[] = []
  const open: Prepared[] = []
  for (const each of batch) {
    const letter = locked.get(each.id)
    const decided = letter === undefined ? notFound(each.id) : decision(letter, request)
    if (decided === undefined) open.push(each)
    else results.push(decided)
  }
  const inserted = await insertKeyed(
    // Nobody waits for a rule: it comes again.
    { session: tx, now, options: { lockTimeoutMs: isPatient ? KEY_WAIT_MS : AUTOMATIC_KEY_WAIT_MS } },
    open.map(({ job }) => job),
  )
  const written = open.map(({ id }, i) => {
    const { status, id: jobId } = inserted[i] as KeyedResult
    return { status: status === 'queued' ? ('redriven' as const) : ('duplicate' as const), id, jobId }
  })
  const deadJobs = new Map(open.map(({ id, job }) => [id, job.parentJobId as string]))
  const redriven = written.filter(({ status }) => status === 'redriven')
  await deadLetterRedriven(tx, now, redriven, request.by)
  if (!request.isAutomatic) await auditWrite(tx, now, ...entriesOf(redriven, open, request))
  const heirs = redriven.map(({ id, jobId }) => ({ deadJobId: deadJobs.get(id) as string, jobId }))
  await stepInherit(tx, now, heirs)
  return [...results, ...written]
}

function entriesOf(
  redriven: readonly { id: string; jobId: string }[],
  open: readonly Prepared[],
  { by, payload }: RedriveRequest,
): NewAuditEntry[] {
  const tenants = new Map(open.map(({ id, job }) => [id, job.tenant]))
  const isEdited = payload !== undefined
  return redriven.map(({ id, jobId }) => ({
    by,
    action: 'dead_letter.redrive',
    target: id,
    tenant: tenants.get(id) ?? null,
    details: { jobId, isEdited },
  }))
}

/** What was decided about a letter that rules a redrive out. */
function decision(letter: LockedLetter, { isAutomatic }: RedriveRequest): RedriveResult | undefined {
  const { id, status, redrivenJobId, acknowledgedBy } = letter
  if (redrivenJobId !== null) return { status: 'already_redriven', id, jobId: redrivenJobId }
  const who = acknowledgedBy ?? 'somebody'
  if (status === 'resolved' || status === 'ignored') {
    const message = `Dead letter ${id} was ${status} by ${who}. If the work must be done after all, enqueue it anew.`
    return { status: 'refused', id, reason: status, message }
  }
  if (letter.workflowId !== null) {
    const message = `Dead letter ${id} is of a job of workflow ${letter.workflowId}, which would not hear of a redriven one. ${remedyOf(letter)}`
    return { status: 'refused', id, reason: 'workflow', message }
  }
  if (isAutomatic && letter.acknowledged) {
    return { status: 'refused', id, reason: 'acknowledged', message: `Dead letter ${id} was acknowledged by ${who}.` }
  }
  return undefined
}

function remedyOf({ workflowId, workflowStatus }: LockedLetter): string {
  switch (workflowStatus) {
    case 'failed':
    case 'cancelled':
    case 'rollback failed':
      return `Resume the workflow: millrace.workflows.resume("${workflowId}").`
    case 'running':
    case 'stopping':
    case 'rolling back':
      return `It is ${workflowStatus}: what follows is decided when its other jobs have ended.`
    default:
      return `It is ${workflowStatus ?? 'forgotten'}: if the work must be done after all, enqueue it anew, and resolve the letter.`
  }
}

function refusal(id: string, error: unknown): RedriveResult {
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof MillraceError) return { status: 'refused', id, reason: error.code, message }
  return { status: 'refused', id, reason: isRefused(error) ? 'not_storable' : 'contract_failed', message }
}

const notFound = (id: string): RedriveResult => ({ status: 'not_found', id })
