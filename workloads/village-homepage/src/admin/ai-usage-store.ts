// SQL about what tagging has cost, month by month.
import type { Queryable } from 'millrace'
import { PROVIDER } from '../tagging/budget.ts'

export interface MonthRow {
  readonly month: string
  readonly requests: number
  readonly input: number
  readonly output: number
  readonly costCents: number
  /** Null: the limit of the configuration. */
  readonly limitCents: number | null
}

export interface SourceRow {
  readonly month: string
  readonly source_id: string | null
  readonly name: string | null
  readonly costCents: number
  readonly calls: number
}

const FIELDS = `to_char(month, 'YYYY-MM') as month, total_requests as requests, total_tokens_input::float8 as input,
  total_tokens_output::float8 as output, estimated_cost_cents::float8 as "costCents", budget_limit_cents::float8 as "limitCents"`

const MONTH = `
select ${FIELDS}
from village.ai_usage_tracking
where provider = $1
  and month = $2::date`

const HISTORY = `
select ${FIELDS}
from village.ai_usage_tracking
where provider = $1
  and month > $2::date - $3 * interval '1 month'
  and month <= $2::date
order by month desc`

/** Months are those of the budget: UTC. A source that is gone has no name any more. */
const BY_SOURCE = `
select to_char(called_at at time zone 'UTC', 'YYYY-MM') as month, source_id, source.name,
  sum(cost_microdollars)::float8 / 10000 as "costCents", count(*)::integer as calls
from village.ai_calls
left join village.rss_sources as source on source.id = source_id
where called_at >= ($1::date - ($2 - 1) * interval '1 month') at time zone 'UTC'
  and called_at < ($1::date + interval '1 month') at time zone 'UTC'
group by 1, 2, 3
order by month desc, "costCents" desc, source_id`

const LIMIT = `
insert into village.ai_usage_tracking as usage (month, provider, budget_limit_cents)
values ($1::date, $2, $3)
on conflict (month, provider) do update
set budget_limit_cents = excluded.budget_limit_cents, updated_at = now()
returning ${FIELDS}`

export const EMPTY = { requests: 0, input: 0, output: 0, costCents: 0, limitCents: null } as const

export async function usageOf(db: Queryable, month: string): Promise<MonthRow> {
  const { rows } = await db.query(MONTH, [PROVIDER, `${month}-01`])
  return (rows[0] as MonthRow | undefined) ?? { month, ...EMPTY }
}

/** So many months that end with `last`; those without a call and without a limit are left out. */
export async function usageHistory(db: Queryable, last: string, months: number): Promise<MonthRow[]> {
  const { rows } = await db.query(HISTORY, [PROVIDER, `${last}-01`, months])
  return rows as unknown as MonthRow[]
}

export async function usageBySource(db: Queryable, last: string, months: number): Promise<SourceRow[]> {
  const { rows } = await db.query(BY_SOURCE, [`${last}-01`, months])
  return rows as unknown as SourceRow[]
}

export async function setMonthLimit(db: Queryable, month: string, limitCents: number | null): Promise<MonthRow> {
  const { rows } = await db.query(LIMIT, [`${month}-01`, PROVIDER, limitCents])
  return rows[0] as unknown as MonthRow
}
