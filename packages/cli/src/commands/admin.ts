import { Command, Option } from 'commander'
import { encryptionFrom } from 'millrace'
import { AdminServing } from '../admin-serving.ts'
import { existingDatabase, moduleOfPackage, namedWorkload } from '../client.ts'
import { schemaVersion } from '../database.ts'
import { developmentKeys } from '../development-keys.ts'
import { fail } from '../failure.ts'
import { serveHealth } from '../health-server.ts'
import { Lifecycle } from '../lifecycle.ts'
import { createLogger } from '../log.ts'
import { ProcessMetrics } from '../process-metrics.ts'
import { Readiness } from '../readiness.ts'
import { Summary } from '../summary.ts'
import { demandMigrations } from '../workload-migrations.ts'
import { queuesOf, startWorkload } from '../workload-start.ts'
import { DEFAULT_SCHEMA, parsePort, SCHEMA_VARIABLE } from './worker-options.ts'

const help = `
It runs no jobs. With the workload's module it knows the contracts: what it enqueues is checked, deduplicated and keyed as
the program itself does it. Without one it knows what workers have published in the catalogue.

Callers need a token. \`millrace tokens create NAME --role admin\` makes one; the one in ADMIN_TOKEN counts, too.

Serves:
  /admin/                          the dashboard, and the login for browsers
  /admin/api/…                     the API; /admin/api/openapi.json describes it
  /api/actions/…                   dead letters and reports under the names of other systems
  the workload's own routes and pages
  /healthz, /readyz, /metrics, /   as \`millrace work --port\` does

Examples:
  ADMIN_TOKEN=… millrace admin dist/workload.js
  millrace admin --host 0.0.0.0 --port 9000
`

interface Options {
  readonly databaseUrl?: string
  readonly port: number
  readonly host: string
}

export function adminCommand(): Command {
  const command = new Command('admin')
    .summary('serve the admin API without running jobs')
    .description('Serve the admin API for a database, without running jobs.')
    .argument('[module]', 'the workload; default: "millrace": { "module": … } in package.json')
    .addOption(new Option('--port <port>', 'port to listen on').env('PORT').argParser(parsePort).default(8080))
    .addOption(new Option('--host <address>', 'address to listen on').env('HOST').default('127.0.0.1'))
    .addOption(
      new Option('--database-url <url>', "the database; without it, the project's embedded one").env('DATABASE_URL'),
    )
  return command.addHelpText('after', help).action(act)
}

async function act(module: string | undefined, options: Options, command: Command): Promise<void> {
  try {
    await serve(module, options)
  } catch (error) {
    fail(command, error)
  }
  process.exit(0)
}

async function serve(module: string | undefined, { databaseUrl, host, port }: Options): Promise<void> {
  const workload = await namedWorkload(module)
  const schema = process.env[SCHEMA_VARIABLE] || DEFAULT_SCHEMA
  const logger = createLogger()
  const lifecycle = new Lifecycle(logger)
  const readiness = new Readiness(lifecycle)
  const summary = new Summary()
  const metrics = new ProcessMetrics()
  const serving = new AdminServing()
  await lifecycle.run(async () => {
    const server = await lifecycle.start({
      name: 'server',
      begin: () =>
        serveHealth(
          { host, port },
          {
            obstacle: () => readiness.obstacle(),
            describe: () => summary.asObject(),
            metrics: (accept) => metrics.page(accept),
            takeOver: (...request) => serving.takeOver(...request),
          },
        ),
      end: (started) => started.stop(),
    })
    const database = await lifecycle.start({
      name: 'database',
      begin: () => existingDatabase(databaseUrl, schema),
      end: (opened) => opened.stop(),
    })
    await readiness.watchDatabase(database.url, schema)
    summary.add('Workload', workload?.name ?? 'none: types are known by the catalogue')
    summary.add('Database', database.description)
    summary.add('Schema', await schemaVersion(database.url, schema))
    const encryption = encryptionFrom(process.env) ?? (await developmentKeys(database))?.encryption
    const millrace = await serving.start(lifecycle, {
      ...{ workload, schema, encryption, logger, host },
      databaseUrl: database.url,
      isDevelopment: false,
    })
    await metrics.start(lifecycle, millrace, workload ?? {})
    if (workload !== undefined) {
      await demandMigrations(workload, database.url, module ?? moduleOfPackage() ?? 'MODULE')
      const announce = (label: string, value: string) => summary.add(label, value)
      const context = { millrace, logger, databaseUrl: database.url, mode: 'admin' as const, announce }
      await startWorkload(lifecycle, workload, { ...context, queues: queuesOf(workload) })
    }
    summary.addPages(server.url, workload)
    if (process.stdout.isTTY) process.stdout.write(summary.asText())
    else logger.info(summary.asObject(), 'running')
  })
}
