import { Command, Option } from 'commander'
import { type MigrationProgress, type MigrationStatus, migrate, migrationDryRun, migrationStatus } from 'millrace'
import { print, printJson } from '../print.ts'
import { table } from '../table.ts'
import { safeLines } from '../terminal.ts'
import { schemaOption } from './worker-options.ts'

const help = `
Migrations only go forward. Each waits for locks at most two seconds at a time and tries again for about two minutes,
so jobs can be enqueued meanwhile. Any number of processes may migrate at once: one works, the others wait for it.

Exit codes:
  0  done; with --status: the schema is current
  1  failed; with --status: this version of Millrace must not touch the schema
  3  with --status: something is pending

Examples:
  millrace migrate
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
  isJson: boolean
}

export function migrateCommand(): Command {
  return new Command('migrate')
    .summary('bring the database to this version')
    .description('Bring the database schema to this version of Millrace.')
    .addOption(new Option('--database-url <url>', 'the database').env('DATABASE_URL'))
    .addOption(schemaOption())
    .addOption(new Option('--dry-run', 'print the SQL that would run and change nothing').conflicts('status'))
    .option('--status', 'list the migrations and what became of them')
    .option('--json', 'print JSON')
    .addHelpText('after', help)
    .action(act)
}

async function act({ databaseUrl, schema, ...options }: Options, command: Command): Promise<void> {
  if (!databaseUrl) {
    command.error(
      'error: No database is given. Set DATABASE_URL or pass --database-url, for instance postgres://user@localhost:5432/app.',
    )
  }
  const show = options.status ? showStatus : options.dryRun ? showDryRun : apply
  try {
    await show({ url: databaseUrl, schema, isJson: options.json === true })
  } catch (error) {
    command.error(`error: ${safeLines(error instanceof Error ? error.message : String(error))}`)
  }
}

async function apply({ url, schema, isJson }: Target): Promise<void> {
  const applied = await migrate(url, { schema, onProgress: (progress) => say(remark(progress)) })
  if (isJson) return printJson({ schema, applied })
  if (applied.length === 0) return print(`The schema "${schema}" is current: there was nothing to apply.\n`)
  const rows = applied.map(({ name, durationMs }) => [name, duration(durationMs)])
  print(`${table(['APPLIED', 'TOOK'], rows)}The schema "${schema}" is current.\n`)
}

async function showDryRun({ url, schema, isJson }: Target): Promise<void> {
  const steps = await migrationDryRun(url, { schema })
  if (isJson) return printJson({ schema, steps })
  if (steps.length === 0) return print(`-- The schema "${schema}" is current: nothing would run.\n`)
  print(steps.map(({ name, sql }) => `-- ${name}\n${sql.trimEnd()}\n`).join('\n'))
}

async function showStatus({ url, schema, isJson }: Target): Promise<void> {
  const migrations = await migrationStatus(url, { schema })
  process.exitCode = exitCode(migrations)
  if (isJson) return printJson({ schema, isCurrent: process.exitCode === 0, migrations })
  const rows = migrations.map((migration) => [
    migration.name,
    migration.state,
    migration.appliedAt?.toISOString() ?? '',
    migration.durationMs === null ? '' : duration(migration.durationMs),
    note(migration),
  ])
  print(table(['MIGRATION', 'STATE', 'APPLIED AT', 'TOOK', 'NOTE'], rows))
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
