import { Command, Option } from 'commander'
import {
  type MigrationProgress,
  type MigrationStatus,
  migrate,
  migrateProgram,
  migrationDryRun,
  migrationStatus,
  type ProgramMigrations,
  programMigrationDryRun,
  programMigrationStatus,
} from 'millrace'
import { print, printJson } from '../print.ts'
import { table } from '../table.ts'
import { safeLines } from '../terminal.ts'
import { migrationsOf } from '../workload-migrations.ts'
import { loadWorkload } from '../workload-module.ts'
import { schemaOption } from './worker-options.ts'

const help = `
Migrations only go forward. Each waits for locks at most two seconds at a time and tries again for about two minutes,
so jobs can be enqueued meanwhile. Any number of processes may migrate at once: one works, the others wait for it.

With a module, the migrations of that workload's own tables follow, each set in its own schema.

Exit codes:
  0  done; with --status: every schema is current
  1  failed; with --status: this version of Millrace must not touch the schema
  3  with --status: something is pending

Examples:
  millrace migrate
  millrace migrate dist/workload.js
  millrace migrate --status || millrace migrate
  millrace migrate --dry-run | less
`

interface Options {
  databaseUrl?: string
  schema: string
  dryRun?: true
  status?: true
  json?: true
}

interface Target {
  url: string
  schema: string
  /** Of the workload's own tables. */
  programs: readonly ProgramMigrations[]
  isJson: boolean
}

export function migrateCommand(): Command {
  return new Command('migrate')
    .summary('bring the database to this version')
    .description("Bring the database schema to this version of Millrace, and a workload's own tables to its version.")
    .argument('[module]', "the workload whose migrations follow Millrace's own")
    .addOption(new Option('--database-url <url>', 'the database').env('DATABASE_URL'))
    .addOption(schemaOption())
    .addOption(new Option('--dry-run', 'print the SQL that would run and change nothing').conflicts('status'))
    .option('--status', 'list the migrations and what became of them')
    .option('--json', 'print JSON')
    .addHelpText('after', help)
    .action(act)
}

async function act(
  module: string | undefined,
  { databaseUrl, schema, ...options }: Options,
  command: Command,
): Promise<void> {
  if (!databaseUrl) {
    command.error(
      'error: No database is given. Set DATABASE_URL or pass --database-url, for instance postgres://user@localhost:5432/app.',
    )
  }
  const show = options.status ? showStatus : options.dryRun ? showDryRun : apply
  try {
    const programs = module === undefined ? [] : migrationsOf(await loadWorkload(module))
    await show({ url: databaseUrl, schema, programs, isJson: options.json === true })
  } catch (error) {
    command.error(`error: ${safeLines(error instanceof Error ? error.message : String(error))}`)
  }
}

async function apply({ url, schema, programs, isJson }: Target): Promise<void> {
  const onProgress = (progress: MigrationProgress) => say(remark(progress))
  const results = [{ schema, applied: await migrate(url, { schema, onProgress }) }]
  for (const program of programs)
    results.push({ schema: program.schema, applied: await migrateProgram(url, program, { onProgress }) })
  if (isJson) return printJson(withPrograms(results))
  for (const result of results) {
    if (result.applied.length === 0) {
      print(`The schema "${result.schema}" is current: there was nothing to apply.\n`)
      continue
    }
    const rows = result.applied.map(({ name, durationMs }) => [name, duration(durationMs)])
    print(`${table(['APPLIED', 'TOOK'], rows)}The schema "${result.schema}" is current.\n`)
  }
}

async function showDryRun({ url, schema, programs, isJson }: Target): Promise<void> {
  const results = [{ schema, steps: await migrationDryRun(url, { schema }) }]
  for (const program of programs)
    results.push({ schema: program.schema, steps: await programMigrationDryRun(url, program) })
  if (isJson) return printJson(withPrograms(results))
  print(results.map(sqlOf).join('\n'))
}

function sqlOf({ schema, steps }: { schema: string; steps: readonly { name: string; sql: string }[] }): string {
  if (steps.length === 0) return `-- The schema "${schema}" is current: nothing would run.\n`
  return steps.map(({ name, sql }) => `-- ${name}\n${sql.trimEnd()}\n`).join('\n')
}

async function showStatus({ url, schema, programs, isJson }: Target): Promise<void> {
  const results = [statusOf(schema, await migrationStatus(url, { schema }))]
  for (const program of programs) results.push(statusOf(program.schema, await programMigrationStatus(url, program)))
  process.exitCode = exitCode(results.flatMap(({ migrations }) => migrations))
  if (isJson) return printJson(withPrograms(results))
  for (const { schema: of, migrations } of results) {
    if (programs.length > 0) print(`Schema "${of}"\n`)
    print(table(['MIGRATION', 'STATE', 'APPLIED AT', 'TOOK', 'NOTE'], migrations.map(statusRow)))
  }
}

const statusOf = (schema: string, migrations: readonly MigrationStatus[]) => ({
  schema,
  isCurrent: exitCode(migrations) === 0,
  migrations,
})

function statusRow(migration: MigrationStatus): string[] {
  return [
    migration.name,
    migration.state,
    migration.appliedAt?.toISOString() ?? '',
    migration.durationMs === null ? '' : duration(migration.durationMs),
    note(migration),
  ]
}

/** Millrace's own result, and those of the workload below it. */
function withPrograms<Result>([own, ...programs]: readonly Result[]) {
  return programs.length === 0 ? own : { ...own, programs }
}

function exitCode(migrations: readonly MigrationStatus[]): number {
  if (migrations.some(({ state, isBreaking }) => state === 'changed' || (state === 'unknown' && isBreaking))) return 1
  return migrations.some(({ state }) => state === 'pending' || state === 'unfinished') ? 3 : 0
}

function note({ state, isBreaking }: MigrationStatus): string {
  const notes = {
    applied: '',
    pending: isBreaking ? 'breaking: older workers must not run after it' : '',
    unfinished: 'running now, or cut off: the next migrate starts it over',
    changed: 'the file is not the one that was applied',
    unknown: isBreaking ? 'from a newer Millrace, and breaking' : 'from a newer Millrace',
  }
  return notes[state]
}

function remark(progress: MigrationProgress): string {
  switch (progress.event) {
    case 'waiting':
      return 'Another process is migrating; waiting for it.'
    case 'restarted':
      return `${progress.name} was cut off earlier; it starts over.`
    case 'retrying':
      return `${progress.name} could not run (${progress.reason}); trying again in ${duration(progress.delayMs)}.`
    default:
      return ''
  }
}

function duration(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`
}

function say(remark: string): void {
  if (remark !== '') process.stderr.write(`${remark}\n`)
}
