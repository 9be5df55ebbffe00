// The database a command runs on, as it is shown to people.
import { dirname } from 'node:path'
import type { EmbeddedPostgres } from '@millrace/embedded'
import { migrate, migrationStatus, SchemaTooOld } from 'millrace'
import { startEmbedded } from './embedded.ts'

const PATIENCE_MS = 1_000

export interface Database {
  readonly url: string
  /** Without its password. */
  readonly description: string
  /** Of an embedded one: where its cluster and what belongs to it lies. */
  readonly directory?: string
  stop(): Promise<void>
}

/** Somebody else's: stopping does nothing. */
export function namedDatabase(url: string): Database {
  return { url, description: withoutSecrets(url), stop: async () => {} }
}

/** The one that is named, else the embedded one of this project: joined if it runs, else started. */
export async function openDatabase(url: string | undefined, onLog: (message: string) => void): Promise<Database> {
  return url ? namedDatabase(url) : embeddedDatabase(await startEmbedded(onLog))
}

/** For a command that looks into the database and ends: an embedded one is migrated, so that there is something to see. */
export async function openForLook(url: string | undefined, schema: string): Promise<Database> {
  // Only for somebody who waits: one that runs already is joined in a moment.
  const told = setTimeout(() => {
    if (process.stderr.isTTY) process.stderr.write("Starting this project's embedded Postgres …\n")
  }, PATIENCE_MS)
  const database = await openDatabase(url, () => {}).finally(() => clearTimeout(told))
  if (!url) await migrate(database.url, { schema })
  return database
}

function embeddedDatabase(server: EmbeddedPostgres): Database {
  const { url, version, port, dataDirectory } = server
  const description = `embedded Postgres ${version} on port ${port}, data in ${dataDirectory}`
  return { url, description, directory: dirname(dataDirectory), stop: () => server.stop() }
}

/** The last migration of the schema. Refuses a schema that this version cannot run on. */
export async function schemaVersion(url: string, schema: string): Promise<string> {
  const migrations = await migrationStatus(url, { schema })
  const missing = migrations.filter(({ state }) => state === 'pending' || state === 'unfinished')
  if (missing.length > 0)
    throw new SchemaTooOld(
      schema,
      missing.map(({ name }) => name),
    )
  return migrations.at(-1)?.name ?? 'empty'
}

function withoutSecrets(text: string): string {
  try {
    const { protocol, username, host, pathname } = new URL(text)
    return `${protocol}//${username ? `${username}@` : ''}${host}${pathname}`
  } catch {
    return 'the one that DATABASE_URL names'
  }
}
