// Village Homepage with a worker for its feeds, on the benchmark's database and with its defaults.
import { createMillrace, type Millrace, migrateProgram } from 'millrace'
import type pg from 'pg'
import type { Bench } from '../bench.ts'
import { until } from '../until.ts'

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const ADD = 'insert into village.rss_sources (name, url) select url, url from unnest($1::text[]) as url'
const ALL_FETCHED = 'select count(*) = 0 as is_so from village.rss_sources where last_fetched_at is null'

export interface VillageRun extends AsyncDisposable {
  /** Seconds from the job that looks for feeds until the items of the last one are stored. */
  refresh(urls: readonly string[]): Promise<number>
}

export async function startVillage({ databaseUrl, pool }: Bench, allowed: string): Promise<VillageRun> {
  // It reads its configuration when it is loaded.
  process.env.VILLAGECOMPUTE_EGRESS_ALLOW = allowed
  const { villageHomepage } = await import('@millrace/village-homepage')
  const village = villageHomepage()
  for (const program of [village.migrations ?? []].flat()) await migrateProgram(databaseUrl, program)
  const millrace = createMillrace({ database: databaseUrl, jobs: village.jobs, logger: silent })
  const context = { millrace, logger: silent, databaseUrl, mode: 'dev' as const, queues: [], announce: () => {} }
  const started = await village.start?.(context)
  const handlers = village.handlers.filter(({ contract }) => contract.type === 'RSS_FEED_REFRESH')
  await millrace.work({ handlers })
  return {
    refresh: (urls) => refresh({ millrace, pool }, urls),
    async [Symbol.asyncDispose]() {
      await millrace.close()
      await started?.stop()
    },
  }
}

async function refresh({ millrace, pool }: { millrace: Millrace; pool: pg.Pool }, urls: readonly string[]) {
  await pool.query('truncate village.rss_sources cascade')
  await pool.query(ADD, [urls])
  const startedMs = performance.now()
  await millrace.enqueueByType('RSS_FEED_REFRESH', {})
  await until(pool, ALL_FETCHED)
  return (performance.now() - startedMs) / 1_000
}
