import { Command, Option } from 'commander'
import { encryptionFrom, toMs } from 'millrace'
import { namedDatabase, schemaVersion } from '../database.ts'
import { fail, failureText } from '../failure.ts'
import { serveHealth } from '../health-server.ts'
import { logJobs } from '../job-log.ts'
import { Lifecycle } from '../lifecycle.ts'
import { createLogger } from '../log.ts'
import { ProcessMetrics } from '../process-metrics.ts'
import { Readiness } from '../readiness.ts'
import { Summary } from '../summary.ts'
import { supervise } from '../supervisor/supervise.ts'
import { Supervised } from '../supervisor/supervised.ts'
import { PROCESSES_VARIABLE } from '../supervisor/worker-command.ts'
import { obstacleOf, startWorker } from '../worker-process.ts'
import type { Workload } from '../workload.ts'
import { demandMigrations } from '../workload-migrations.ts'
import { loadWorkload } from '../workload-module.ts'
import { addWorkerOptions, parsePort, parseProcesses, type WorkerOptions } from './worker-options.ts'

const help = `
It neither migrates nor runs the workload's setup: run \`millrace migrate MODULE\` when you deploy. On a schema that lacks a
migration, of Millrace or of the workload, it refuses to start.

With --queues it serves only some of the workload's queues, so that each family can have processes of its own.

On SIGTERM or Ctrl-C it takes no more jobs, waits for the running ones for the grace period, gives back what is left
without using up an attempt, and ends with code 0. A second signal ends it at once.

With --processes it becomes a supervisor: it runs no jobs itself, but keeps that many worker processes at work. One that
dies is started again, after 0.5 s at first and 30 s at most, and its jobs are rescued at once. Signals are passed on.
SIGHUP restarts the processes one after the other; each leaves only when its successor is ready.

\`millrace workers stop\` asks one worker to stop in order: its process ends with code 0. A supervisor leaves its place empty
until the next SIGHUP, and ends with code 0 when all places are empty.

Health, with --port:
  GET /healthz   200 while the process lives
  GET /readyz    200 while the worker's lease holds and the database answers, else 503 with the reason; with --processes:
                 while at least one process is ready and none has died five times in a row before it was ready
  GET /metrics   metrics for Prometheus, or OpenMetrics for those that ask for it; with --processes: of all processes
  GET /          what is running; with --processes: each process with its pid, state, restarts and worker id

Exit codes:
    0  stopped in order
    1  could not start: the module, the schema, the options, or no database
    4  crash loop: a process died five times in a row before it was ready, and no other one is ready
  130  ended at once by a second signal, SIGINT
  143  ended at once by a second signal, SIGTERM

Examples:
  millrace work dist/workload.js
  millrace work dist/workload.js --processes 4 --port 8080
  millrace work dist/workload.js --queues HIGH,DEFAULT
  millrace work dist/workload.js --lease heartbeat=5s,ttl=30s --max-connections 20 --no-notify
  millrace work dist/workload.js --concurrency mail=20 --concurrency reports=2 --grace 50s --port 8080
`

interface Options extends WorkerOptions {
  readonly databaseUrl?: string
  readonly port?: number
  readonly host: string
  readonly processes?: number
}

export function workCommand(): Command {
  const command = new Command('work')
    .summary('run the jobs of a workload')
    .description('Run the jobs of a workload on a database that is migrated already.')
    .argument('<module>', 'the workload to run: a file, or a package installed here')
    .addOption(new Option('--database-url <url>', 'the database').env('DATABASE_URL'))
    .addOption(
      new Option('--processes <count>', 'supervise that many worker processes')
        .env(PROCESSES_VARIABLE)
        .argParser(parseProcesses),
    )
    .addOption(new Option('--port <port>', 'serve /healthz, /readyz and /metrics on this port').argParser(parsePort))
    .addOption(new Option('--host <address>', 'address of the health endpoints').env('HOST').default('0.0.0.0'))
  return addWorkerOptions(command).addHelpText('after', help).action(act)
}

async function act(module: string, options: Options, command: Command): Promise<void> {
  const { databaseUrl, processes } = options
  const supervised = Supervised.detect()
  if (!databaseUrl) {
    command.error(
      'error: No database is given. Set DATABASE_URL or pass --database-url, for instance postgres://user@localhost:5432/app. For a database on this machine use `millrace dev`.',
    )
  }
  try {
    if (processes === undefined) await work(await loadWorkload(module), { ...options, module, databaseUrl }, supervised)
    else await supervise({ ...options, processes, module, databaseUrl, graceMs: toMs(options.grace, '--grace') })
  } catch (error) {
    // The supervisor says it, once for all of its processes.
    if (await supervised?.startFailed(error, failureText(error))) process.exit(1)
    fail(command, error)
  }
  // A handler that ignores its abort signal must not keep the process.
  process.exit(0)
}

async function work(
  workload: Workload,
  options: Options & { module: string; databaseUrl: string },
  supervised: Supervised | undefined,
): Promise<void> {
  const { module, databaseUrl, host, port } = options
  const logger = createLogger(supervised === undefined ? {} : { process: supervised.number })
  const lifecycle = new Lifecycle(logger, supervised?.stopRequests(logger))
  const readiness = new Readiness(lifecycle)
  const summary = new Summary()
  const metrics = metricsOf(options, supervised)
  await lifecycle.run(async () => {
    if (port !== undefined) {
      const health = {
        obstacle: () => readiness.obstacle(),
        health: () => readiness.health(),
        describe: () => summary.asObject(),
        metrics: (accept: string | undefined) => metrics?.page(accept),
      }
      const server = await lifecycle.start({
        name: 'health endpoints',
        begin: () => serveHealth({ host, port }, health),
        end: (started) => started.stop(),
      })
      summary.add('Health', `${server.url}/readyz`)
      await readiness.watchDatabase(databaseUrl, options.schema)
    }
    summary.add('Workload', workload.name)
    summary.add('Database', namedDatabase(databaseUrl).description)
    summary.add('Schema', await schemaVersion(databaseUrl, options.schema))
    await demandMigrations(workload, databaseUrl, module)
    const worker = await startWorker(lifecycle, {
      workload,
      databaseUrl,
      logger,
      options,
      metrics,
      encryption: encryptionFrom(process.env),
      mode: 'work',
      announce: (label, value) => summary.add(label, value),
      tell: (millrace) => logJobs(millrace, logger),
      onAskedToStop: () => supervised?.leaves(),
    })
    readiness.watchWork(() => obstacleOf(worker))
    supervised?.reportOn(worker)
    if (worker !== undefined) summary.addWorker(worker)
    // In production the log is all there is; the block is for a person who looks on.
    if (process.stdout.isTTY && supervised === undefined) process.stdout.write(summary.asText())
    else logger.info(summary.asObject(), 'running')
  })
}

/** Undefined: nothing scrapes this process. */
function metricsOf({ port }: Options, supervised: Supervised | undefined): ProcessMetrics | undefined {
  if (supervised?.isScraped) {
    const metrics = new ProcessMetrics(supervised.number, (last) => supervised.sendMetrics(last))
    supervised.answerMetrics(() => metrics.snapshot())
    return metrics
  }
  return port === undefined ? undefined : new ProcessMetrics()
}
