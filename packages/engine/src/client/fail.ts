// A person or program fails a job by hand: a failed attempt under the job's own retry rules, or the end of it.
//
// A running job is taken away from its worker first: its run is settled here, under its own fence, so that nothing the
// handler still writes about it counts. The worker is told, and aborts the handler's signal.
import type { Clock } from '../clock.ts'
import type { Registry } from '../contract/registry.ts'
import { backoffMs, defaultBackoff } from '../contract/retry.ts'
import { InvalidDefinition } from '../errors.ts'
import { failureOf } from '../failure.ts'
import type { Admitter } from '../governance/admitter.ts'
import { isNoPartition } from '../sql-state.ts'
import { auditWrite } from '../store/audit.ts'
import type { Database } from '../store/db.ts'
import { historyBy } from '../store/history.ts'
import { jobBlock, jobTake, type TakenJob } from '../store/job-changes.ts'
import { isJobId } from '../store/job-id.ts'
import { type Job, jobGet } from '../store/jobs.ts'
import { workKeysOf } from '../store/keyed-work.ts'
import { ensurePartitions } from '../store/partitions.ts'
import { type Settlement, settle } from '../store/settlements.ts'
import type { Advancer } from '../workflow/advancer.ts'
import { author, label } from './enqueue-options.ts'
import type { Herald } from './herald.ts'
import type { Waker } from './waker.ts'

export interface FailOptions {
  /** Why: it is the error of the attempt. */
  reason: string
  /** Who: it is written into the audit log. */
  by: string
  /** True: the job becomes a dead letter now, whatever attempts are left. */
  final?: boolean
}

export type FailResult =
  /** It waits by its backoff. `attempt` has failed. */
  | { status: 'retrying'; attempt: number; delayMs: number }
  /** That was its last attempt, or it was to be. */
  | { status: 'dead'; attempt: number }
  | { status: 'finished'; as: Job['status'] }
  | { status: 'not_found' }

export interface FailServices {
  db: Database
  clock: Clock
  registry: Registry
  waker: Waker
  herald: Herald
  admitter: Admitter
  advancer: Advancer
}

export async function failJob(services: FailServices, id: string, options: FailOptions): Promise<FailResult> {
  const by = author(options.by)
  const reason = label(options.reason, 'reason')
  if (!reason) throw new InvalidDefinition('`reason` is missing: it is what the job will say it failed with.')
  if (!isJobId(id)) return { status: 'not_found' }
  const decision = { by, reason, final: options.final ?? false }
  const failed = await write(services, id, decision).catch(async (error: unknown) => {
    // No worker has run for days, or a test has moved time: nobody has made the archive's partition of today.
    if (!isNoPartition(error)) throw error
    await ensurePartitions(services.db, services.clock.databaseNow())
    return write(services, id, decision)
  })
  if (failed === undefined) {
    const job = await jobGet(services.db, id)
    return job === undefined ? { status: 'not_found' } : { status: 'finished', as: job.status }
  }
  await tell(services, failed)
  const { taken, settlement } = failed
  if (settlement.kind === 'bury') return { status: 'dead', attempt: taken.attempt }
  return { status: 'retrying', attempt: taken.attempt, delayMs: settlement.delayMs ?? 0 }
}

type Decision = Required<FailOptions>
/** Never 'finish', but that is not worth a type of its own. */
type Failed = { taken: TakenJob; settlement: Exclude<Settlement, { kind: 'finish' }> }

function write({ db, clock, registry }: FailServices, id: string, decision: Decision): Promise<Failed | undefined> {
  return db.transaction(async (tx) => {
    const now = clock.databaseNow()
    await historyBy(tx, decision.by)
    const taken = await jobTake(tx, now, id)
    if (taken === undefined) return undefined
    const settlement = settlementOf(registry, taken, decision)
    await settle(tx, now, [settlement])
    // It had not been admitted: others of its key come first.
    if (settlement.kind === 'requeue' && taken.wasBlocked && taken.orderKey !== null) await jobBlock(tx, id)
    const { by } = decision
    const details = { attempt: taken.attempt, became: settlement.kind === 'bury' ? 'dead' : 'waiting' }
    await auditWrite(tx, now, { by, action: 'job.fail', target: id, tenant: taken.tenant, details })
    return { taken, settlement }
  })
}

/** The contract may be one that only other programs know: then the defaults hold. */
function settlementOf(registry: Registry, taken: TakenJob, { by, reason, final }: Decision): Failed['settlement'] {
  const { id, runId, attempt, workflowId } = taken
  const contract = registry.find(taken.type)
  const failure = { ...failureOf('FailedByHand', `${reason} (failed by ${by})`), logs: null }
  if (!final && attempt < taken.maxAttempts) {
    const backoff = contract?.retry.backoff ?? defaultBackoff
    const delayMs = backoffMs(backoff, { attempt, error: new Error(reason), random: Math.random() })
    return { kind: 'requeue', id, runId, delayMs, refund: false, crash: 'clear', failure }
  }
  const drop = !final && contract?.retry.onExhausted === 'drop'
  const retention = contract?.retention ?? 'standard'
  return { kind: 'bury', id, runId, workflowId, reason: final ? 'discarded' : 'exhausted', failure, retention, drop }
}

async function tell({ waker, herald, admitter, advancer }: FailServices, { taken, settlement }: Failed): Promise<void> {
  const { holder, queue, workflowId } = taken
  if (holder !== null) await waker.tellWorkers([{ kind: 'reconcile', workerId: holder }])
  waker.wake([queue])
  await admitter.admit(workKeysOf(taken))
  if (settlement.kind !== 'bury') return
  await herald.tell([taken.id])
  if (workflowId !== null) void advancer.heard([workflowId])
}
