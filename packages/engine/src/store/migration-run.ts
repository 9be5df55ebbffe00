// Runs one migration: the ledger row first, then its SQL, then the mark that it is applied.
//
// It waits for a lock at most two seconds at a time, because whoever enqueues waits behind it, and tries again later.
// If the process dies, a transactional migration leaves nothing; one outside a transaction stays in the ledger as
// unfinished, and the next migrator starts it over.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { monotonicMs } from '../clock.ts'
import { exponential } from '../contract/retry.ts'
import { MigrationFailed } from '../errors.ts'
import { isTransient } from '../sql-state.ts'
import type { Database, Session } from './db.ts'
import type { Migration, MigrationPart } from './migration-file.ts'
import type { MigrationLease } from './migration-lease.ts'
import { inSchema } from './statements.ts'
import { CommitUnknown } from './transaction.ts'

export type MigrationProgress =
  /** Another migrator is at work. */
  | { event: 'waiting' }
  | { event: 'started'; name: string }
  /** A migrator that began it did not finish; it starts over. */
  | { event: 'restarted'; name: string }
  /** The database refused for a reason that passes, nearly always a lock that another transaction holds. */
  | { event: 'retrying'; name: string; attempt: number; delayMs: number; reason: string }
  | { event: 'applied'; name: string; durationMs: number }

export interface MigrationRun {
  db: Database
  lease: MigrationLease
  lockTimeoutMs: number
  patienceMs: number
  report: (progress: MigrationProgress) => void
}

const TRANSACTION_MS = 5 * 60_000
/** The server gives up first, and says what it was doing. */
const TRANSACTION_DEADLINE_MS = TRANSACTION_MS + 15_000
/** An index of a large table is built for hours. */
const STATEMENT_DEADLINE_MS = 6 * 60 * 60_000

const backoff = exponential({ base: '250ms', jitter: 0.5, cap: '5s' })

/** The lease went to another migrator, or it has applied this migration: look at the ledger again. */
class Overtaken extends Error {}

/** Milliseconds it took; null when the ledger must be read again to know what became of it. */
export async function runMigration(run: MigrationRun, migration: Migration): Promise<number | null> {
  const startedAt = monotonicMs()
  for (let attempt = 1; ; attempt++) {
    try {
      return await (migration.isTransactional ? inTransaction(run, migration) : oneByOne(run, migration))
    } catch (error) {
      if (error instanceof Overtaken || error instanceof CommitUnknown) return null
      if (!isTransient(error)) throw error instanceof MigrationFailed ? error : failure(migration, error)
      const waitedMs = monotonicMs() - startedAt
      if (waitedMs >= run.patienceMs) throw outOfPatience(migration, waitedMs, error)
      const delayMs = backoff({ attempt, error, random: Math.random() })
      const reason = messageOf(error)
      run.report({ event: 'retrying', name: migration.name, attempt, delayMs, reason })
      await sleep(delayMs)
    }
  }
}

async function inTransaction(run: MigrationRun, migration: Migration): Promise<number> {
  const startedAt = monotonicMs()
  return run.db.transaction(async (tx) => {
    await tx.run('migrationLimitWaits', [`${run.lockTimeoutMs}ms`, `${TRANSACTION_MS}ms`])
    await begin(tx, run.lease, migration)
    for (const part of partsFor(run.db.schema, migration)) {
      await named(migration, part, () => tx.query(part.text))
    }
    return finish(tx, run.lease, migration, startedAt)
  }, TRANSACTION_DEADLINE_MS)
}

async function oneByOne(run: MigrationRun, migration: Migration): Promise<number> {
  const startedAt = monotonicMs()
  await begin(run.db, run.lease, migration)
  for (const part of partsFor(run.db.schema, migration)) {
    if (!(await run.lease.renew())) throw new Overtaken()
    await named(migration, part, () => run.db.execute(part.text, STATEMENT_DEADLINE_MS))
  }
  return finish(run.db, run.lease, migration, startedAt)
}

/** Its parts, as they are sent to a database with this schema. */
export function partsFor(schema: string, { parts, isOfProgram }: Migration): readonly MigrationPart[] {
  return isOfProgram ? parts : parts.map((part) => ({ ...part, text: inSchema(part.text, schema) }))
}

async function begin(session: Session, lease: MigrationLease, migration: Migration): Promise<void> {
  const { version, name, checksum, isBreaking } = migration
  const rows = await session.run('migrationBegin', [version, name, checksum, isBreaking, lease.owner])
  if (rows.length === 0) throw new Overtaken()
}

async function finish(
  session: Session,
  lease: MigrationLease,
  migration: Migration,
  startedAt: number,
): Promise<number> {
  const durationMs = Math.round(monotonicMs() - startedAt)
  const rows = await session.run('migrationFinish', [migration.version, durationMs, lease.owner])
  if (rows.length === 0) throw new Overtaken()
  return durationMs
}

async function named(migration: Migration, part: MigrationPart, work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (error) {
    throw isTransient(error) ? error : failure(migration, error, part)
  }
}

function failure(migration: Migration, error: unknown, part?: MigrationPart): MigrationFailed {
  const place = part === undefined ? '' : placeOf(migration, error, part)
  return new MigrationFailed(migration.name, `failed${place}: ${messageOf(error)}. ${aftermath(migration)}`, error)
}

function outOfPatience(migration: Migration, waitedMs: number, error: unknown): MigrationFailed {
  const seconds = Math.round(waitedMs / 1_000)
  return new MigrationFailed(
    migration.name,
    `was tried for ${seconds} s and refused each time: ${messageOf(error)}. Look in pg_stat_activity for a transaction that has been open for long. ${aftermath(migration)}`,
    error,
  )
}

function aftermath({ isTransactional }: Migration): string {
  return isTransactional
    ? 'It was rolled back, so nothing was changed. Remove the cause and run `millrace migrate` again.'
    : 'It runs outside a transaction, so statements before that one stay and the ledger shows it as unfinished. Remove the cause and run `millrace migrate` again: it starts over from its first statement.'
}

/** Postgres does not always say where; of a whole file the first line would only mislead. */
function placeOf(migration: Migration, error: unknown, part: MigrationPart): string {
  const position = error instanceof pg.DatabaseError ? error.position : undefined
  if (position === undefined && migration.isTransactional) return ''
  const linesBefore = part.text.slice(0, Number(position ?? 1) - 1).split('\n').length - 1
  return ` at line ${part.firstLine + linesBefore}`
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const detail = error instanceof pg.DatabaseError && error.detail ? ` (${error.detail.replace(/\.$/, '')})` : ''
  return error.message.replace(/\.$/, '') + detail
}
