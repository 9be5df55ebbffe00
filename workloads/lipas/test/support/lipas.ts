// LIPAS on a database of its own with a sandbox in this process, started as under `millrace dev`. `await using t = await setup()`.
import type { StartContext } from '@millrace/cli/workload'
import { createMillrace, type Implementation, type Logger, migrateProgram, type WorkOptions } from 'millrace'
import { type FakeClock, type RunJobOptions, runJob, testDatabase } from 'millrace/testing'
import pg from 'pg'
import { lipasHandlers } from '#src/handlers'
import { lipas } from '#src/lipas'
import { loadSampleData } from '#src/sandbox/load-sample-data'
import { type SandboxOptions, startSandbox } from '#src/sandbox/server'
import { lipasSchedules } from '#src/schedules'
import { readSettings } from '#src/settings'
import type { LipasSystem, Times } from '#src/system'
import { Uptime } from '#src/uptime'
import { freshDatabase } from '../../../../packages/engine/test/support/database.ts'

export const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

const LONG_MS = 86_400_000

export interface LipasSetup {
  /** Variables of the environment, such as { LIPAS_TIME_ZONE: 'UTC' }. */
  readonly env?: Readonly<Record<string, string>>
  /** Default: the process has run for a day, so no startup delay holds a job back. */
  readonly times?: Times
  /** Of the client and of the handlers. Default: the time of this machine. */
  readonly clock?: FakeClock
  /** Whether its workers enqueue by the clock. Default: they do not. */
  readonly hasSchedules?: boolean
  /** Where the workload and its jobs write their lines. Default: nowhere. */
  readonly logger?: Logger
  /** Default: it fails only on demand. */
  readonly sandbox?: SandboxOptions
  /** Whether the register holds the sample municipality. Default: it is empty. */
  readonly hasSampleData?: boolean
  /** Default: that of the tests without a browser. */
  readonly databaseServer?: string
}

/** A worker runs only after `work()`. */
export async function setup(given: LipasSetup = {}) {
  const { env = {}, clock, logger = silent, sandbox: options, hasSampleData = false, hasSchedules = false } = given
  let uptimeMs = 0
  const times = { uptime: new Uptime(() => uptimeMs), ...given.times, ...(clock !== undefined && { clock }) }
  const { databaseServer: server } = given
  const [database, sandbox] = await Promise.all([
    server === undefined ? freshDatabase() : testDatabase({ server }),
    startSandbox({ misbehaves: false, ...options }),
  ])
  let system: LipasSystem | undefined
  const workload = lipas({
    settings: readSettings(env),
    sandbox: async () => sandbox,
    handlers: (its) => {
      system = its
      return lipasHandlers(its)
    },
    schedules: lipasSchedules,
    times,
  })
  for (const set of [workload.migrations ?? []].flat()) await migrateProgram(database.url, set)
  const millrace = createMillrace({
    ...{ database: database.url, jobs: [...workload.jobs], workflows: workload.workflows ?? [], logger },
    ...(hasSchedules && { schedules: workload.schedules ?? [] }),
    ...(clock !== undefined && { clock }),
  })
  const announced: Record<string, string> = {}
  const context: StartContext = {
    ...{ millrace, logger, databaseUrl: database.url, mode: 'dev', queues: ['lipas'] },
    announce: (label, value) => {
      announced[label] = value
    },
  }
  const started = await workload.start?.(context)
  uptimeMs = LONG_MS
  if (hasSampleData) await loadSampleData((system as unknown as LipasSystem).database)
  const pool = new pg.Pool({ connectionString: database.url, max: 3 })
  pool.on('error', () => {})
  const handler = (type: string): Implementation => {
    const found = workload.handlers.find(({ contract }) => contract.type === type)
    if (found === undefined) throw new Error(`LIPAS has no handler of ${type}.`)
    return found
  }
  return {
    /** The handler of a type, for runJob(handler, payload, { millrace }). */
    handler,
    ...{ url: database.url, pool, sandbox, workload, millrace, announced },
    system: system as LipasSystem,

    async sql<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
      return (await pool.query<Row>(text, values)).rows
    },

    /** Runs one new job of a type in this process, as a worker does it. */
    run: (type: string, payload: object, options: Omit<RunJobOptions, 'millrace'> = {}) =>
      runJob(handler(type), payload, { ...options, millrace } as RunJobOptions),

    /** A worker for all handlers, with the settings of LIPAS. It stops with the client. */
    work: (options: Partial<WorkOptions> = {}) =>
      millrace.work({ ...workload.settings, handlers: workload.handlers, ...options }),

    async [Symbol.asyncDispose]() {
      await millrace.close()
      // It stops the sandbox, too.
      await started?.stop()
      await pool.end()
      await database.drop()
    },
  }
}

export type Lipas = Awaited<ReturnType<typeof setup>>
