// `millrace work --processes N`: the supervisor with its signals, its health endpoints and its end.
import { setTimeout as sleep } from 'node:timers/promises'
import { namedDatabase } from '../database.ts'
import { serveHealth } from '../health-server.ts'
import { Lifecycle } from '../lifecycle.ts'
import { createLogger } from '../log.ts'
import { Readiness } from '../readiness.ts'
import { stopSignals } from '../signals.ts'
import { counted } from '../worker-process.ts'
import { CollectedMetrics } from './collected-metrics.ts'
import { LeaseEnder } from './lease-ender.ts'
import { restartTimes } from './restart-pause.ts'
import { Supervisor } from './supervisor.ts'
import { logSupervisor } from './supervisor-log.ts'
import { forkWorker } from './worker-command.ts'

export interface SuperviseOptions {
  readonly processes: number
  readonly module: string
  readonly databaseUrl: string
  readonly graceMs: number
  readonly schema: string
  readonly host: string
  readonly port?: number | undefined
}

/** What a process may take beyond its grace period: the other steps of a worker's stop, and the workload's own stop(). */
const STOP_MARGIN_MS = 20_000
const MAX_TIMER_MS = 2 ** 31 - 1
/** How long killed processes and their leases hold up an end that was wanted at once. */
const AT_ONCE_MS = 1_000

/** Returns when everything has stopped in order. Rejects with StartFailed or CrashLoop when it had to give up. */
export async function supervise(options: SuperviseOptions): Promise<void> {
  const { processes, databaseUrl, graceMs, schema } = options
  const logger = createLogger()
  const supervisor = new Supervisor({
    processes,
    times: restartTimes,
    stopMs: Math.min(graceMs + STOP_MARGIN_MS, MAX_TIMER_MS),
    fork: (number) => forkWorker(number, { isScraped: options.port !== undefined }),
  })
  const leases = new LeaseEnder({ databaseUrl, schema }, logger)
  logSupervisor(supervisor, logger)
  leases.watch(supervisor)
  const endAtOnce = async (exitCode: number) => {
    await Promise.race([supervisor.kill().then(() => leases.stop()), sleep(AT_ONCE_MS)])
    process.exit(exitCode)
  }
  const lifecycle = new Lifecycle(logger, stopSignals(logger, endAtOnce))
  process.on('SIGHUP', () => void supervisor.roll())
  supervisor.on('all_left', () => lifecycle.stop())
  await lifecycle.run(async () => {
    const health = await startHealth(lifecycle, supervisor, options)
    await lifecycle.start({ name: 'lease ender', begin: async () => leases, end: () => leases.stop() })
    await lifecycle.start({
      name: 'worker processes',
      begin: async () => supervisor.start(),
      end: () => supervisor.stop(),
    })
    logger.info({ processes, health }, `supervising ${counted(processes, 'worker')}`)
  }, supervisor.failed)
}

async function startHealth(
  lifecycle: Lifecycle,
  supervisor: Supervisor,
  { module, databaseUrl, schema, host, port }: SuperviseOptions,
): Promise<string | undefined> {
  if (port === undefined) return undefined
  const readiness = new Readiness(lifecycle)
  const database = namedDatabase(databaseUrl).description
  const metrics = new CollectedMetrics(() => supervisor.alive)
  const describe = () => ({ module, database, pid: process.pid, processes: supervisor.processes })
  const server = await lifecycle.start({
    name: 'health endpoints',
    begin: () =>
      serveHealth(
        { host, port },
        {
          obstacle: () => readiness.obstacle(),
          health: () => readiness.health(),
          describe,
          metrics: (accept) => metrics.page(accept),
        },
      ),
    end: (started) => started.stop(),
  })
  await readiness.watchDatabase(databaseUrl, schema)
  readiness.watchWork(() => supervisor.obstacle())
  return `${server.url}/readyz`
}
