// The monthly budget of tagging (P10). Its spending is the table ai_usage_tracking, so SQL on that table takes effect.
import { type Budget, type BudgetSource, defineBudget } from 'millrace'
import type { VillageConfig } from '../config/read.ts'

export const PROVIDER = 'anthropic'
export const BUDGET_NAME = 'ai-tagging'
export const MICRODOLLARS_PER_CENT = 10_000

/**
 * Calls that no batch has counted yet are spent, too: if their process has died, nothing is reserved for them any more.
 * While their batch runs they count twice, here and in its reservation, so that others are careful for a moment too much.
 */
const READ = `
select coalesce(max(estimated_cost_cents), 0) * ${MICRODOLLARS_PER_CENT}
    + (select coalesce(sum(cost_microdollars), 0)
       from village.ai_calls
       where not counted
         and called_at >= $3
         and called_at < $4) as spent,
  max(budget_limit_cents) * ${MICRODOLLARS_PER_CENT} as "limit"
from village.ai_usage_tracking
where month = $1::date
  and provider = $2`

const ADD = `
insert into village.ai_usage_tracking as usage
  (month, provider, total_requests, total_tokens_input, total_tokens_output, estimated_cost_cents)
values ($1::date, $2, $3, $4, $5, $6::numeric / ${MICRODOLLARS_PER_CENT})
on conflict (month, provider) do update
set total_requests = usage.total_requests + excluded.total_requests,
    total_tokens_input = usage.total_tokens_input + excluded.total_tokens_input,
    total_tokens_output = usage.total_tokens_output + excluded.total_tokens_output,
    estimated_cost_cents = usage.estimated_cost_cents + excluded.estimated_cost_cents,
    updated_at = now()`

const source: BudgetSource = {
  async read(tx, { period, startsAt, endsAt }) {
    const { rows } = await tx.query(READ, [`${period}-01`, PROVIDER, startsAt, endsAt])
    const [row] = rows as [{ spent: string; limit: string | null }]
    return { spent: Math.round(Number(row.spent)), limit: row.limit === null ? null : Math.round(Number(row.limit)) }
  },
  async add(tx, { period }, { amount, calls, details }) {
    const { input_tokens: input = 0, output_tokens: output = 0 } = details
    await tx.query(ADD, [`${period}-01`, PROVIDER, calls, input, output, amount])
  },
}

/** An article costs 0.6 cents, so the budget counts microdollars. */
export const taggingBudget = ({ jobs }: VillageConfig): Budget =>
  defineBudget(BUDGET_NAME, {
    limit: Math.round(jobs.aiTagging.monthlyBudget * 1_000_000),
    per: 'month',
    unit: 'microdollars',
    source,
  })
