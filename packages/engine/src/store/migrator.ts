// Brings a schema to the version of this code: forward only, safe to run from any number of processes at once, safe to
// cut off anywhere, and through PgBouncer in transaction mode.
//
// It opens connections of its own: one works, another renews the lease, and neither must wait for somebody's pool.
import type pg from 'pg'
import { SchemaTooOld } from '../errors.ts'
import { connectionOf } from './connection-config.ts'
import { Database } from './db.ts'
import { type Migration, type MigrationFile, parseMigrations } from './migration-file.ts'
import { MigrationLease } from './migration-lease.ts'
import {
  groundwork,
  isOutstanding,
  layGroundwork,
  type MigrationStatus,
  namesOf,
  outstanding,
  readStatus,
  refuseBreaking,
} from './migration-ledger.ts'
import { type MigrationProgress, type MigrationRun, partsFor, runMigration } from './migration-run.ts'
import { checkServer } from './server.ts'
import { migrationFiles } from './sql.generated.ts'

export type { MigrationFile } from './migration-file.ts'
export type { MigrationStatus } from './migration-ledger.ts'
export type { MigrationProgress } from './migration-run.ts'

export interface MigratorOptions {
  /** Default 'millrace'. */
  schema?: string
  /** Default: the migrations of this version. */
  migrations?: readonly MigrationFile[]
  /** They are the migrations of a program that uses Millrace: their text names its schema itself. */
  isOfProgram?: boolean
}

const parsed = ({ migrations = migrationFiles, isOfProgram = false }: MigratorOptions): Migration[] =>
  parseMigrations(migrations, isOfProgram)

export interface MigrateOptions extends MigratorOptions {
  onProgress?: (progress: MigrationProgress) => void
  /** Runs at the end, even if there was nothing to apply, while no other migrator does: for the time partitions. */
  afterMigrate?: (db: Database) => Promise<void>
  /** How long enqueuers may have to wait behind a migration that waits for a lock. Default 2 s. */
  lockTimeoutMs?: number
  /** How long one migration is tried again while others hold its locks. Default 2 minutes. */
  patienceMs?: number
}

export interface AppliedMigration {
  name: string
  durationMs: number
}

/** What is sent to the server at once: a whole migration, or one statement of a `no-transaction` one. */
export interface MigrationStep {
  /** The migration, or 'groundwork' for the schema, the ledger and the lease. */
  name: string
  sql: string
}

/** Applies what is missing, and answers with what this call applied. */
export async function migrate(
  connection: string | pg.ClientConfig,
  options: MigrateOptions = {},
): Promise<AppliedMigration[]> {
  const migrations = parsed(options)
  return onDatabase(connection, options, async (db) => {
    await checkServer(db)
    // Before the first write: where the history is not ours to continue, not even a lease is written.
    outstanding(db.schema, await readStatus(db, migrations))
    await layGroundwork(db)
    await using lease = new MigrationLease(db)
    const run: MigrationRun = {
      db,
      lease,
      lockTimeoutMs: options.lockTimeoutMs ?? 2_000,
      patienceMs: options.patienceMs ?? 120_000,
      report: options.onProgress ?? (() => {}),
    }
    const applied = await applyAll(run, migrations)
    await options.afterMigrate?.(db)
    return applied
  })
}

async function applyAll(run: MigrationRun, migrations: readonly Migration[]): Promise<AppliedMigration[]> {
  const byVersion = new Map(migrations.map((migration) => [migration.version, migration]))
  const applied: AppliedMigration[] = []
  for (;;) {
    await run.lease.hold(() => run.report({ event: 'waiting' }))
    // Read anew for each one: the lease may have changed hands in between.
    const [next] = outstanding(run.db.schema, await readStatus(run.db, migrations))
    const migration = next && byVersion.get(next.version)
    if (migration === undefined) return applied
    const { name } = migration
    run.report({ event: next?.state === 'unfinished' ? 'restarted' : 'started', name })
    const durationMs = await runMigration(run, migration)
    if (durationMs === null) continue
    applied.push({ name, durationMs })
    run.report({ event: 'applied', name, durationMs })
  }
}

/** Every migration that the code or the database knows, in order. Reads only. */
export async function migrationStatus(
  connection: string | pg.ClientConfig,
  options: MigratorOptions = {},
): Promise<MigrationStatus[]> {
  const migrations = parsed(options)
  return onDatabase(connection, options, (db) => readStatus(db, migrations))
}

/** What `migrate` would send, in order. Reads only. */
export async function migrationDryRun(
  connection: string | pg.ClientConfig,
  options: MigratorOptions = {},
): Promise<MigrationStep[]> {
  const migrations = parsed(options)
  return onDatabase(connection, options, async (db) => {
    await checkServer(db)
    const wanted = new Set(outstanding(db.schema, await readStatus(db, migrations)).map(({ version }) => version))
    const ground = (await groundwork(db)).map((sql) => ({ name: 'groundwork', sql: `${sql};\n` }))
    const steps = migrations
      .filter(({ version }) => wanted.has(version))
      .flatMap((migration) => partsFor(db.schema, migration).map(({ text }) => ({ name: migration.name, sql: text })))
    return [...ground, ...steps]
  })
}

/** For workers, before they start: refuses a schema that this code cannot run on. */
export async function checkSchema(db: Database, files: readonly MigrationFile[] = migrationFiles): Promise<void> {
  const statuses = await readStatus(db, parseMigrations(files))
  refuseBreaking(db.schema, statuses)
  const missing = statuses.filter(isOutstanding)
  if (missing.length > 0) throw new SchemaTooOld(db.schema, namesOf(missing))
}

async function onDatabase<Result>(
  connection: string | pg.ClientConfig,
  { schema = 'millrace' }: MigratorOptions,
  work: (db: Database) => Promise<Result>,
): Promise<Result> {
  const db = new Database({ connection: connectionOf(connection), schema, maxConnections: 3 })
  try {
    return await work(db)
  } finally {
    await db.close()
  }
}
