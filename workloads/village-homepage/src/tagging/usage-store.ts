// SQL that brings calls of the model into the budget. A call counts once: by whoever marks it as counted.
import type { Queryable } from 'millrace'

export interface Uncounted {
  readonly calls: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly microdollars: number
}

const SUM = `
select count(*)::integer as calls, coalesce(sum(input_tokens), 0)::integer as input_tokens,
  coalesce(sum(output_tokens), 0)::integer as output_tokens, coalesce(sum(cost_microdollars), 0)::bigint as microdollars
from marked`

const COUNT_BATCH = `
with marked as (
  update village.ai_calls
  set counted = true
  where batch = $1
    and not counted
  returning *
)${SUM}`

/**
 * What runs have left behind whose process died: earlier runs of this job, and any other after 15 minutes. The items of
 * the former are free at once.
 */
const COUNT_LEFT = `
with marked as (
  update village.ai_calls
  set counted = true
  where not counted
    and (job_id = $1 or called_at < now() - interval '15 minutes')
  returning *
),
released as (
  update village.feed_items
  set tagging_batch = null, tagging_until = null
  where tagging_batch in (select batch from marked where job_id = $1)
)${SUM}`

export const countBatch = (tx: Queryable, batch: string): Promise<Uncounted> => counted(tx, COUNT_BATCH, batch)

export const countLeft = (tx: Queryable, jobId: string): Promise<Uncounted> => counted(tx, COUNT_LEFT, jobId)

async function counted(tx: Queryable, statement: string, whose: string): Promise<Uncounted> {
  const { rows } = await tx.query(statement, [whose])
  const row = rows[0] as { calls: number; input_tokens: number; output_tokens: number; microdollars: string }
  const { calls, input_tokens: inputTokens, output_tokens: outputTokens } = row
  return { calls, inputTokens, outputTokens, microdollars: Number(row.microdollars) }
}
