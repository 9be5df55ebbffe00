// Schema drift: migrations that are missing or changed, and tables and indexes that are gone.

import type { Database } from '../store/db.ts'
import { parseMigrations } from '../store/migration-file.ts'
import { type MigrationStatus, readStatus } from '../store/migration-ledger.ts'
import { type SchemaParts, schemaParts } from '../store/server.ts'
import { migrationFiles } from '../store/sql.generated.ts'
import { type Complaint, degraded, failing, type Outcome } from './check.ts'
import { listed } from './words.ts'

export const SCHEMA_CHECK = { name: 'schema', area: 'database' } as const

/** `failing` here means that nothing else can be looked at. */
export async function schemaOutcome(db: Database): Promise<Outcome> {
  const statuses = await readStatus(db, parseMigrations(migrationFiles))
  const fatal = missing(statuses)
  return {
    fine: `The schema is at ${statuses.at(-1)?.name ?? 'its beginning'}, and nothing of it is missing.`,
    complaints: fatal.length > 0 ? fatal : [...differing(statuses), ...gone(await schemaParts(db))],
  }
}

function missing(statuses: readonly MigrationStatus[]): Complaint[] {
  const names = (states: readonly string[]) =>
    statuses.filter(({ state }) => states.includes(state)).map(({ name }) => name)
  const outstanding = names(['pending', 'unfinished'])
  const breaking = statuses.filter(({ state, isBreaking }) => state === 'unknown' && isBreaking).map(({ name }) => name)
  return [
    ...(outstanding.length === 0
      ? []
      : [
          failing(
            `The schema lacks ${listed(outstanding, 'migration')}.`,
            'Run `millrace migrate`. Workers of this version do not start before.',
          ),
        ]),
    ...(breaking.length === 0
      ? []
      : [
          failing(
            `A newer version has applied ${listed(breaking, 'migration')}, on which this version cannot run.`,
            'Deploy the newer version here.',
          ),
        ]),
  ]
}

function differing(statuses: readonly MigrationStatus[]): Complaint[] {
  return statuses
    .filter(({ state }) => state === 'changed')
    .map(({ name }) =>
      degraded(
        `Migration ${name} was applied from another text than the one of this version.`,
        'Compare the schema with `packages/engine/schema.sql`, and mend what differs: a migration is never edited once released.',
      ),
    )
}

function gone({ missingTables, missingIndexes, invalidIndexes }: SchemaParts): Complaint[] {
  const remedy =
    'Create it again as `packages/engine/schema.sql` has it, with `create index concurrently`. Claims and reports read whole tables without their indexes.'
  return [
    ...missingTables.map((name) =>
      failing(
        `Table "${name}" is missing.`,
        'Restore it from a backup, or create it as `packages/engine/schema.sql` has it.',
      ),
    ),
    ...missingIndexes.map((name) => degraded(`Index "${name}" is missing.`, remedy)),
    ...invalidIndexes.map((name) =>
      degraded(
        `Index "${name}" is not valid: building it was cut off.`,
        `Build it again: \`reindex index concurrently ${name}\`.`,
      ),
    ),
  ]
}
