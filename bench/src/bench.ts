// The server, a database of the benchmark's own on it, and the facts without which a figure means nothing.
import { cpus, totalmem } from 'node:os'
import { openTestServer, testDatabases } from '@millrace/embedded'
import { migrate } from 'millrace'
import pg from 'pg'
import type { Display } from './display.ts'

export interface BenchOptions {
  readonly rounds: number
  readonly jobs: number
  /** Of suites that measure for a time. */
  readonly seconds?: number
  /** Of suites that measure beside something large. */
  readonly scale?: number
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
  /** Another database of that server, for whoever must not be seen in the first one. */
  readonly serverUrl: string
  /** The URL of one more database, migrated and empty. */
  freshDatabase(): Promise<string>
  /** A line that stays. */
  readonly progress: (message: string) => void
  /** What is being done now. */
  readonly step: (message: string) => void
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

export interface BenchPlan {
  readonly options: BenchOptions
  readonly display: Display
  readonly serverSettings?: Readonly<Record<string, string>>
}

export async function openBench({ options, display, serverSettings = {} }: BenchPlan): Promise<Bench> {
  display.line(process.env.DATABASE_URL ? 'using the server that DATABASE_URL names' : 'starting a throw-away Postgres')
  const server = await openTestServer(process.env, { settings: { ...SERVER_SETTINGS, ...serverSettings } })
  const databases = testDatabases(server.url)
  const template = await databases.template('bench', async (url) => void (await migrate(url)))
  const { url } = await databases.fresh(template)
  const pool = openPool(url)
  const environment = await survey(pool, server.embedded)
  const { fsync, synchronous_commit: commit } = environment.settings
  if (fsync !== 'on' || commit !== 'on') display.line(`NOT DURABLE: fsync ${fsync}, synchronous_commit ${commit}`)
  return {
    options,
    environment,
    databaseUrl: url,
    pool,
    serverUrl: server.url,
    freshDatabase: async () => (await databases.fresh(template)).url,
    progress: (message) => display.line(message),
    step: (message) => display.step(message),
    async [Symbol.asyncDispose]() {
      // First, as it ends what an interrupted suite left running.
      await databases.close()
      await pool.end()
      await server.stop()
    },
  }
}

/** What the benchmark's own connections are called, beside those of what it measures. */
export const OWN_CONNECTIONS = 'millrace bench'

/** For raw SQL on one of the benchmark's databases. */
export function openPool(databaseUrl: string, max = 4): pg.Pool {
  const pool = new pg.Pool({ connectionString: databaseUrl, max, application_name: OWN_CONNECTIONS })
  // Databases are dropped with whoever is still connected.
  pool.on('error', () => {})
  return pool
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
