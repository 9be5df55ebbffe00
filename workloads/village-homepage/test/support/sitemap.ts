// Listings in bulk, and runs of SITEMAP_GENERATION.
import { randomUUID } from 'node:crypto'
import { runJob } from 'millrace/testing'
import type { Village } from './setup.ts'

type Tables = Pick<Village, 'sql' | 'handler' | 'millrace'>

export const addListings = (t: Tables, count: number) =>
  t.sql(
    `with seller as (insert into village.contacts (email, name) values ('ann@example.org', 'Ann') returning id)
    insert into village.listings (title, price_cents, seller_id, expires_at)
    select 'Bicycle', 100, seller.id, now() + interval '30 days' from seller, generate_series(1, $1)`,
    [count],
  )

/** With a key of its own: a job that waits for its retry holds the usual one. */
export const generate = (t: Tables) =>
  runJob(t.handler('SITEMAP_GENERATION'), {}, { millrace: t.millrace, dedupKey: randomUUID() })
