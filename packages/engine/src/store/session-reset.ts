// What a handler's SQL may leave on a connection, and how it is cleared away before the next one gets it.
//
// It is sent in the handler's own transaction, right before the commit. Through PgBouncer in transaction mode, a statement
// after the commit may reach another session. A rollback takes back most of it by itself.
import type pg from 'pg'

/**
 * `discard all` without `deallocate all`: the driver believes that the plans it has prepared are still there.
 *
 * - Deferred constraints run first, while they still see the handler's settings and temporary tables.
 * - The driver reads and writes UTF8, whatever the server's own default is.
 */
const SESSION_RESET = [
  'set constraints all immediate',
  'close all',
  'reset session authorization',
  'reset role',
  'reset all',
  `set client_encoding = 'UTF8'`,
  'unlisten *',
  'discard temp',
  'discard sequences',
  'select pg_advisory_unlock_all()',
].join('; ')

/** Rejects if the session is not clean: then the connection must go. */
export async function resetSession(client: pg.Client): Promise<void> {
  await client.query(SESSION_RESET)
}
