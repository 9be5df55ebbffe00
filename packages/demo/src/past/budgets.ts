// What was spent of the budgets. The one for screening is nearly used up.
import type { PastRow } from 'millrace/testing'
import { screening, translation } from '../queues.ts'
import { time } from './rows.ts'

const DAY_MS = 86_400_000
const SCREENED_CENTS = 38_940
const TOKENS_A_DAY = [17_900, 21_300, 16_200, 24_100, 19_800, 22_700, 9_400]

export function budgetRows(now: number): { periods: PastRow[]; usage: PastRow[] } {
  const month = time(now).slice(0, 7)
  const days = TOKENS_A_DAY.map((spent, at) => ({
    period: time(now - (TOKENS_A_DAY.length - 1 - at) * DAY_MS).slice(0, 10),
    spent,
  }))
  const amounts = [
    { budget: screening.name, period: month, spent: SCREENED_CENTS, type: 'order.screen', perCall: 1 },
    ...days.map((each) => ({ budget: translation.name, ...each, type: 'text.translate', perCall: 90 })),
  ]
  return {
    periods: amounts.map(({ budget, period, spent, perCall }) => ({
      ...{ budget, period, spent, calls: Math.round(spent / perCall), notified: 0, updated_at: time(now) },
    })),
    usage: amounts.flatMap(({ budget, period, spent, type, perCall }) =>
      [
        { created_by: 'web', amount: Math.round(spent * 0.86) },
        { created_by: 'support@fernwick.example', amount: spent - Math.round(spent * 0.86) },
      ].map(({ created_by, amount }) => ({
        ...{ budget, period, type, created_by, amount, calls: Math.round(amount / perCall), updated_at: time(now) },
      })),
    ),
  }
}
