// `cleanup-jobs`: forgets what is over. The platform would keep jobs of these types for 90 days; this job decides.
import { type Implementation, implement, type JobContext } from 'millrace'
import { cleanupJobs, contracts } from '../contracts.ts'
import { removeOldReminders } from '../registry/reminders.ts'
import type { LipasSystem } from '../system.ts'
import { removeOldDeliveries } from '../utp/deliveries.ts'

export const cleanupJobsHandler = (system: LipasSystem): Implementation =>
  implement(cleanupJobs, async ({ 'days-old': daysOld }, ctx) => {
    const jobs = await pruneJobs(system, daysOld, ctx)
    return {
      jobs,
      reminders: await removeOldReminders(system.database, daysOld),
      deliveries: await removeOldDeliveries(system.database, daysOld),
    }
  })

/** Type by type, so that a stop waits for one batch at most. */
async function pruneJobs({ millrace }: LipasSystem, daysOld: number, ctx: JobContext): Promise<number> {
  let jobs = 0
  for (const [done, { type }] of contracts.entries()) {
    ctx.signal.throwIfAborted()
    const { pruned } = await millrace.prune({
      ...{ olderThan: `${daysOld}d`, types: [type], statuses: ['completed'], by: 'cleanup-jobs', signal: ctx.signal },
    })
    jobs += pruned
    ctx.progress(done + 1, contracts.length, `${jobs} jobs forgotten`)
  }
  ctx.signal.throwIfAborted()
  return jobs
}
