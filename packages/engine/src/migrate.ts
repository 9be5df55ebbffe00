// Migrating as programs and the command line do it: the schema, then the archive's partitions for the days ahead.
import type { ClientConfig } from 'pg'
import { typed } from './client/typed-errors.ts'
import type { Database } from './store/db.ts'
import { type AppliedMigration, migrate as applyMigrations, type MigrateOptions } from './store/migrator.ts'
import { ensurePartitions } from './store/partitions.ts'

export { type MigrationProgress, type MigrationStatus, migrationDryRun, migrationStatus } from './store/migrator.ts'

/** Brings the schema up to date. Safe to run from many processes at once. */
export function migrate(
  connection: string | ClientConfig,
  options: Omit<MigrateOptions, 'afterMigrate'> = {},
): Promise<AppliedMigration[]> {
  const afterMigrate = async (db: Database) => void (await ensurePartitions(db, null))
  return typed(applyMigrations(connection, { ...options, afterMigrate }), options.schema ?? 'millrace')
}
