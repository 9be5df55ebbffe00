// The month of tagging that the sandbox begins with: so near to 75 % of its small limit that the first notice comes within minutes.
import type { Queryable } from 'millrace'
import { PROVIDER } from '../src/tagging/budget.ts'

const LIMIT_CENTS = 500
const BEGUN_CENTS = 370
/** A month that is nearly used up begins again with the next start. */
const NEARLY_USED_UP = 0.85

const SEED = `
insert into village.ai_usage_tracking as usage (month, provider, estimated_cost_cents, budget_limit_cents)
values (date_trunc('month', now() at time zone 'UTC')::date, $1, $2, $3)
on conflict (month, provider) do update
set budget_limit_cents = coalesce(usage.budget_limit_cents, excluded.budget_limit_cents),
    estimated_cost_cents = case
      when usage.estimated_cost_cents > $4 * coalesce(usage.budget_limit_cents, excluded.budget_limit_cents)
        then excluded.estimated_cost_cents
      else usage.estimated_cost_cents
    end`

export async function seedBudget(db: Queryable): Promise<void> {
  await db.query(SEED, [PROVIDER, BEGUN_CENTS, LIMIT_CENTS, NEARLY_USED_UP])
}
