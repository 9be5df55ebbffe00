// The database a command runs on, as it is shown to people.
import { type EmbeddedPostgres, startEmbedded } from '@millrace/embedded'
import { migrationStatus, SchemaTooOld } from 'millrace'

export interface Database {
  readonly url: string
  /** Without its password. */
  readonly description: string
  stop(): Promise<void>
}

/** Somebody else's: stopping does nothing. */
export function namedDatabase(url: string): Database {
  return { url, description: withoutSecrets(url), stop: async () => {} }
}

export function embeddedDatabase(server: EmbeddedPostgres): Database {
  const { url, version, port, dataDirectory } = server
  const description = `embedded Postgres ${version} on port ${port}, data in ${dataDirectory}`
  return { url, description, stop: () => server.stop() }
}

/** The one that is named, or else the project's embedded server: the running one, or started for this command. */
export async function projectDatabase(url: string | undefined): Promise<Database> {
  return url ? namedDatabase(url) : embeddedDatabase(await startEmbedded({}))
}

/** The last migration of the schema. Refuses a schema that this version cannot run on. */
export async function schemaVersion(url: string): Promise<string> {
  const migrations = await migrationStatus(url)
  const missing = migrations.filter(({ state }) => state === 'pending' || state === 'unfinished')
  if (missing.length > 0)
    throw new SchemaTooOld(
      'millrace',
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
