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
  const template = await ensureTemplate(server, schema)
  await admin(server).query(`create database ${name} template ${template.name} strategy ${template.strategy}`)
  const url = urlOf(server, name)
  if (!template.isOfToday) await ensureToday(url, schema)
  let dropped: Promise<void> | undefined
  const drop = () => {
    dropped ??= admin(server)
      .query(`drop database if exists ${name} with (force)`)
      .then(() => {})
    return dropped
  }
  return { url, name, drop, [Symbol.asyncDispose]: drop }
}

let started: Promise<{ url: string }> | undefined

/** One per process. It ends with it, whatever happens. */
async function throwAwayServer(): Promise<string> {
  started ??= embedded().then(({ startThrowAway }) => startThrowAway({ isDurable: false }))
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

const admins = new Map<string, pg.Pool>()

/** Connections on which databases are made and dropped. They keep no process alive. */
function admin(server: string): pg.Pool {
  const known = admins.get(server)
  if (known !== undefined) return known
  const pool = new pg.Pool({ connectionString: server, max: 2, connectionTimeoutMillis: 10_000, allowExitOnIdle: true })
  pool.on('error', () => {})
  admins.set(server, pool)
  return pool
}

interface Template {
  name: string
  isOfToday: boolean
  /** Copying files needs two checkpoints, which are quick where nobody waits for the disk. */
  strategy: 'file_copy' | 'wal_log'
}

/**
 * The name says what it holds, so other processes and later runs find it. It is complete when nobody can connect to it
 * any more, which is also what makes it quick to copy; one that somebody left half-made is made anew.
 */
async function ensureTemplate(server: string, schema: string): Promise<Template> {
  const name = templateName(schema)
  const found = await findTemplate(admin(server), name)
  if (found !== undefined) return found
  const client = await admin(server).connect()
  try {
    await client.query('select pg_advisory_lock(hashtext($1))', [name])
    if ((await findTemplate(client, name)) === undefined) await makeTemplate(client, { name, server, schema })
    return (await findTemplate(client, name)) as Template
  } finally {
    // The lock ends with its connection.
    client.release(true)
  }
}

export function templateName(schema: string): string {
  const version = createHash('sha256')
    .update(JSON.stringify([schema, migrationFiles]))
    .digest('hex')
    .slice(0, 16)
  return `millrace_template_${version}`
}

async function findTemplate(db: pg.Pool | pg.PoolClient, name: string): Promise<Template | undefined> {
  const { rows } = await db.query<Template>(
    `select
       datname as name,
       coalesce(shobj_description(oid, 'pg_database') = (now() at time zone 'UTC')::date::text, false) as "isOfToday",
       case current_setting('fsync') when 'off' then 'file_copy' else 'wal_log' end as strategy
     from pg_database
     where datname = $1 and not datallowconn`,
    [name],
  )
  return rows[0]
}

async function makeTemplate(
  client: pg.PoolClient,
  { name, server, schema }: { name: string; server: string; schema: string },
): Promise<void> {
  await client.query(`drop database if exists ${name} with (force)`)
  await client.query(`create database ${name}`)
  await migrate(urlOf(server, name), { schema })
  await client.query(
    `do $$ begin execute format('comment on database ${name} is %L', (now() at time zone 'UTC')::date); end $$`,
  )
  await client.query(`alter database ${name} allow_connections false`)
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
