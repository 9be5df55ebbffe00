// Changes jobs for a bulk operation. Each job is judged anew when its turn comes; what the change itself answers is written
// down, because the job may have moved on since.
//
// If the process dies between a change and its record, the job is judged again: it is found changed already, and only a failed
// attempt could be counted twice.
import type { Clock } from '../clock.ts'
import type { Registry } from '../contract/registry.ts'
import { InvalidDefinition } from '../errors.ts'
import type { Admitter } from '../governance/admitter.ts'
import { auditWrite } from '../store/audit.ts'
import { type BulkFacts, type BulkRow, type BulkVerdict, bulkFacts, jobArchiveForget } from '../store/bulk.ts'
import type { Database } from '../store/db.ts'
import { workerList } from '../store/worker-reports.ts'
import type { Advancer } from '../workflow/advancer.ts'
import type { BulkAction, BulkActionName } from './bulk-judge.ts'
import { GONE, judge } from './bulk-judge.ts'
import type { DeadLetters } from './dead-letters.ts'
import { failJob } from './fail.ts'
import type { Herald } from './herald.ts'
import type { JobManager } from './manage.ts'
import { prioritiseJob } from './prioritise.ts'
import type { RedriveResult } from './redrive.ts'
import type { Waker } from './waker.ts'

export interface BulkWorkServices {
  db: Database
  clock: Clock
  registry: Registry
  waker: Waker
  herald: Herald
  admitter: Admitter
  advancer: Advancer
  jobs: JobManager
  deadLetters: DeadLetters
}

type Verdicts = readonly BulkVerdict[]

/** What becomes of these jobs: those that can be changed are. Without those that only workers of another program can deal with. */
export async function verdictsOn(
  services: BulkWorkServices,
  operation: BulkRow,
  items: readonly { jobId: string; before: number | null }[],
): Promise<Verdicts> {
  const { db, clock } = services
  const action = { action: operation.action, ...operation.options } as BulkAction
  const facts = await bulkFacts(
    db,
    clock.databaseNow(),
    items.map(({ jobId }) => jobId),
  )
  if (operation.undoOf !== null) return restored(services, operation, items, facts)
  const verdicts: BulkVerdict[] = []
  const concerned: BulkFacts[] = []
  for (const { jobId } of items) {
    const job = facts.get(jobId)
    const isSame = action.action === 'prioritise' && job?.priority === action.priority
    const judged = job === undefined ? GONE : judge(operation.action as BulkActionName, { ...job, isSame })
    if (job !== undefined && judged.outcome === 'changed' && !operation.isDryRun) concerned.push(job)
    else verdicts.push({ jobId, ...judged, ...replacement(job) })
  }
  if (concerned.length > 0) verdicts.push(...(await changed(services, action, concerned, operation.createdBy)))
  return verdicts
}

/** A redriven job, which a run may have redriven that died before it could write it down. */
const replacement = (job: BulkFacts | undefined) => (job?.redrivenJobId ? { newJobId: job.redrivenJobId } : {})

const change = (jobId: string, more: Partial<BulkVerdict> = {}): BulkVerdict => ({
  jobId,
  outcome: 'changed',
  reason: null,
  ...more,
})
const already = (jobId: string, reason: string): BulkVerdict => ({ jobId, outcome: 'already', reason })
const refused = (jobId: string, reason: string): BulkVerdict => ({ jobId, outcome: 'refused', reason })
const MEANWHILE = 'it has changed meanwhile'

function changed(
  services: BulkWorkServices,
  action: BulkAction,
  jobs: readonly BulkFacts[],
  by: string,
): Promise<Verdicts> {
  switch (action.action) {
    case 'cancel':
      return cancelled(services, jobs, { by, reason: action.reason ?? `cancelled by ${by}` })
    case 'retry':
    case 'redrive':
      return retried(services, action, jobs, by)
    case 'prioritise':
      return each(jobs, async ({ id }) => {
        const result = await prioritiseJob(services, id, action.priority, { by })
        return result.status === 'prioritised' ? change(id, { before: result.before }) : refused(id, MEANWHILE)
      })
    case 'fail':
      return each(jobs, async ({ id }) => {
        const { reason, final = false } = action
        const { status } = await failJob(services, id, { reason, final, by })
        return status === 'dead' || status === 'retrying' ? change(id) : refused(id, MEANWHILE)
      })
    case 'prune':
      return forgotten(services, jobs, by)
    case 'resolve':
    case 'ignore':
      return closed(services, action, jobs, by)
  }
}

async function each(jobs: readonly BulkFacts[], act: (job: BulkFacts) => Promise<BulkVerdict>): Promise<Verdicts> {
  const verdicts: BulkVerdict[] = []
  for (const job of jobs) {
    // A job that refuses by its nature must not stop the others.
    verdicts.push(
      await act(job).catch((error: unknown) => {
        if (error instanceof InvalidDefinition) return refused(job.id, error.message)
        throw error
      }),
    )
  }
  return verdicts
}

