import { Command, Option } from 'commander'
import { namedDatabase, schemaVersion } from '../database.ts'
import { fail } from '../failure.ts'
import { serveHealth } from '../health-server.ts'
import { Lifecycle } from '../lifecycle.ts'
import { createLogger } from '../log.ts'
import { Readiness } from '../readiness.ts'
import { Summary } from '../summary.ts'
import { startWorker } from '../worker-process.ts'
import type { Workload } from '../workload.ts'
import { loadWorkload } from '../workload-module.ts'
import { addWorkerOptions, parsePort, type WorkerOptions } from './worker-options.ts'

const help = `
It neither migrates nor runs the workload's setup: run \`millrace migrate\` when you deploy. On a schema that lacks a
migration it refuses to start.

On SIGTERM or Ctrl-C it takes no more jobs, waits for the running ones for the grace period, gives back what is left
without using up an attempt, and ends with code 0. A second signal ends it at once.

Examples:
  millrace work dist/workload.js
  millrace work dist/workload.js --concurrency mail=20 --concurrency reports=2 --grace 50s --port 8080
`

interface Options extends WorkerOptions {
  readonly databaseUrl?: string
  readonly port?: number
  readonly host: string
}

export function workCommand(): Command {
  const command = new Command('work')
    .summary('run the jobs of a workload')
    .description('Run the jobs of a workload on a database that is migrated already.')
    .argument('<module>', 'the workload to run: a file, or a package installed here')
    .addOption(new Option('--database-url <url>', 'the database').env('DATABASE_URL'))
    .addOption(new Option('--port <port>', 'serve /healthz and /readyz on this port').argParser(parsePort))
    .addOption(new Option('--host <address>', 'address of the health endpoints').env('HOST').default('0.0.0.0'))
  return addWorkerOptions(command).addHelpText('after', help).action(act)
}

async function act(module: string, options: Options, command: Command): Promise<void> {
  const { databaseUrl } = options
  if (!databaseUrl) {
    command.error(
      'error: No database is given. Set DATABASE_URL or pass --database-url, for instance postgres://user@localhost:5432/app. For a database on this machine use `millrace dev`.',
    )
  }
  try {
    await work(await loadWorkload(module), { ...options, databaseUrl })
  } catch (error) {
    fail(command, error)
  }
  // A handler that ignores its abort signal must not keep the process.
  process.exit(0)
}

async function work(workload: Workload, options: Options & { databaseUrl: string }): Promise<void> {
  const { databaseUrl, host, port } = options
  const logger = createLogger()
  const lifecycle = new Lifecycle(logger)
  const readiness = new Readiness(lifecycle)
  const summary = new Summary()
  await lifecycle.run(async () => {
    if (port !== undefined) {
      const health = { obstacle: () => readiness.obstacle(), describe: () => summary.asObject() }
      const server = await lifecycle.start({
        name: 'health endpoints',
        begin: () => serveHealth({ host, port }, health),
        end: (started) => started.stop(),
      })
      summary.add('Health', `${server.url}/readyz`)
      await readiness.watchDatabase(databaseUrl)
    }
    summary.add('Workload', workload.name)
    summary.add('Database', namedDatabase(databaseUrl).description)
    summary.add('Schema', await schemaVersion(databaseUrl))
    const plan = { workload, logger, ...options }
    const worker = await startWorker(lifecycle, plan)
    readiness.watchWorker(worker)
    if (worker !== undefined) summary.addWorker(worker)
    // In production the log is all there is; the block is for a person who looks on.
    if (process.stdout.isTTY) process.stdout.write(summary.asText())
    else logger.info(summary.asObject(), 'running')
  })
}
