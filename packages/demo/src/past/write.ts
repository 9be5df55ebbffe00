// Writes the week: jobs, attempts, dead letters, counts, and what people did.
import type { PastRow, PastWriter } from 'millrace/testing'
import { auditRows } from './audit.ts'
import { budgetRows } from './budgets.ts'
import { decisions } from './letters.ts'
import { noticeRows } from './notices.ts'
import { archiveRow, attemptRows, countedRuns, letterRow, liveRow, type Numbered } from './rows.ts'
import { tickRows } from './ticks.ts'
import { type WeekJob, type WeekPlan, week } from './week.ts'

const present = (row: PastRow | undefined): row is PastRow => row !== undefined

export async function writeWeek(writer: PastWriter, plan: WeekPlan): Promise<void> {
  const enqueued = week(plan)
  const decided = decisions(enqueued, plan)
  const redriven = [...decided.values()].flatMap((decision) => decision.redriven ?? [])
  const jobs = [...enqueued, ...redriven].sort((a, b) => a.createdAt - b.createdAt)
  const first = await writer.ids(jobs.length)
  const ids = new Map<WeekJob, number>(jobs.map((job, at) => [job, first + at]))
  const numbered: Numbered[] = jobs.map((job) => ({
    job,
    id: ids.get(job) as number,
    parentId: job.redrives === undefined ? null : (ids.get(job.redrives) as number),
  }))
  await writer.insert('job_archive', numbered.map((each) => archiveRow(each, plan.now)).filter(present))
  await writer.insert('job_attempt', numbered.flatMap(attemptRows))
  const letters = numbered.map((each) => {
    const decision = decided.get(each.job)
    return letterRow(each, decision, decision?.redriven === undefined ? null : (ids.get(decision.redriven) as number))
  })
  const diedInOrder = letters.filter(present).sort((a, b) => (String(a.died_at) < String(b.died_at) ? -1 : 1))
  await writer.insert('dead_letter_jobs', diedInOrder)
  await writer.insert('job', numbered.map(liveRow).filter(present))
  await writer.count(countedRuns(jobs))
  await writer.insert('schedule_tick', tickRows(plan.now))
  const { periods, usage } = budgetRows(plan.now)
  await writer.insert('budget_period', periods)
  await writer.insert('budget_usage', usage)
  await writer.insert('audit_log', auditRows(plan, decided))
  const { alerts, escalations } = noticeRows(plan.now)
  await writer.insert('alert', alerts)
  await writer.insert('escalation', escalations)
}
