// The tables of a program that uses Millrace, brought up to date by the migrator that keeps Millrace's own.
//
// Each set of files has a schema of its own, which also holds the ledger and the lease of its migrations.
import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { ClientConfig } from 'pg'
import { typed } from './client/typed-errors.ts'
import { InvalidDefinition, SchemaTooOld } from './errors.ts'
import { isOutstanding, namesOf } from './store/migration-ledger.ts'
import {
  type AppliedMigration,
  type MigrationFile,
  type MigrationProgress,
  type MigrationStatus,
  type MigrationStep,
  type MigratorOptions,
  migrate,
  migrationDryRun,
  migrationStatus,
} from './store/migrator.ts'

export interface ProgramMigrations {
  /** Holds the program's tables. The texts write it out: `create table village.feed (…)`. */
  readonly schema: string
  /** Of files named like `0001_words_of_what_it_does.sql`: a path, or a URL such as `new URL('../migrations', import.meta.url)`. */
  readonly folder: string | URL
}

/** Applies what is missing, in order. Safe to run from many processes at once. */
export async function migrateProgram(
  connection: string | ClientConfig,
  program: ProgramMigrations,
  options: { onProgress?: (progress: MigrationProgress) => void } = {},
): Promise<AppliedMigration[]> {
  return typed(migrate(connection, { ...(await ofProgram(program)), ...options }), program.schema)
}

/** Every migration that the folder or the database knows, in order. Reads only. */
export async function programMigrationStatus(
  connection: string | ClientConfig,
  program: ProgramMigrations,
): Promise<MigrationStatus[]> {
  return typed(migrationStatus(connection, await ofProgram(program)), program.schema)
}

/** What `migrateProgram` would send, in order. Reads only. */
export async function programMigrationDryRun(
  connection: string | ClientConfig,
  program: ProgramMigrations,
): Promise<MigrationStep[]> {
  return typed(migrationDryRun(connection, await ofProgram(program)), program.schema)
}

/** Before the program starts: refuses a database that lacks one of its migrations. `command` is what brings them. */
export async function checkProgramMigrations(
  connection: string | ClientConfig,
  program: ProgramMigrations,
  command: string,
): Promise<void> {
  const missing = (await programMigrationStatus(connection, program)).filter(isOutstanding)
  if (missing.length > 0) throw new SchemaTooOld(program.schema, namesOf(missing), { needs: 'this program', command })
}

async function ofProgram({ schema, folder }: ProgramMigrations): Promise<MigratorOptions> {
  if (typeof schema !== 'string' || !/^[a-z_][a-z0-9_]{0,62}$/.test(schema))
    throw new InvalidDefinition(
      `migrations.schema is ${JSON.stringify(schema)}: expected up to 63 small letters, digits or "_", like 'village'.`,
    )
  if (schema === 'millrace' || schema.startsWith('pg_') || schema === 'information_schema')
    throw new InvalidDefinition(`migrations.schema is "${schema}", which belongs to others. Give the program its own.`)
  return { schema, migrations: await filesIn(folder, schema), isOfProgram: true }
}

async function filesIn(folder: string | URL, schema: string): Promise<MigrationFile[]> {
  const path = folder instanceof URL ? fileURLToPath(folder) : folder
  const names = await readdir(path).catch((cause: unknown) => {
    throw new InvalidDefinition(
      `The migrations of schema "${schema}" cannot be read from ${path}: ${cause instanceof Error ? cause.message : cause}. Expected a folder of files like 0001_words_of_what_it_does.sql; ship it with the program.`,
    )
  })
  const files = names.filter((name) => name.endsWith('.sql')).sort()
  if (files.length === 0)
    throw new InvalidDefinition(
      `${path} holds no migration of schema "${schema}". Expected files like 0001_words_of_what_it_does.sql.`,
    )
  return Promise.all(
    files.map(async (name) => ({
      file: name.replace(/\.sql$/, ''),
      text: await readFile(`${path.replace(/\/+$/, '')}/${name}`, 'utf8'),
    })),
  )
}
