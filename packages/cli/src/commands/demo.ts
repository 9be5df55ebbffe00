import { Command, Option } from 'commander'
import { openDatabase } from '../database.ts'
import { demoPackage, told } from '../demo.ts'
import { fail } from '../failure.ts'
import { dev } from './dev.ts'
import { DEFAULT_SCHEMA, parseCount, parsePort, SCHEMA_VARIABLE } from './worker-options.ts'

const help = `
The week of an invented company, Fernwick Parcels: a busy curve by day, a shop that asks for far more than its share, a carrier
that answers 503, a deployment with a bug and its mend, a paused queue, a suspended shop, a budget near its ceiling, dead
letters and what became of them, workflows, schedules, audit entries. The week is inserted and ends now; then a worker runs
and jobs keep coming, and failing, until Ctrl-C.

Without DATABASE_URL it starts the project's embedded Postgres, as \`millrace dev\` does. It refuses a database that holds jobs
of any other program. On one that it has filled before it goes on where it stopped.

Examples:
  millrace demo
  DATABASE_URL=postgres://… millrace demo --fill-only --jobs 200000
`

interface Options {
  readonly databaseUrl?: string
  readonly port: number
  readonly host: string
  readonly jobs: number
  readonly seed: number
  readonly fillOnly?: true
}

export function demoCommand(): Command {
  return new Command('demo')
    .summary('a database with a believable week in it, to look at')
    .description(
      'Fill an empty database with a believable week, and run its jobs with the admin API and the dashboard.',
    )
    .addOption(new Option('--database-url <url>', 'fill this database, not an embedded one').env('DATABASE_URL'))
    .addOption(
      new Option('--jobs <count>', 'how many jobs the week has').argParser(parseCount(100)).default(40_000, '40000'),
    )
    .addOption(new Option('--seed <number>', 'another one gives another week').argParser(parseCount(0)).default(1))
    .option('--fill-only', 'fill the database and end')
    .addOption(
      new Option('--port <port>', 'port of the dashboard and the admin API')
        .env('PORT')
        .argParser(parsePort)
        .default(8080),
    )
    .addOption(new Option('--host <address>', 'address they listen on').env('HOST').default('127.0.0.1'))
    .addHelpText('after', help)
    .action(act)
}

async function act(options: Options, command: Command): Promise<void> {
  try {
    if (options.fillOnly) await fillOnly(options)
    else await serve(options)
  } catch (error) {
    fail(command, error)
  }
  process.exit(0)
}

const schemaOf = (): string => process.env[SCHEMA_VARIABLE] || DEFAULT_SCHEMA
const say = (line: string): void => void process.stderr.write(`${line}\n`)

async function fillOnly(options: Options): Promise<void> {
  const database = await openDatabase(options.databaseUrl, say)
  try {
    await fill(database.url, options)
  } finally {
    await database.stop()
  }
}

async function serve({ databaseUrl, port, host, ...options }: Options): Promise<void> {
  const { demoWorkload, isDemo } = await demoPackage()
  const prepare = async (url: string) => {
    if (await isDemo(url, { schema: schemaOf() })) say('The database holds the demo already: it goes on.')
    else await fill(url, options)
  }
  const running = { concurrency: {}, grace: '5s', notify: true, schema: schemaOf(), port, host } as const
  await dev({ workload: demoWorkload, module: undefined, prepare }, { ...running, ...(databaseUrl && { databaseUrl }) })
}

async function fill(url: string, { jobs, seed }: Pick<Options, 'jobs' | 'seed'>): Promise<void> {
  const demo = await demoPackage()
  say(`Filling the database with a week of ${jobs.toLocaleString('en')} jobs …`)
  const { ms } = await told(demo, () => demo.fillDemo(url, { jobs, seed, schema: schemaOf() }))
  say(`Filled in ${(ms / 1_000).toFixed(1)} s.`)
}
