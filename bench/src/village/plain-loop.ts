// What a program does without a job platform: one feed after the other by rss-parser, and an insert for its items.
import type pg from 'pg'
import Parser from 'rss-parser'

const TABLE = `
create table if not exists public.plain_item (
  feed text, guid text, title text, url text, description text, content text, published_at timestamptz,
  primary key (feed, guid)
)`

const ADD = `
insert into public.plain_item
select $1, given.*
from jsonb_to_recordset($2::jsonb)
  as given (guid text, title text, url text, description text, content text, published_at timestamptz)
on conflict do nothing`

export async function plainLoop(pool: pg.Pool, urls: readonly string[]): Promise<number> {
  await pool.query(TABLE)
  await pool.query('truncate public.plain_item')
  const parser = new Parser()
  const startedMs = performance.now()
  for (const url of urls) {
    const { items } = await parser.parseURL(url)
    const rows = items.map(({ guid, title, link, contentSnippet, content, isoDate }) => ({
      ...{ guid, title, url: link, description: contentSnippet, content, published_at: isoDate },
    }))
    await pool.query(ADD, [url, JSON.stringify(rows)])
  }
  return (performance.now() - startedMs) / 1_000
}
