import { Command, Option } from 'commander'
import { migrate } from 'millrace'
import { type Database, openDatabase, schemaVersion } from '../database.ts'
import { fail } from '../failure.ts'
import { serveHealth } from '../health-server.ts'
import { Lifecycle } from '../lifecycle.ts'
import { createLogger } from '../log.ts'
import { Readiness } from '../readiness.ts'
import { Summary } from '../summary.ts'
import { obstacleOf, startWorker } from '../worker-process.ts'
import type { Workload } from '../workload.ts'
import { loadWorkload } from '../workload-module.ts'
import { addWorkerOptions, parsePort, type WorkerOptions } from './worker-options.ts'

const help = `
The module is a file, or a package installed here, with a workload as its default export. Without one there is only the
database, migrated, for programs of your own to use.

Without DATABASE_URL an embedded Postgres is started for the project in the working directory. It keeps its data, and
is shared with whatever else of that project runs.

Health:
  GET /healthz   200 while the process lives
  GET /readyz    200 while the worker's lease holds and the database answers, else 503 with the reason
  GET /          what is running

Examples:
  millrace dev dist/workload.js
  PORT=9000 millrace dev dist/workload.js --concurrency mail=50
`

interface Options extends WorkerOptions {
  readonly databaseUrl?: string
  readonly port: number
  readonly host: string
}

export function devCommand(): Command {
  const command = new Command('dev')
    .summary('run a workload on this machine, with a database if there is none')
    .description('Run a workload on this machine: database, migrations, worker and health endpoints in one process.')
    .argument('[module]', 'the workload to run')
    .addOption(new Option('--database-url <url>', 'use this database, not an embedded one').env('DATABASE_URL'))
    .addOption(
      new Option('--port <port>', 'port of the health endpoints').env('PORT').argParser(parsePort).default(8080),
    )
    .addOption(new Option('--host <address>', 'address of the health endpoints').env('HOST').default('127.0.0.1'))
  return addWorkerOptions(command).addHelpText('after', help).action(act)
}

async function act(module: string | undefined, options: Options, command: Command): Promise<void> {
  try {
    const workload = module === undefined ? undefined : await loadWorkload(module)
    await dev(workload, options)
  } catch (error) {
    fail(command, error)
  }
  // A handler that ignores its abort signal must not keep the process.
  process.exit(0)
}

async function dev(workload: Workload | undefined, options: Options): Promise<void> {
  const logger = createLogger()
  const lifecycle = new Lifecycle(logger)
  const readiness = new Readiness(lifecycle)
  const summary = new Summary()
  await lifecycle.run(async () => {
    const health = { obstacle: () => readiness.obstacle(), describe: () => summary.asObject() }
    const server = await lifecycle.start({
      name: 'health endpoints',
      begin: () => serveHealth(options, health),
      end: (started) => started.stop(),
    })
    const database = await lifecycle.start<Database>({
      name: 'database',
      begin: () => openDatabase(options.databaseUrl, (message) => logger.info({}, message)),
      end: (opened) => opened.stop(),
    })
    await migrate(database.url)
    await workload?.setup?.({ databaseUrl: database.url })
    await readiness.watchDatabase(database.url)
    summary.add('Workload', workload?.name ?? 'none, only the database')
    summary.add('Database', database.description)
    summary.add('Schema', await schemaVersion(database.url))
    if (workload !== undefined) {
      const plan = { workload, databaseUrl: database.url, logger, ...options }
      const worker = await startWorker(lifecycle, plan)
      readiness.watchWork(() => obstacleOf(worker))
      if (worker !== undefined) summary.addWorker(worker)
    }
    summary.add('Health', `${server.url}/readyz`)
    process.stdout.write(summary.asText())
  })
}
