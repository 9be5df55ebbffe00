// `detect_stuck_jobs` and `cleanup_old_dlq_entries`: what is left to do beside the engine, which ends a run at twice its timeout.
import { type DeadLetter, type Implementation, implement, type Job, type JobContext, type Millrace } from 'millrace'
import { sendNotification } from '../contracts/critical.ts'
import { cleanUpDeadLetters, detectStuckJobs } from '../contracts/monitoring.ts'
import type { DartwingSystem } from '../system.ts'
import { DLQ_CONFIG } from './queue-config.ts'

const REASON = 'Job exceeded timeout threshold'
const BY = 'dartwing'
const DAY_MS = 24 * 3_600_000
const DEFAULT_TIMEOUT_MS = 300_000

export const detectStuckJobsHandler = (system: DartwingSystem): Implementation =>
  implement(detectStuckJobs, async (_, ctx) => {
    const failed = await failRunning(system.millrace, ctx)
    const letters = await system.millrace.deadLetters.list({ reason: 'stuck', limit: 1_000 })
    const fresh = letters.filter(({ diedAt }) => diedAt.getTime() > Date.now() - DAY_MS)
    let reported = 0
    for (const letter of fresh) {
      await ctx.once(`reported:${letter.id}`, async () => {
        const job = await system.millrace.job(letter.jobId)
        logStuck(ctx, {
          id: letter.jobId,
          queue: letter.queue,
          tenant: letter.tenant,
          startedAt: job?.startedAt ?? null,
        })
        await system.millrace.deadLetters.note(letter.id, REASON, { by: BY })
        await tell(system.millrace, letter)
        reported += 1
      })
    }
    return { reported, failed }
  })

/** The admins of the organization; jobs of the installation are in the log only. */
async function tell(
  millrace: Millrace,
  { id, tenant: organization }: Pick<DeadLetter, 'id' | 'tenant'>,
): Promise<void> {
  if (organization !== null)
    await millrace.enqueue(sendNotification, { organization, template: 'stuck_job', about: id, to: 'admins' })
}

/** Only while every worker has just started can a run of such an age be found: the engine's own sweep is as young as they are. */
async function failRunning(millrace: Millrace, ctx: JobContext): Promise<number> {
  const timeouts = new Map(millrace.contracts().map(({ type, timeoutMs }) => [type, timeoutMs ?? DEFAULT_TIMEOUT_MS]))
  const running = await millrace.jobs({ status: 'processing', limit: 1_000 })
  const stuck = running.filter(
    ({ type, startedAt }) =>
      startedAt !== null && Date.now() - startedAt.getTime() > 2 * (timeouts.get(type) ?? DEFAULT_TIMEOUT_MS),
  )
  for (const job of stuck) {
    logStuck(ctx, job)
    await millrace.fail(job.id, { reason: REASON, by: BY, final: true })
  }
  return stuck.length
}

function logStuck(
  { log }: JobContext,
  { id, queue, tenant, startedAt }: Pick<Job, 'id' | 'queue' | 'tenant' | 'startedAt'>,
): void {
  const since = startedAt?.toISOString() ?? 'an unknown time'
  log.error(
    { job: id, queue, organization: tenant },
    `Stuck job detected: ${id} in queue ${queue}, started at ${since}`,
  )
}

export const cleanUpDeadLettersHandler = (system: DartwingSystem): Implementation =>
  implement(cleanUpDeadLetters, async (_, ctx) => {
    const { pruned: removed } = await system.millrace.deadLetters.prune({
      ...{ olderThan: `${DLQ_CONFIG.dlq_retention_days}d`, since: 'death', by: BY, signal: ctx.signal },
    })
    if (removed > 0) ctx.log.info({ removed }, `Cleaned up ${removed} old DLQ entries`)
    return { removed }
  })
