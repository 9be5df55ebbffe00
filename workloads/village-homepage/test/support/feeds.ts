// The village with a publisher of its own, whose feeds it follows.
import { randomUUID } from 'node:crypto'
import { runJob } from 'millrace/testing'
import { startFeedServer } from './feed-server.ts'
import { setup, type VillageSetup } from './setup.ts'

export interface SourceState {
  readonly id: string
  readonly is_active: boolean
  readonly error_count: number
  readonly last_error_type: string | null
  readonly last_error_message: string | null
  readonly last_fetched_at: Date | null
  readonly disabled_at: Date | null
  readonly etag: string | null
  readonly moved_to: string | null
}

export async function feedSetup(options: VillageSetup = {}) {
  const server = await startFeedServer()
  const t = await setup({ ...options, allow: [...(options.allow ?? []), server.address] })
  return {
    ...t,
    server,

    /** A source for that path of the publisher, or for a whole URL. Answers with its id. */
    async follow(path: string, columns: Record<string, unknown> = {}): Promise<string> {
      const url = path.startsWith('/') ? server.url(path) : path
      const given = { name: path, url, ...columns }
      const names = Object.keys(given)
      const [row] = await t.sql<{ id: string }>(
        `insert into village.rss_sources (${names}) values (${names.map((_, i) => `$${i + 1}`)}) returning id`,
        Object.values(given),
      )
      return row?.id as string
    },

    /** One run of a new job for that source, as a worker does it, also while another job waits for its retry. */
    refresh: (id: string, { isForced = true } = {}) =>
      runJob(
        t.handler('RSS_FEED_REFRESH'),
        { source_id: id, force_refresh: isForced },
        { millrace: t.millrace, dedupKey: randomUUID() },
      ),

    async source(id: string): Promise<SourceState> {
      const [row] = await t.sql<SourceState>('select * from village.rss_sources where id = $1', [id])
      return row as SourceState
    },

    items: (id: string) =>
      t.sql<{ title: string; item_guid: string; url: string; description: string | null; ai_tagged: boolean }>(
        'select * from feed_items where source_id = $1 order by published_at, title',
        [id],
      ),

    async [Symbol.asyncDispose]() {
      await t[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}
