// SQL about feed items.
import type { Queryable } from 'millrace'

const UNTAGGED = 'select count(*)::integer as count from village.feed_items where ai_tagged = false'

export async function untaggedCount(db: Queryable): Promise<number> {
  const { rows } = await db.query(UNTAGGED)
  return (rows[0] as { count: number }).count
}
