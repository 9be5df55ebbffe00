// What is told of tagging jobs that their budget holds or stops: their handler is never called, so it cannot tell itself.
import type { BudgetRefusal, Logger, Millrace } from 'millrace'
import { BUDGET_NAME } from '../tagging/budget.ts'
import { taggingThrottles } from './metrics.ts'
import { spanEvent } from './span-events.ts'

/** Listens until it is called off. Listeners are called inside the span of the run, before that ends. */
export function tellThrottles({ events }: Millrace, logger: Logger): () => void {
  const throttled = ({ job, budget }: { job: { id: string }; budget: BudgetRefusal }): void => {
    const { level, used, limit, period } = budget
    if (budget.budget !== BUDGET_NAME) return
    taggingThrottles.inc()
    spanEvent('budget_check', { budget_action: level, percent_used: percentOf(used, limit) })
    spanEvent('budget_throttle', { budget_action: level })
    const facts = { job: job.id, budget_action: level, percent_used: percentOf(used, limit), period }
    logger.warn(facts, 'tagging was skipped because of its budget')
  }
  const offs = [events.on('budget_hold', throttled), events.on('budget_hard_stop', throttled)]
  return () => {
    for (const off of offs) off()
  }
}

/** Of the limit, with two decimals. */
export const percentOf = (used: number, limit: number): number =>
  limit === 0 ? 100 : Math.round((used / limit) * 10_000) / 100
