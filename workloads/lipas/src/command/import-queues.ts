// `lipas import-queues`: from the five older queue tables.
import { Command } from 'commander'
import { type ImportPlan, importQueues } from '../import/import-queues.ts'
import { type ImportReport, refusedIn, reportText } from '../import/report.ts'
import { databaseOption, fail, openDatabase, withRegister } from './register.ts'

const help = `
Reads analysis_queue, elevation_queue, email_out_queue and webhook_queue in the schema public. Each row that waits becomes one job
of its type, oldest first. The job and the note about it are written in one transaction, 500 rows at a time; in the same
database the older row goes in that transaction. It may be stopped and run again at any time.

integration_out_queue is retired: its rows are counted. Rows that fit no job stay where they are and are listed with the reason.

Exit codes:
  0  every row was imported, or there was none
  1  it could not run
  2  some rows were refused

Examples:
  lipas import-queues --dry-run
  lipas import-queues
  lipas import-queues --from postgres://reader@old-host:5432/lipas --json
`

interface Options {
  readonly databaseUrl?: string
  readonly from?: string
  readonly dryRun?: boolean
  readonly includeInProgress?: boolean
  readonly json?: boolean
}

export function importQueuesCommand(): Command {
  return new Command('import-queues')
    .summary('bring the rows of the five older queue tables over as jobs')
    .description('Bring the rows of the five older queue tables over as jobs.')
    .option('--from <url>', 'another database that has the older tables: it is only read')
    .option('--dry-run', 'say what would be done, and write nothing')
    .option('--include-in-progress', 'take rows that the older workers had begun, too: stop those workers first')
    .option('--json', 'the report as JSON')
    .addOption(databaseOption())
    .addHelpText('after', help)
    .action(act)
}

async function act(options: Options, command: Command): Promise<void> {
  try {
    const report = await run(options)
    process.stdout.write(`${options.json ? JSON.stringify(report, null, 2) : reportText(report)}\n`)
    if (refusedIn(report) > 0) process.exitCode = 2
  } catch (error) {
    fail(command, error)
  }
}

function run({
  databaseUrl,
  from: fromUrl,
  dryRun = false,
  includeInProgress = false,
  json,
}: Options): Promise<ImportReport> {
  return withRegister(databaseUrl, async ({ millrace, database }) => {
    const from = fromUrl === undefined ? undefined : openDatabase(fromUrl)
    const plan: ImportPlan = {
      ...{ millrace, database, from, isDryRun: dryRun, includesInProgress: includeInProgress },
      ...(process.stderr.isTTY && !json && { onProgress: showProgress }),
    }
    try {
      return await importQueues(plan)
    } finally {
      if (process.stderr.isTTY && !json) process.stderr.write('\r\u001b[K')
      await from?.close()
    }
  })
}

const showProgress = (table: string, done: number): void => {
  process.stderr.write(`\r${table}: ${done} rows\u001b[K`)
}
