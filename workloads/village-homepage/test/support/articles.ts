// Items that wait for tags, and what became of them.
import { randomUUID } from 'node:crypto'
import type { AiTags } from '#src/tagging/tags'
import type { Village } from './setup.ts'

export interface GivenItem {
  readonly title?: string
  readonly content?: string
  /** Items of the same hash have the same text. */
  readonly hash?: string
  readonly source?: string
  readonly minutesOld?: number
}

/** A feed, and the id under which it is known. */
export async function addSource(t: Village, name = 'Gazette'): Promise<string> {
  const url = `https://${randomUUID()}.example/feed`
  const [source] = await t.sql<{ id: string }>(
    'insert into village.rss_sources (name, url) values ($1, $2) returning id',
    [name, url],
  )
  return source?.id ?? ''
}

/** Untagged items of one feed, the first one the newest. */
export async function addItems(t: Village, given: number | readonly GivenItem[]): Promise<string[]> {
  const items = typeof given === 'number' ? Array.from({ length: given }, (): GivenItem => ({})) : given
  const source = items.some((item) => item.source === undefined) ? await addSource(t) : ''
  const ids: string[] = []
  for (const [i, item] of items.entries()) {
    const title = item.title ?? `Council votes on the new bridge near the harbour, part ${i + 1}`
    const content =
      item.content ?? 'The council of the village met on Monday. Neighbours welcome the plan for the river.'
    const [row] = await t.sql<{ id: string }>(
      `insert into village.feed_items (source_id, item_guid, title, url, content, content_hash, published_at)
       values ($1, $2, $3, 'https://example.com/', $4, coalesce($5, md5($2)), now() - $6 * interval '1 minute')
       returning id`,
      [item.source ?? source, randomUUID(), title, content, item.hash ?? null, item.minutesOld ?? i],
    )
    ids.push(row?.id ?? '')
  }
  return ids
}

export interface ItemState {
  id: string
  ai_tagged: boolean
  ai_tags: AiTags | null
  tag_failures: number
  tag_after: Date | null
  tagging_batch: string | null
}

export const itemStates = (t: Village): Promise<ItemState[]> =>
  t.sql<ItemState>(
    'select id, ai_tagged, ai_tags, tag_failures, tag_after, tagging_batch from village.feed_items order by published_at desc',
  )

/** What this month has cost by the table that operators see, by the calls, and by the provider. In microdollars. */
export async function ledgers(t: Village) {
  const [usage] = await t.sql<{ cost: string; requests: number; input: string; output: string }>(
    `select coalesce(sum(estimated_cost_cents), 0) * 10000 as cost, coalesce(sum(total_requests), 0)::int as requests,
       coalesce(sum(total_tokens_input), 0) as input, coalesce(sum(total_tokens_output), 0) as output
     from ai_usage_tracking where month = date_trunc('month', current_date)`,
  )
  const [calls] = await t.sql<{ cost: string; uncounted: number }>(
    `select coalesce(sum(cost_microdollars), 0) as cost, count(*) filter (where not counted)::int as uncounted
     from village.ai_calls`,
  )
  return {
    usage: Number(usage?.cost),
    requests: usage?.requests ?? 0,
    tokens: { input: Number(usage?.input), output: Number(usage?.output) },
    calls: Number(calls?.cost),
    uncounted: calls?.uncounted ?? 0,
    provider: t.sandbox.anthropic.microdollars,
  }
}

/** The month's limit and spending, as an operator's SQL would set them. */
export async function setMonth(
  t: Village,
  { limitCents, spentCents = 0 }: { limitCents: number; spentCents?: number },
) {
  await t.sql(
    `insert into village.ai_usage_tracking (month, provider, estimated_cost_cents, budget_limit_cents)
     values (date_trunc('month', current_date), 'anthropic', $1, $2)
     on conflict (month, provider) do update
     set estimated_cost_cents = excluded.estimated_cost_cents, budget_limit_cents = excluded.budget_limit_cents`,
    [spentCents, limitCents],
  )
}
