// How a database is named, and what becomes of a password that is a function: a token that expires, for instance.
//
// The driver asks the function at every connect. A thread or another process cannot be given a function: it asks the
// process that has it.
import type pg from 'pg'
import { InvalidDefinition } from '../errors.ts'
import { demandConnectionString } from './address.ts'

export function connectionOf(database: string | pg.ClientConfig): pg.ClientConfig {
  if (typeof database === 'string') {
    demandConnectionString(database)
    return { connectionString: database }
  }
  // The driver takes the password of the connection string, also where it has none.
  if (database.connectionString !== undefined && typeof database.password === 'function') {
    throw new InvalidDefinition(
      '`database` has a connectionString and a function as its password, and the driver would not call it. Give host, port, user and database instead of the connectionString.',
    )
  }
  return database
}

/** A connection as a thread or another process gets it. */
export interface SentConnection {
  readonly config: pg.ClientConfig
  /** The password has to be asked for. */
  readonly asksPassword: boolean
}

export function sentConnection(connection: pg.ClientConfig): SentConnection {
  if (typeof connection.password !== 'function') return { config: connection, asksPassword: false }
  const { password: _, ...config } = connection
  return { config, asksPassword: true }
}

export function receivedConnection(sent: SentConnection, ask: () => Promise<string>): pg.ClientConfig {
  return sent.asksPassword ? { ...sent.config, password: ask } : sent.config
}

/** For a thread or process that asks. */
export async function passwordOf({ password }: pg.ClientConfig): Promise<string> {
  return (typeof password === 'function' ? await password() : password) ?? ''
}
