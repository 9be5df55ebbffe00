import { UnsupportedDatabase } from '../errors.ts'
import type { Session } from './db.ts'

const OLDEST = 150_000

/** Refuses a server on which our guarantees would not hold. */
export async function checkServer(session: Session): Promise<void> {
  const [facts] = await session.run<{ versionNum: number; isolation: string; readOnly: string; inRecovery: boolean }>(
    'serverFacts',
    [],
  )
  if (facts === undefined) return
  if (facts.versionNum < OLDEST) {
    throw new UnsupportedDatabase(
      `This server is PostgreSQL ${Math.floor(facts.versionNum / 10_000)}: Millrace needs 15 or newer. Upgrade the server.`,
    )
  }
  if (facts.isolation !== 'read committed') {
    throw new UnsupportedDatabase(
      `default_transaction_isolation is "${facts.isolation}": Millrace needs "read committed". Change it for this role: alter role … set default_transaction_isolation = 'read committed'.`,
    )
  }
  if (facts.inRecovery || facts.readOnly === 'on') {
    throw new UnsupportedDatabase(
      'This server only reads (a standby, or default_transaction_read_only). Connect to the primary.',
    )
  }
}
