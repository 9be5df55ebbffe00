// What tagging costs: the month that is running, the months before, and the limit of a month.
import { type Route, route } from '@millrace/admin'
import { endpoint } from '@millrace/admin/contract'
import type { Millrace } from 'millrace'
import { z } from 'zod'
import { untaggedCount } from '../feeds/feed-store.ts'
import { BUDGET_NAME, MICRODOLLARS_PER_CENT, PROVIDER } from '../tagging/budget.ts'
import { BATCH_SIZES } from '../tagging/tag-items.ts'
import { percentOf } from '../telemetry/throttles.ts'
import type { VillageParts } from '../village-parts.ts'
import { type MonthRow, setMonthLimit, usageBySource, usageHistory, usageOf } from './ai-usage-store.ts'

const MOST_MONTHS = 120
/** A million dollars. */
const MOST_CENTS = 100_000_000
const HOUR_MS = 3_600_000

const month = z.string().regex(/^\d{4}-(0[1-9]|1[0-2])$/, 'expected a month, such as 2026-11')
const amount = z.number().min(0)
const usage = z.object({
  month: z.string(),
  provider: z.string(),
  totalRequests: z.int(),
  totalTokensInput: amount,
  totalTokensOutput: amount,
  estimatedCostCents: amount,
  budgetLimitCents: amount,
  limitFrom: z.enum(['period', 'setting', 'source', 'code']),
  percentUsed: amount,
})

const currentUsage = endpoint({
  method: 'GET',
  path: '/admin/api/ai-usage',
  permission: 'viewer',
  scope: 'all',
  summary: 'See what tagging has cost this month, and what its budget allows',
  description:
    'Amounts are US cents. `budgetAction` is the level of the budget, by what is spent and reserved; `forecastCents` is what the month will cost at this rate.',
  input: z.object({}),
  output: usage.extend({
    budgetAction: z.enum(['NORMAL', 'REDUCE', 'QUEUE', 'HARD_STOP']),
    batchSize: z.int(),
    untaggedItems: z.int(),
    forecastCents: amount,
    resetsAt: z.iso.datetime(),
  }),
})

const pastUsage = endpoint({
  method: 'GET',
  path: '/admin/api/ai-usage/history',
  permission: 'viewer',
  scope: 'all',
  summary: 'See what tagging has cost month by month, and for which sources',
  description: 'Newest first. Months without a call and without a limit of their own are left out.',
  input: z.object({ months: z.coerce.number().int().min(1).max(MOST_MONTHS).default(12) }),
  output: z.object({
    months: z.array(
      usage.extend({
        bySource: z.array(
          z.object({
            source_id: z.string().nullable(),
            name: z.string().nullable(),
            costCents: amount,
            calls: z.int(),
          }),
        ),
      }),
    ),
  }),
})

const limitOfMonth = endpoint({
  method: 'PATCH',
  path: '/admin/api/ai-usage/:month/budget',
  permission: 'operator',
  scope: 'all',
  summary: 'Set the tagging budget of a month',
  description:
    'For the month that is running it counts at once: it stands before a limit of `millrace budgets set`, which is taken away, and a job that waits for the budget is due at once. null takes the limit of the configuration again.',
  input: z.object({ month, budgetLimitCents: z.number().min(0).max(MOST_CENTS).nullable() }),
  output: usage.extend({ isCurrent: z.boolean() }),
})

export const aiUsageRoutes = (parts: VillageParts): Route[] => [
  route(currentUsage, (_input, { millrace }) => thisMonth(parts, millrace)),

  route(pastUsage, async ({ months }, { millrace }) => {
    const { database } = parts
    const { period } = await millrace.budgets.get(BUDGET_NAME)
    const rows = await usageHistory(database, period, months)
    const sources = await usageBySource(database, period, months)
    return {
      months: await Promise.all(
        rows.map(async (row) => ({
          ...(await shown(row, millrace)),
          bySource: sources.filter((each) => each.month === row.month).map(({ month: _, ...source }) => source),
        })),
      ),
    }
  }),

  route(limitOfMonth, async ({ month: wanted, budgetLimitCents }, { millrace, by }) => {
    const row = await setMonthLimit(parts.database, wanted, budgetLimitCents)
    const { period } = await millrace.budgets.get(BUDGET_NAME)
    const isCurrent = wanted === period
    // Frees the jobs that wait, if the level lets them run.
    if (isCurrent) await millrace.budgets.adjust(BUDGET_NAME, { limit: null, by })
    await millrace.audit.write({
      ...{ by, action: 'ai-usage.limit', target: wanted },
      details: { budgetLimitCents },
    })
    return { ...(await shown(row, millrace)), isCurrent }
  }),
]

async function shown(row: MonthRow, millrace: Millrace) {
  const { limit, limitFrom, spent, ...status } = await millrace.budgets.get(BUDGET_NAME, { period: row.month })
  const limitCents = limit / MICRODOLLARS_PER_CENT
  // Of the month that is running, calls count before their batch has ended.
  const costCents = Math.max(row.costCents, spent / MICRODOLLARS_PER_CENT)
  return {
    ...{ month: status.period, provider: PROVIDER, totalRequests: row.requests },
    ...{ totalTokensInput: row.input, totalTokensOutput: row.output },
    ...{ estimatedCostCents: costCents, budgetLimitCents: limitCents, limitFrom },
    percentUsed: percentOf(costCents, limitCents),
  }
}

async function thisMonth({ database, clock }: VillageParts, millrace: Millrace) {
  const { period, level, startsAt, endsAt } = await millrace.budgets.get(BUDGET_NAME)
  const month = await shown(await usageOf(database, period), millrace)
  return {
    ...month,
    budgetAction: level,
    batchSize: BATCH_SIZES[level],
    untaggedItems: await untaggedCount(database),
    forecastCents: forecast(month.estimatedCostCents, { startsAt, endsAt, now: clock.now() }),
    resetsAt: endsAt,
  }
}

/** At the rate of the month until now. */
function forecast(cents: number, { startsAt, endsAt, now }: { startsAt: Date; endsAt: Date; now: Date }): number {
  const [start, end] = [startsAt.getTime(), endsAt.getTime()]
  const elapsed = Math.min(end - start, Math.max(HOUR_MS, now.getTime() - start))
  return Math.round(((cents * (end - start)) / elapsed) * 100) / 100
}
