import { Command, Option } from 'commander'
import { type EncryptionOptions, encryptionFrom, migrate } from 'millrace'
import { AdminServing } from '../admin-serving.ts'
import { type Database, openDatabase, schemaVersion } from '../database.ts'
import { makeDevelopmentKeys } from '../development-keys.ts'
import { fail } from '../failure.ts'
import { type Health, serveHealth } from '../health-server.ts'
import { JobDigest } from '../job-digest.ts'
import { Lifecycle } from '../lifecycle.ts'
import { createLogger } from '../log.ts'
import { ProcessMetrics } from '../process-metrics.ts'
import { Readiness } from '../readiness.ts'
import { Summary } from '../summary.ts'
import { tryNext } from '../try-next.ts'
import { obstacleOf, startWorker } from '../worker-process.ts'
import type { Workload } from '../workload.ts'
import { applyMigrations } from '../workload-migrations.ts'
import { loadWorkload } from '../workload-module.ts'
import { addWorkerOptions, parsePort, type WorkerOptions } from './worker-options.ts'

const help = `
The module is a file, or a package installed here, with a workload as its default export. Without one there is only the
database, migrated, for programs of your own to use.

Without DATABASE_URL an embedded Postgres is started for the project in the working directory. It keeps its data, and
is shared with whatever else of that project runs. Without MILLRACE_ENCRYPTION_KEYS it gets keys for development, in a file
beside its data that node --env-file can load. Handlers find the database in DATABASE_URL.

The log tells each kind of failure once, and every ten seconds how many jobs have completed. LOG_LEVEL=debug tells all.

The admin API is at /admin/api/ and /api/actions/. On this machine it needs no token while there is none: \`millrace tokens create\`
makes one, and ADMIN_TOKEN sets one.

Health:
  GET /healthz   200 while the process lives
  GET /readyz    200 while the worker's lease holds and the database answers, else 503 with the reason
  GET /metrics   metrics for Prometheus, or OpenMetrics for those that ask for it
  GET /          what is running; browsers are sent to /admin/

Examples:
  millrace dev dist/workload.js
  PORT=9000 millrace dev dist/workload.js --concurrency mail=50
`

export interface DevOptions extends WorkerOptions {
  readonly databaseUrl?: string
  readonly port: number
  readonly host: string
}

export function devCommand(): Command {
  const command = new Command('dev')
    .summary('run a workload on this machine, with a database if there is none')
    .description(
      'Run a workload on this machine: database, migrations, worker, admin API and health endpoints in one process.',
    )
    .argument('[module]', 'the workload to run')
    .addOption(new Option('--database-url <url>', 'use this database, not an embedded one').env('DATABASE_URL'))
    .addOption(
      new Option('--port <port>', 'port of the admin API and the health endpoints')
        .env('PORT')
        .argParser(parsePort)
        .default(8080),
    )
    .addOption(new Option('--host <address>', 'address they listen on').env('HOST').default('127.0.0.1'))
  return addWorkerOptions(command).addHelpText('after', help).action(act)
}

async function act(module: string | undefined, options: DevOptions, command: Command): Promise<void> {
  try {
    const workload = module === undefined ? undefined : await loadWorkload(module)
    await dev({ workload, module }, options)
  } catch (error) {
    fail(command, error)
  }
  // A handler that ignores its abort signal must not keep the process.
  process.exit(0)
}

interface Named {
  readonly workload: Workload | undefined
  readonly module: string | undefined
  /** Before anything is written to the database. */
  prepare?(databaseUrl: string): Promise<void>
}

export async function dev({ workload, module, prepare }: Named, options: DevOptions): Promise<void> {
  const logger = createLogger()
  const lifecycle = new Lifecycle(logger)
  const readiness = new Readiness(lifecycle)
  const summary = new Summary()
  const metrics = new ProcessMetrics()
  const serving = new AdminServing()
  await lifecycle.run(async () => {
    const health: Health = {
      obstacle: () => readiness.obstacle(),
      health: () => readiness.health(),
      describe: () => summary.asObject(),
      metrics: (accept: string | undefined) => metrics.page(accept),
      takeOver: (...request) => serving.takeOver(...request),
    }
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
    const { schema } = options
    await prepare?.(database.url)
    await migrate(database.url, { schema })
    if (workload !== undefined) await applyMigrations(workload, database.url)
    await workload?.setup?.({ databaseUrl: database.url })
    await readiness.watchDatabase(database.url, schema)
    summary.add('Workload', workload?.name ?? 'none, only the database')
    summary.add('Database', database.description)
    if (database.directory !== undefined) summary.addSecret('DATABASE_URL', database.url)
    summary.add('Schema', await schemaVersion(database.url, schema))
    const encryption = await encryptionOf(database, summary)
    await serving.start(lifecycle, {
      ...{ workload, schema, encryption, logger },
      host: options.host,
      databaseUrl: database.url,
      isDevelopment: true,
    })
    if (workload !== undefined) {
      const digest = await lifecycle.start({
        name: 'digest of jobs',
        begin: async () => new JobDigest(logger),
        end: async (started) => started.stop(),
      })
      const worker = await startWorker(lifecycle, {
        workload,
        databaseUrl: database.url,
        logger,
        options,
        metrics,
        encryption,
        mode: 'dev',
        announce: (label, value) => summary.add(label, value),
        tell: (millrace) => digest.watch(millrace),
      })
      readiness.watchWork(() => obstacleOf(worker))
      if (worker !== undefined) summary.addWorker(worker)
    }
    summary.addPages(server.url, workload)
    summary.add('Health', `${server.url}/readyz`)
    const commands = await tryNext({ workload, module, schema, healthUrl: server.url })
    const where = database.directory === undefined ? 'with the same DATABASE_URL' : 'in this folder'
    process.stdout.write(summary.asText(`Try next, in another terminal ${where}:\n\n  ${commands.join('\n  ')}\n\n`))
  })
}

/** The configured keys; with an embedded database, keys for development if none are configured. */
async function encryptionOf(database: Database, summary: Summary): Promise<EncryptionOptions | undefined> {
  const configured = encryptionFrom(process.env)
  if (configured !== undefined) return configured
  const keys = await makeDevelopmentKeys(database)
  if (keys !== undefined) summary.add('Keys', `for development, in ${keys.file}`)
  return keys?.encryption
}
