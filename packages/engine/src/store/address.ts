// Where a database is: as a program writes it, and as an error names it.
import pg from 'pg'
import { InvalidDefinition } from '../errors.ts'

/** `/…` is the directory of a server's socket. */
const CONNECTION_STRING = /^(postgres(ql)?:\/\/|socket:|\/)/i

/** Throws InvalidDefinition for text that is no connection string: the driver would look for a server somewhere else. */
export function demandConnectionString(text: string): void {
  if (CONNECTION_STRING.test(text) && isReadable(text)) return
  throw new InvalidDefinition(
    `The database is ${JSON.stringify(withoutPassword(text))}, which is no connection string of PostgreSQL. Expected postgres://user:password@host:5432/database, or the settings of pg.Client as an object. Correct it where it is set: \`database\`, --database-url or DATABASE_URL.`,
  )
}

/** The driver reads the text here, and does not connect. Its error may quote the password, so it goes no further. */
function isReadable(connectionString: string): boolean {
  try {
    return new pg.Client({ connectionString }) !== undefined
  } catch {
    return false
  }
}

/** Where a client connects to, without the password. */
export function addressOf({ user, host, port, database }: pg.Client): string {
  return `postgres://${user ?? ''}@${host}:${port}/${database ?? ''}`
}

const withoutPassword = (text: string): string =>
  text.replace(/^((?:[a-z][a-z0-9+.-]*:\/\/)?[^:/?#]*):.*@/i, '$1:***@').replace(/(password=)[^&\s]*/gi, '$1***')
