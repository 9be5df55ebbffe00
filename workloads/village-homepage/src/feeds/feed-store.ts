// SQL about feed items.
import type { Queryable } from 'millrace'
import type { FeedEntry } from './entries.ts'

const UNTAGGED = 'select count(*)::integer as count from village.feed_items where ai_tagged = false'

/** A guid that is known stays as it is. Of sources that give old items new guids, a known content is enough. */
const ADD = `
with given as (
  select given.*, row_number() over (partition by content_hash order by position) as nth
  from jsonb_to_recordset($2::jsonb) as given (
    position integer, item_guid text, title text, url text, description text, content text, author text,
    published_at timestamptz, content_hash char(32)
  )
)
insert into village.feed_items
  (source_id, item_guid, title, url, description, content, author, published_at, content_hash, ai_tagged)
select $1, item_guid, title, url, description, content, author, published_at, content_hash, false
from given
where $3 = 'guid'
  or (
    nth = 1
    and not exists (
      select from village.feed_items as known
      where known.source_id = $1
        and known.content_hash = given.content_hash
    )
  )
order by position desc
on conflict (source_id, item_guid) do nothing
returning id`

export async function untaggedCount(db: Queryable): Promise<number> {
  const { rows } = await db.query(UNTAGGED)
  return (rows[0] as { count: number }).count
}

interface SourceItems {
  readonly id: string
  readonly dedupeMode: 'guid' | 'content_hash'
}

/** One insert for all. Answers how many were new. */
export async function addItems(tx: Queryable, source: SourceItems, entries: readonly FeedEntry[]): Promise<number> {
  if (entries.length === 0) return 0
  const given = entries.map((entry, position) => ({
    position,
    item_guid: entry.guid,
    title: entry.title,
    url: entry.url,
    description: entry.description,
    content: entry.content,
    author: entry.author,
    published_at: entry.publishedAt,
    content_hash: entry.contentHash,
  }))
  const { rows } = await tx.query(ADD, [source.id, JSON.stringify(given), source.dedupeMode])
  return rows.length
}
