// LIPAS on a database of its own, started as under `millrace dev`. `await using t = await setup()`.
import type { StartContext } from '@millrace/cli/workload'
import { createMillrace, type Implementation, type Logger, migrateProgram, type WorkOptions } from 'millrace'
import pg from 'pg'
import { lipasHandlers } from '#src/handlers'
import { lipas } from '#src/lipas'
import { readSettings } from '#src/settings'
import type { LipasSystem, Times } from '#src/system'
import { freshDatabase } from '../../../../packages/engine/test/support/database.ts'

export const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** Nobody listens there: for tests that call no service. */
const NOWHERE = 'http://127.0.0.1:9'
const nowhere = {
  LIPAS_SMTP_URL: 'smtp://127.0.0.1:9',
  LIPAS_MAIL_FROM: 'lipas@lipas.example',
  LIPAS_ALERT_TO: 'operators@lipas.example',
  LIPAS_SEARCH_URL: NOWHERE,
  LIPAS_WCS_URL: NOWHERE,
  LIPAS_UTP_URL: NOWHERE,
  LIPAS_UTP_TOKEN_URL: `${NOWHERE}/token`,
  LIPAS_UTP_CLIENT_ID: 'lipas',
  LIPAS_UTP_CLIENT_SECRET: 'not a secret',
  LIPAS_UTP_SUBSCRIPTION_KEY: 'not a key',
}

export interface LipasSetup {
  /** Variables of the environment, such as { LIPAS_TIME_ZONE: 'UTC' }. */
  readonly env?: Readonly<Record<string, string>>
  readonly times?: Times
}

/** A worker runs only after `work()`. The register is empty. */
export async function setup({ env = {}, times }: LipasSetup = {}) {
  const database = await freshDatabase()
  let system: LipasSystem | undefined
  const workload = lipas({
    settings: readSettings({ ...nowhere, ...env }),
    handlers: (its) => {
      system = its
      return lipasHandlers(its)
    },
    ...(times !== undefined && { times }),
  })
  for (const set of [workload.migrations ?? []].flat()) await migrateProgram(database.url, set)
  const millrace = createMillrace({
    ...{ database: database.url, jobs: [...workload.jobs], workflows: workload.workflows ?? [], logger: silent },
  })
  const announced: Record<string, string> = {}
  const context: StartContext = {
    ...{ millrace, logger: silent, databaseUrl: database.url, mode: 'dev', queues: ['lipas'] },
    announce: (label, value) => {
      announced[label] = value
    },
  }
  const started = await workload.start?.(context)
  const pool = new pg.Pool({ connectionString: database.url, max: 3 })
  pool.on('error', () => {})
  return {
    ...{ url: database.url, pool, workload, millrace, announced },
    system: system as LipasSystem,

    async sql<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
      return (await pool.query<Row>(text, values)).rows
    },

    /** The handler of a type, for runJob(handler, payload, { millrace }). */
    handler(type: string): Implementation {
      const found = workload.handlers.find(({ contract }) => contract.type === type)
      if (found === undefined) throw new Error(`LIPAS has no handler of ${type}.`)
      return found
    },

    /** A worker for all handlers, with the settings of LIPAS. It stops with the client. */
    work: (options: Partial<WorkOptions> = {}) =>
      millrace.work({ ...workload.settings, handlers: workload.handlers, ...options }),

    async [Symbol.asyncDispose]() {
      await millrace.close()
      await started?.stop()
      await pool.end()
      await database.drop()
    },
  }
}

export type Lipas = Awaited<ReturnType<typeof setup>>
