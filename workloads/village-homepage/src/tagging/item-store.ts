// SQL about items that wait for tags.
//
// A batch claims items for 15 minutes, and renews an item's claim when it comes to it. A batch whose process died loses its
// claims when they run out.
import type { Queryable } from 'millrace'
import type { AiTags } from './tags.ts'

export interface ClaimedItem {
  readonly id: string
  readonly title: string
  readonly description: string | null
  readonly content: string | null
}

/** The newest item of each source, then the second of each: a source that floods the village cannot eat the budget. */
const CLAIM = `
with candidates as (
  select item.id, item.published_at, item.turn
  from village.rss_sources as source
  cross join lateral (
    select id, published_at, row_number() over (order by published_at desc, id) as turn
    from village.feed_items
    where source_id = source.id
      and not ai_tagged
      and (tag_after is null or tag_after <= now())
      and (tagging_until is null or tagging_until < now())
    order by published_at desc, id
    limit $2 * 10      -- other runs may lock some of them at this moment
  ) as item
),
free as (
  select item.id
  from candidates
  join village.feed_items as item using (id)
  where not item.ai_tagged
    and (item.tagging_until is null or item.tagging_until < now())
  order by candidates.turn, candidates.published_at desc, item.id
  limit $2
  for update of item skip locked
)
update village.feed_items as item
set tagging_batch = $1, tagging_until = now() + interval '15 minutes'
from free
join candidates using (id)
where item.id = free.id
returning item.id, title, description, content, turn, item.published_at`

/** Items that a claim would take, if nobody held their rows at this moment. */
const FREE_EXIST = `
select exists (
  select from village.feed_items
  where not ai_tagged
    and (tag_after is null or tag_after <= now())
    and (tagging_until is null or tagging_until < now())
) as free_exist`

/**
 * The item's turn has come: renews its claim, and looks for an item with the same text that has tags. If there is none, a
 * call is noted at its highest cost before it is made: if the process dies meanwhile, nobody knows what it has cost.
 */
const BEGIN = `
with mine as (
  update village.feed_items
  set tagging_until = now() + interval '15 minutes'
  where id = $1
    and tagging_batch = $2
    and not ai_tagged
  returning id, source_id, content_hash
),
twin as (
  select tagged.ai_tags
  from mine
  join village.feed_items as tagged on tagged.content_hash = mine.content_hash
  where tagged.ai_tagged
    and tagged.ai_tags is not null
  limit 1
),
call as (
  insert into village.ai_calls
    (item_id, source_id, batch, job_id, model, input_tokens, output_tokens, cost_microdollars, outcome)
  select id, source_id, $2, $3, $4, 0, 0, $5, 'begun'
  from mine
  where not exists (select from twin)
  returning id
)
select (select ai_tags from twin) as tags, (select id from call) as call_id
from mine`

const REUSE = `
update village.feed_items
set ai_tagged = true, ai_tags = $2, tagged_at = now(), tag_failures = 0, tag_after = null,
    tagging_batch = null, tagging_until = null
where id = $1
  and not ai_tagged`

const TAGGED = `
with call as (
  update village.ai_calls
  set outcome = 'tagged', input_tokens = $3, output_tokens = $4, cost_microdollars = $5
  where id = $2
    and not counted
)
update village.feed_items
set ai_tagged = true, ai_tags = $6, tagged_at = now(), tag_failures = 0, tag_after = null,
    tagging_batch = null, tagging_until = null
where id = $1
  and not ai_tagged`

/** Not again before the next full hour; then after 2, 4, … 24 hours: a hopeless item must not eat the budget. */
const FAILED = `
with call as (
  update village.ai_calls
  set outcome = $3, input_tokens = $4, output_tokens = $5, cost_microdollars = $6
  where id = $2
    and not counted
    and $6 > 0
),
unbilled as (
  delete from village.ai_calls
  where id = $2
    and not counted
    and $6 = 0
)
update village.feed_items
set tag_failures = tag_failures + case when $7 then 1 else 0 end,
    tag_after = date_trunc('hour', now()) + least(24, case when $7 then power(2, tag_failures) else 1 end) * interval '1 hour',
    tagging_batch = null,
    tagging_until = null
where id = $1
  and not ai_tagged`

const CALL_UNSENT = 'delete from village.ai_calls where id = $1 and not counted'

const RELEASE = `
update village.feed_items
set tagging_batch = null, tagging_until = null
where tagging_batch = $1
  and id = any($2::uuid[])`

interface Cost {
  readonly input: number
  readonly output: number
  readonly microdollars: number
}

/** One batch of a run, as the tables see it. */
export class BatchItems {
  readonly #db: Queryable
  readonly #batch: string
  readonly #by: { readonly jobId: string; readonly model: string }

  constructor(db: Queryable, batch: string, by: { jobId: string; model: string }) {
    this.#db = db
    this.#batch = batch
    this.#by = by
  }

  async claim(count: number): Promise<ClaimedItem[]> {
    const { rows } = await this.#db.query(CLAIM, [this.#batch, count])
    const claimed = rows as (ClaimedItem & { turn: string; published_at: Date })[]
    return claimed.sort(
      (a, b) => Number(a.turn) - Number(b.turn) || b.published_at.getTime() - a.published_at.getTime(),
    )
  }

  /** Undefined: the claim was lost. */
  async begin(itemId: string, mostCost: number): Promise<{ tags: AiTags } | { callId: string } | undefined> {
    const values = [itemId, this.#batch, this.#by.jobId, this.#by.model, mostCost]
    const { rows } = await this.#db.query(BEGIN, values)
    const [row] = rows as { tags: AiTags | null; call_id: string | null }[]
    if (row === undefined) return undefined
    return row.tags === null ? { callId: String(row.call_id) } : { tags: row.tags }
  }

  async reuse(itemId: string, tags: AiTags): Promise<void> {
    await this.#db.query(REUSE, [itemId, JSON.stringify(tags)])
  }

  async tagged(itemId: string, callId: string, { tags, cost }: { tags: AiTags; cost: Cost }): Promise<void> {
    const { input, output, microdollars } = cost
    await this.#db.query(TAGGED, [itemId, callId, input, output, microdollars, JSON.stringify(tags)])
  }

  /** `isItsFault`: it waits longer each time. */
  async failed(
    itemId: string,
    callId: string,
    { outcome, cost, isItsFault }: { outcome: 'invalid' | 'unanswered'; cost: Cost; isItsFault: boolean },
  ): Promise<void> {
    const { input, output, microdollars } = cost
    await this.#db.query(FAILED, [itemId, callId, outcome, input, output, microdollars, isItsFault])
  }

  async unsent(callId: string): Promise<void> {
    await this.#db.query(CALL_UNSENT, [callId])
  }

  /** Some wait, whether somebody holds their rows at this moment or not. */
  async freeExist(): Promise<boolean> {
    const { rows } = await this.#db.query(FREE_EXIST)
    return (rows[0] as { free_exist: boolean } | undefined)?.free_exist === true
  }

  async release(itemIds: readonly string[]): Promise<void> {
    if (itemIds.length > 0) await this.#db.query(RELEASE, [this.#batch, itemIds])
  }
}
