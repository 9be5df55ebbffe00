// The server, a database of the benchmark's own on it, and the facts without which a figure means nothing.
import { cpus, totalmem } from 'node:os'
import { openTestServer, testDatabases } from '@millrace/embedded'
import { migrate } from 'millrace'
import pg from 'pg'

export interface BenchOptions {
  readonly rounds: number
  readonly jobs: number
}

export interface Environment {
  readonly node: string
  readonly cpu: string
  readonly cpus: number
  readonly memoryGb: number
  readonly postgres: string
  readonly isThrowAway: boolean
  readonly settings: Readonly<Record<string, string>>
}

export interface Bench extends AsyncDisposable {
  readonly options: BenchOptions
  readonly environment: Environment
  /** Migrated, and nobody else's. */
  readonly databaseUrl: string
  /** For raw SQL and for preparing. */
  readonly pool: pg.Pool
  readonly progress: (message: string) => void
}

/** Durable, as in production. What differs from the defaults keeps checkpoints out of rounds that take seconds. */
const SERVER_SETTINGS = {
  shared_buffers: '256MB',
  max_wal_size: '8GB',
  checkpoint_timeout: '30min',
}

const REPORTED_SETTINGS = [
  'fsync',
  'synchronous_commit',
  'full_page_writes',
  'shared_buffers',
  'max_wal_size',
  'autovacuum',
]

export async function openBench(options: BenchOptions, progress: (message: string) => void): Promise<Bench> {
  progress(process.env.DATABASE_URL ? 'using the server that DATABASE_URL names' : 'starting a throw-away Postgres')
  const server = await openTestServer(process.env, { settings: SERVER_SETTINGS })
  const databases = testDatabases(server.url)
  const template = await databases.template('bench', async (url) => void (await migrate(url)))
  const { url } = await databases.fresh(template)
  const pool = new pg.Pool({ connectionString: url, max: 4 })
  const environment = await survey(pool, server.embedded)
  const { fsync, synchronous_commit: commit } = environment.settings
  if (fsync !== 'on' || commit !== 'on') progress(`NOT DURABLE: fsync ${fsync}, synchronous_commit ${commit}`)
  return {
    options,
    environment,
    databaseUrl: url,
    pool,
    progress,
    async [Symbol.asyncDispose]() {
      await pool.end()
      await databases.close()
      await server.stop()
    },
  }
}

async function survey(pool: pg.Pool, isThrowAway: boolean): Promise<Environment> {
  const { rows } = await pool.query<{ name: string; value: string }>(
    'select name, current_setting(name) as value from unnest($1::text[]) as name',
    [['server_version', ...REPORTED_SETTINGS]],
  )
  const { server_version: postgres = '', ...settings } = Object.fromEntries(
    rows.map(({ name, value }) => [name, value]),
  )
  return {
    node: process.versions.node,
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cpus: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    postgres,
    isThrowAway,
    settings,
  }
}