async function cancelled(
  { jobs: manager }: BulkWorkServices,
  jobs: readonly BulkFacts[],
  decision: { by: string; reason: string },
) {
  const ids = jobs.map(({ id }) => id)
  const done = await manager.cancelMany(ids, { ...decision, isAudited: true })
  const won = new Set([...done.cancelled, ...done.requested])
  return ids.map((id) => (won.has(id) ? change(id) : refused(id, MEANWHILE)))
}

async function retried(
  services: BulkWorkServices,
  { maxAttempts }: Extract<BulkAction, { maxAttempts?: number }>,
  jobs: readonly BulkFacts[],
  by: string,
): Promise<Verdicts> {
  const waiting = jobs.filter(({ status }) => status !== 'dead')
  const verdicts = await each(waiting, async ({ id }) =>
    (await services.jobs.runNow(id, { by }, 'job.retry')) ? change(id) : already(id, MEANWHILE),
  )
  const dead = await ours(
    services,
    jobs.filter(({ status }) => status === 'dead'),
  )
  const letters = new Map(dead.flatMap(({ id, letterId }) => (letterId === null ? [] : [[letterId, id] as const])))
  if (letters.size === 0) return verdicts
  const options = { by, ...(maxAttempts === undefined ? {} : { maxAttempts }) }
  const results = await services.deadLetters.redrive([...letters.keys()], options)
  return [...verdicts, ...results.map((result) => redriven(letters.get(result.id) as string, result))]
}

/** Without those whose contract only a living worker of another program has: it deals with them. */
async function ours({ db, registry }: BulkWorkServices, jobs: readonly BulkFacts[]): Promise<readonly BulkFacts[]> {
  if (jobs.every(({ type }) => registry.find(type) !== undefined)) return jobs
  const known = new Set((await workerList(db)).flatMap(({ types }) => types))
  return jobs.filter(({ type }) => registry.find(type) !== undefined || !known.has(type))
}

function redriven(jobId: string, result: RedriveResult): BulkVerdict {
  switch (result.status) {
    case 'redriven':
      return change(jobId, { newJobId: result.jobId })
    case 'already_redriven':
      return { ...already(jobId, 'it was redriven before'), newJobId: result.jobId }
    case 'duplicate':
      return already(jobId, 'a live job holds its dedup key')
    case 'refused':
      return refused(jobId, result.message)
    case 'not_found':
      return refused(jobId, 'it left no dead letter')
  }
}

async function closed(
  { deadLetters }: BulkWorkServices,
  { action, note }: Extract<BulkAction, { note?: string }>,
  jobs: readonly BulkFacts[],
  by: string,
): Promise<Verdicts> {
  const letters = new Map(jobs.flatMap(({ id, letterId }) => (letterId === null ? [] : [[letterId, id] as const])))
  const options = { by, ...(note === undefined ? {} : { note }) }
  const results = await deadLetters[action]([...letters.keys()], options)
  return results.map(({ id, status }) => {
    const jobId = letters.get(id) as string
    return status === 'resolved' || status === 'ignored' ? change(jobId) : already(jobId, MEANWHILE)
  })
}

async function forgotten({ db, clock }: BulkWorkServices, jobs: readonly BulkFacts[], by: string): Promise<Verdicts> {
  const ids = jobs.map(({ id }) => id)
  const gone = await db.transaction(async (tx) => {
    const rows = await jobArchiveForget(tx, ids)
    const entries = rows.map(({ id, tenant }) => ({ by, action: 'job.prune', target: id, tenant }))
    await auditWrite(tx, clock.databaseNow(), ...entries)
    return new Set(rows.map(({ id }) => id))
  })
  return ids.map((id) => (gone.has(id) ? change(id) : refused(id, MEANWHILE)))
}

/** Priorities go back to what they were, where nobody has changed them since. */
function restored(
  services: BulkWorkServices,
  { options, createdBy: by }: BulkRow,
  items: readonly { jobId: string; before: number | null }[],
  facts: ReadonlyMap<string, BulkFacts>,
): Promise<Verdicts> {
  const befores = new Map(items.map(({ jobId, before }) => [jobId, before]))
  const given = items.map(({ jobId }) => facts.get(jobId) ?? { id: jobId, priority: null })
  return each(given as BulkFacts[], async ({ id, priority }) => {
    if (priority === null) return { jobId: id, ...GONE }
    if (priority !== options.priority) return refused(id, 'its priority was changed since')
    const result = await prioritiseJob(services, id, befores.get(id) as number, { by })
    return result.status === 'prioritised' ? change(id, { before: result.before }) : refused(id, MEANWHILE)
  })
}
