// The ledger of applied migrations, and what it says about the migrations this code knows.
import pg from 'pg'
import { MigrationFailed, SchemaTooNew } from '../errors.ts'
import { isConflict, isMissing } from '../sql-state.ts'
import type { Database } from './db.ts'
import type { Migration } from './migration-file.ts'

/**
 * - `applied`
 * - `pending`: known here, not applied.
 * - `unfinished`: begun outside a transaction and not finished: running now, or cut off. The next `migrate` starts it over.
 * - `changed`: applied, but from another text than the one known here.
 * - `unknown`: applied by a newer Millrace.
 */
export type MigrationState = 'applied' | 'pending' | 'unfinished' | 'changed' | 'unknown'

export interface MigrationStatus {
  version: number
  name: string
  state: MigrationState
  isBreaking: boolean
  appliedAt: Date | null
  durationMs: number | null
}

interface LedgerRow {
  version: number
  name: string
  checksum: string
  isBreaking: boolean
  appliedAt: Date | null
  durationMs: number | null
}

/** Every migration the code or the ledger knows, in order of version. Reads only. */
export async function readStatus(db: Database, migrations: readonly Migration[]): Promise<MigrationStatus[]> {
  const ledger = new Map((await readLedger(db)).map((row) => [row.version, row]))
  const known = migrations.map((migration) => statusOf(migration, ledger.get(migration.version)))
  for (const { version } of migrations) ledger.delete(version)
  const unknown = [...ledger.values()].map((row) => ({ ...withoutChecksum(row), state: 'unknown' as const }))
  return [...known, ...unknown].sort((a, b) => a.version - b.version)
}

async function readLedger(db: Database): Promise<LedgerRow[]> {
  try {
    return await db.run<LedgerRow>('migrationList', [])
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

function statusOf(migration: Migration, row: LedgerRow | undefined): MigrationStatus {
  const { version, name, isBreaking } = migration
  if (row === undefined) return { version, name, state: 'pending', isBreaking, appliedAt: null, durationMs: null }
  // An unfinished one may have another text by now: correcting the file is how it gets finished.
  if (row.appliedAt === null) return { ...withoutChecksum(row), name, state: 'unfinished', isBreaking }
  return { ...withoutChecksum(row), name, state: row.checksum === migration.checksum ? 'applied' : 'changed' }
}

function withoutChecksum({ checksum: _, ...row }: LedgerRow): Omit<LedgerRow, 'checksum'> {
  return row
}

/** Known here and not, or not entirely, applied. */
export const isOutstanding = ({ state }: MigrationStatus): boolean => state === 'pending' || state === 'unfinished'

export function refuseBreaking(schema: string, statuses: readonly MigrationStatus[]): void {
  const breaking = statuses.filter(({ state, isBreaking }) => state === 'unknown' && isBreaking)
  if (breaking.length > 0) throw new SchemaTooNew(schema, namesOf(breaking))
}

export const namesOf = (statuses: readonly MigrationStatus[]): string[] => statuses.map(({ name }) => name)

/** The migrations to run next, in order. Throws where running them would mean repairing a history that is not ours. */
export function outstanding(schema: string, statuses: readonly MigrationStatus[]): MigrationStatus[] {
  refuseBreaking(schema, statuses)
  const changed = statuses.find(({ state }) => state === 'changed')
  if (changed !== undefined) {
    throw new MigrationFailed(
      changed.name,
      `is applied to the schema "${schema}", but its file has been changed since: the checksums differ. Nothing was changed. Restore the file as it was released and put the change into a new migration.`,
    )
  }
  const wanted = statuses.filter(isOutstanding)
  const [first] = wanted
  const obstacle =
    statuses.find(({ state }) => state === 'unknown') ?? statuses.findLast(({ state }) => state === 'applied')
  if (first && obstacle && (obstacle.state === 'unknown' || obstacle.version > first.version)) {
    const stranger = obstacle.state === 'unknown' ? ', which this version does not know,' : ''
    throw new MigrationFailed(
      first.name,
      `is not applied to the schema "${schema}", but ${obstacle.name}${stranger} is. Nothing was changed. Migrate with the version that applied it, or give the missing one the next free number.`,
    )
  }
  return wanted
}

/** The SQL that makes the schema, the ledger and the lease; none when they are there. */
export async function groundwork(db: Database): Promise<string[]> {
  const [found] = await db.run<{ hasSchema: boolean; hasTables: boolean }>('migrationTables', [db.schema])
  if (found?.hasTables) return []
  const schema = found?.hasSchema ? [] : [`create schema if not exists ${pg.escapeIdentifier(db.schema)}`]
  return [...schema, db.text('migrationCreate'), db.text('migrationLockCreate')]
}

/** `if not exists` does not help two processes that look at the same instant: the loser is told, and looks again. */
export async function layGroundwork(db: Database): Promise<void> {
  for (let collisions = 0; ; collisions++) {
    try {
      for (const statement of await groundwork(db)) await db.execute(statement)
      return
    } catch (error) {
      if (!isConflict(error) || collisions === 10) throw error
    }
  }
}
