import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { tolerateClosedOutput } from './closed-output.ts'
import { completeTree } from './command-tree.ts'
import { adminCommand } from './commands/admin.ts'
import { alertsCommand } from './commands/alerts.ts'
import { auditCommand } from './commands/audit.ts'
import { breakersCommand } from './commands/breakers.ts'
import { budgetsCommand } from './commands/budgets.ts'
import { bulkCommand } from './commands/bulk.ts'
import { cancelCommand } from './commands/cancel.ts'
import { completionCommand } from './commands/completion.ts'
import { deadCommand, redriveCommand } from './commands/dead.ts'
import { demoCommand } from './commands/demo.ts'
import { devCommand } from './commands/dev.ts'
import { doctorCommand } from './commands/doctor.ts'
import { encryptionKeysCommand } from './commands/encryption-keys.ts'
import { enqueueCommand } from './commands/enqueue.ts'
import { eraseCommand } from './commands/erase.ts'
import { escalationsCommand } from './commands/escalations.ts'
import { explainCommand } from './commands/explain.ts'
import { failCommand } from './commands/fail.ts'
import { historyCommand } from './commands/history.ts'
import { initCommand } from './commands/init.ts'
import { jobCommand } from './commands/job.ts'
import { jobsCommand } from './commands/jobs.ts'
import { keysCommand } from './commands/keys.ts'
import { limitsCommand } from './commands/limits.ts'
import { migrateCommand } from './commands/migrate.ts'
import { pauseCommand, pausesCommand, resumeCommand } from './commands/pauses.ts'
import { prioritiseCommand } from './commands/prioritise.ts'
import { pruneCommand } from './commands/prune.ts'
import { psqlCommand } from './commands/psql.ts'
import { queuesCommand } from './commands/queues.ts'
import { retryCommand } from './commands/retry.ts'
import { schedulesCommand } from './commands/schedules.ts'
import { statsCommand } from './commands/stats.ts'
import { tenantPoliciesCommand } from './commands/tenant-policies.ts'
import { tenantsCommand } from './commands/tenants.ts'
import { tokensCommand } from './commands/tokens.ts'
import { topCommand } from './commands/top.ts'
import { typesCommand } from './commands/types.ts'
import { workCommand } from './commands/work.ts'
import { workersCommand } from './commands/workers.ts'
import { workflowsCommand } from './commands/workflows.ts'
import { fail } from './failure.ts'

const help = `
Examples:
  millrace init my-jobs              a new project: one job, one schedule, one test
  millrace dev dist/workload.js      a database, a worker and health endpoints on this machine
  millrace demo                      a database with a week of invented work in it, to look at
  millrace migrate                   bring the database in DATABASE_URL to this version
  millrace work dist/workload.js     a worker on that database
  millrace jobs --status failed      what waits for another attempt
  millrace explain 48211             why is this job not running?
  millrace doctor                    is all well? What is not, and what to do about it
  millrace dead groups               what failed for good, by kind of failure
  millrace psql                      look at its jobs with SQL
  millrace types                     what jobs there are, as the workers declare them

Environment:
  DATABASE_URL   the database; without it \`dev\` and \`psql\` start the project's embedded Postgres, which keeps its data,
                 and the commands that look at jobs use it if there is one
  MILLRACE_ADMIN_URL, MILLRACE_ADMIN_TOKEN
                 an admin API instead of the database, and its token, for enqueue, stats, queues, workers, jobs, job, explain,
                 dead, pause, resume and pauses; so does --admin-url
  MILLRACE_SCHEMA
                 the schema that holds the tables, if it is not "millrace"
  MILLRACE_ENCRYPTION_KEYS, MILLRACE_LOOKUP_KEY
                 the keys of sensitive job types: id:base64,id:base64, the first encrypts; and base64
  ADMIN_TOKEN    \`admin\` and \`dev\` accept this token of the admin API, in the role admin
  LOG_LEVEL      debug, info (default), warn or error
`

export async function main(argv: readonly string[] = process.argv): Promise<void> {
  tolerateClosedOutput()
  const root = completeTree(program())
  // A command says itself why it failed. What it throws before it can is said in the same way, without a stack where none is of use.
  await root.parseAsync(argv).catch((error: unknown) => fail(root, error))
}

/** All commands, as they are declared. */
export function program(): Command {
  const root: Command = new Command('millrace')
    .description('Background jobs for TypeScript on PostgreSQL.')
    .version(version(), '-v, --version', 'print the version')
    .helpCommand('help [command]', 'show the help of a command')
    .configureHelp({ sortSubcommands: false })
    // What follows `psql` is psql's, even if we have an option of that name.
    .enablePositionalOptions()
    .showSuggestionAfterError()
    .showHelpAfterError('Run `millrace --help` to see what there is.')
    .addCommand(initCommand())
    .addCommand(devCommand())
    .addCommand(demoCommand())
    .addCommand(workCommand())
    .addCommand(adminCommand())
    .addCommand(migrateCommand())
    .addCommand(enqueueCommand())
    .addCommand(doctorCommand())
    .addCommand(statsCommand())
    .addCommand(topCommand())
    .addCommand(queuesCommand())
    .addCommand(workersCommand())
    .addCommand(alertsCommand())
    .addCommand(jobsCommand())
    .addCommand(jobCommand())
    .addCommand(historyCommand())
    .addCommand(explainCommand())
    .addCommand(cancelCommand())
    .addCommand(failCommand())
    .addCommand(retryCommand())
    .addCommand(prioritiseCommand())
    .addCommand(bulkCommand())
    .addCommand(deadCommand())
    .addCommand(redriveCommand().summary('the same as `dead redrive`'))
    .addCommand(workflowsCommand())
    .addCommand(pauseCommand())
    .addCommand(resumeCommand())
    .addCommand(pausesCommand())
    .addCommand(schedulesCommand())
    .addCommand(tenantsCommand())
    .addCommand(limitsCommand())
    .addCommand(budgetsCommand())
    .addCommand(breakersCommand())
    .addCommand(escalationsCommand())
    .addCommand(tenantPoliciesCommand())
    .addCommand(pruneCommand())
    .addCommand(eraseCommand())
    .addCommand(encryptionKeysCommand())
    .addCommand(auditCommand())
    .addCommand(tokensCommand())
    .addCommand(keysCommand())
    .addCommand(psqlCommand())
    .addCommand(typesCommand())
    .addCommand(completionCommand(() => root))
    .addHelpText('after', help)
  return root
}

function version(): string {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version
}
