import { Command, Option } from 'commander'
import { openForLook } from '../database.ts'
import { fail } from '../failure.ts'
import { environmentFor } from '../psql-environment.ts'
import { findPsql, runPsql } from '../psql-program.ts'
import { DEFAULT_SCHEMA, SCHEMA_VARIABLE } from './worker-options.ts'

const help = `
What follows is passed on to psql as it is, and the exit code is psql's. The search path is "millrace, public", so that
\`jobs\` is the view of all jobs. The password goes through the environment, never onto the command line.

Without DATABASE_URL it is the embedded Postgres of the project in the working directory, started and migrated if it
does not run.

psql is taken from MILLRACE_PSQL, from PATH, or from MILLRACE_POSTGRES_BIN. Its own help: millrace psql '-?'

Examples:
  millrace psql
  millrace psql -c 'select * from job_queue_health order by type, status'
  millrace psql -At -c "select id from jobs where status = 'dead'"
  millrace psql -f report.sql
`

interface Options {
  readonly databaseUrl?: string
}

/** Without commander's own help option: it would take --help from anywhere among psql's arguments, and -h, the host. */
export function psqlCommand(): Command {
  return new Command('psql')
    .summary('open psql on the database')
    .description('Open psql on the database, with the search path set to the tables and views of Millrace.')
    .usage('[--database-url <url>] [psql arguments]')
    .argument('[arguments...]', 'for psql')
    .addOption(new Option('--database-url <url>', 'the database; give it first').env('DATABASE_URL'))
    .helpOption(false)
    .allowUnknownOption()
    .passThroughOptions()
    .addHelpText('after', help)
    .action(act)
}

async function act(args: readonly string[], { databaseUrl }: Options, command: Command): Promise<void> {
  if (args[0] === '--help') command.help()
  let code: number
  try {
    code = await psql(args, databaseUrl)
  } catch (error) {
    fail(command, error)
  }
  process.exit(code)
}

async function psql(args: readonly string[], databaseUrl: string | undefined): Promise<number> {
  const program = await findPsql(process.env)
  const schema = process.env[SCHEMA_VARIABLE] || DEFAULT_SCHEMA
  const database = await openForLook(databaseUrl, schema)
  try {
    return await runPsql(program, args, environmentFor(database.url, process.env, schema))
  } finally {
    await database.stop()
  }
}
