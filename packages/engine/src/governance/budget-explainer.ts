// Why a waiting job is held by its budget.
import { budgetStatus } from './budget-status.ts'
import type { Explainer } from './reason.ts'

export const explainBudget: Explainer = async (job, { db, now, registry }) => {
  const budget = registry.find(job.type)?.budget
  if (budget === undefined || job.status === 'processing') return undefined
  const status = await budgetStatus(db, now, budget)
  const { level, used, limit, unit, period, percent } = status
  if (level !== 'QUEUE' && level !== 'HARD_STOP') return undefined
  const stand = `Budget "${budget.name}" is at ${level}: ${used} of ${limit} ${unit} used in ${period} (${percent} %)`
  const triedAt = job.runAt.getTime() > status.retryAt.getTime() - status.retryInMs ? job.runAt : status.retryAt
  const course =
    level === 'QUEUE'
      ? `The job is tried again at ${triedAt.toISOString()} and loses no attempt.`
      : `When its turn comes, the job is cancelled without being retried. The budget starts anew at ${status.endsAt.toISOString()}.`
  return {
    mechanism: 'budget',
    sentence: `${stand}. ${course}`,
    until: level === 'QUEUE' ? triedAt : status.endsAt,
    remedy: `millrace budgets set ${budget.name} --limit N`,
  }
}
