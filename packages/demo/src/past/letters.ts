// What people decided about the dead letters of the week: redriven after the mend, resolved, ignored, or nothing yet.
import { DEPLOYED_HOURS_AGO, MENDED_HOURS_AGO } from '../failures.ts'
import { dice } from '../random.ts'
import { jobOf, type WeekJob, type WeekPlan, Workers } from './week.ts'

const HOUR_MS = 3_600_000

export interface Decision {
  readonly status: 'retried' | 'resolved' | 'ignored'
  readonly by: string
  readonly at: number
  readonly note: string | null
  /** The job that does the work instead. */
  readonly redriven?: WeekJob
}

/** By the job that died. */
export function decisions(jobs: readonly WeekJob[], { now, seed }: WeekPlan): Map<WeekJob, Decision> {
  const roll = dice(seed + 1)
  const workers = new Workers(roll, now)
  const decided = new Map<WeekJob, Decision>()
  const mendedAt = now - MENDED_HOURS_AGO * HOUR_MS
  for (const job of jobs) {
    if (job.end.status !== 'dead') continue
    const { type } = job.profile.contract
    const diedAt = (job.runs.at(-1) as { endedAt: number }).endedAt
    const isOfDeploy = type === 'invoice.render' && diedAt > now - DEPLOYED_HOURS_AGO * HOUR_MS && diedAt < mendedAt
    if (isOfDeploy && roll() < 0.8) {
      const at = mendedAt + 900_000 + roll() * 600_000
      const plan = { profile: job.profile, tenant: job.tenant, createdAt: at, now, workers }
      const redriven = jobOf(roll, { ...plan, createdBy: 'ops@fernwick.example', redrives: job })
      decided.set(job, { status: 'retried', by: 'ops@fernwick.example', at, note: 'mended in 2.8.1', redriven })
      continue
    }
    const ageHours = (now - diedAt) / HOUR_MS
    if (ageHours < 20 || roll() > 0.75) continue
    const at = Math.min(now - HOUR_MS, diedAt + roll() * 18 * HOUR_MS)
    const isIgnored = type === 'webhook.deliver'
    decided.set(job, {
      status: isIgnored ? 'ignored' : 'resolved',
      by: isIgnored ? 'support@fernwick.example' : 'ops@fernwick.example',
      at,
      note: isIgnored ? 'the shop has closed this address' : 'settled with the shop by phone',
    })
  }
  return decided
}
