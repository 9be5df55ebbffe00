// A database of one's own for a test or a test file, copied from a template that is migrated once per server and
// schema version. With any test runner.
import { createHash, randomBytes } from 'node:crypto'
import pg from 'pg'
import { InvalidDefinition } from '../errors.ts'
import { migrate } from '../migrate.ts'
import { Database } from '../store/db.ts'
import { ensurePartitions } from '../store/partitions.ts'
import { migrationFiles } from '../store/sql.generated.ts'

export interface TestDatabase extends AsyncDisposable {
  readonly url: string
  readonly name: string
  /** Disconnects whoever still uses it. Safe to call more than once. */
  drop(): Promise<void>
}

export interface TestDatabaseOptions {
  /** A server on which databases may be created. Default: DATABASE_URL, else a throw-away one of @millrace/embedded. */
  server?: string
  /** Default 'millrace'. */
  schema?: string
}

/** A fresh, migrated database. `await using database = await testDatabase()` drops it at the end of the scope. */
export async function testDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const server = options.server ?? process.env.DATABASE_URL ?? (await throwAwayServer())
  const schema = options.schema ?? 'millrace'
  const name = `millrace_test_${process.pid}_${randomBytes(4).toString('hex')}`
  await onServer(server, async (client) => {
    const template = await ensureTemplate(client, { server, schema })
    await client.query(`create database ${name} template ${template}`)
  })
  const url = urlOf(server, name)
  await ensureToday(url, schema)
  let dropped: Promise<void> | undefined
  const drop = () => {
    dropped ??= onServer(server, async (client) => {
      await client.query(`drop database if exists ${name} with (force)`)
    })
    return dropped
  }
  return { url, name, drop, [Symbol.asyncDispose]: drop }
}

let started: Promise<{ url: string }> | undefined

/** One per process. It ends with it, whatever happens. */
async function throwAwayServer(): Promise<string> {
  started ??= embedded().then(({ startThrowAway }) => startThrowAway())
  return (await started).url
}

async function embedded(): Promise<typeof import('@millrace/embedded')> {
  try {
    return await import('@millrace/embedded')
  } catch (error) {
    if ((error as { code?: string }).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new InvalidDefinition(
      'testDatabase() found no server: DATABASE_URL is not set and @millrace/embedded is not installed. Set it, or run npm install --save-dev @millrace/embedded.',
    )
  }
}

async function onServer<Result>(server: string, work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ connectionString: server, connectionTimeoutMillis: 10_000 })
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/**
 * The name says what it holds, so other processes and later runs find it. It is complete when nobody can connect to it
 * any more, which is also what makes it quick to copy; one that somebody left half-made is made anew.
 */
async function ensureTemplate(
  client: pg.Client,
  { server, schema }: { server: string; schema: string },
): Promise<string> {
  const version = createHash('sha256')
    .update(JSON.stringify([schema, migrationFiles]))
    .digest('hex')
    .slice(0, 16)
  const template = `millrace_template_${version}`
  const isThere = async () => {
    const found = await client.query('select from pg_database where datname = $1 and not datallowconn', [template])
    return found.rows.length > 0
  }
  if (await isThere()) return template
  await client.query('select pg_advisory_lock(hashtext($1))', [template])
  if (await isThere()) return template
  await client.query(`drop database if exists ${template} with (force)`)
  await client.query(`create database ${template}`)
  await migrate(urlOf(server, template), { schema })
  await client.query(`alter database ${template} allow_connections false`)
  return template
}

/** A template that was made some days ago lacks the partitions of these days. */
async function ensureToday(url: string, schema: string): Promise<void> {
  const db = new Database({ connection: { connectionString: url }, schema, maxConnections: 1 })
  try {
    await ensurePartitions(db, null)
  } finally {
    await db.close()
  }
}

function urlOf(server: string, database: string): string {
  const url = new URL(server)
  url.pathname = `/${database}`
  return url.href
}
