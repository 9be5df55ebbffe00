// The migrations of a workload's own tables.
import { checkProgramMigrations, migrateProgram, type ProgramMigrations } from 'millrace'
import type { Workload } from './workload.ts'

export function migrationsOf({ migrations = [] }: Pick<Workload, 'migrations'>): readonly ProgramMigrations[] {
  return Array.isArray(migrations) ? (migrations as readonly ProgramMigrations[]) : [migrations as ProgramMigrations]
}

export async function applyMigrations(workload: Workload, databaseUrl: string): Promise<void> {
  for (const set of migrationsOf(workload)) await migrateProgram(databaseUrl, set)
}

/** Refuses to start on a database that lacks one of them. */
export async function demandMigrations(workload: Workload, databaseUrl: string, module: string): Promise<void> {
  for (const set of migrationsOf(workload)) await checkProgramMigrations(databaseUrl, set, `millrace migrate ${module}`)
}
