// Dartwing on a database of its own with a sandbox in this process, started as under `millrace dev`. `await using t = await setup()`.
import { randomBytes } from 'node:crypto'
import type { StartContext } from '@millrace/cli/workload'
import {
  createMillrace,
  encryptionFrom,
  type Implementation,
  type JobContract,
  type Logger,
  migrate,
  migrateProgram,
  type Queryable,
  type WorkOptions,
} from 'millrace'
import pg from 'pg'
import { inject } from 'vitest'
import { dartwing } from '#src/dartwing'
import { dartwingHandlers } from '#src/handlers'
import { loadSampleData } from '#src/sandbox/sample-data'
import { type SandboxOptions, startSandbox } from '#src/sandbox/server'
import { readSettings } from '#src/settings'
import type { DartwingSystem } from '#src/system'
import { freshDatabase } from '../../../../packages/engine/test/support/database.ts'
import { ownerOf } from './owner.ts'

export const LARGE = 'ORG-2025-00001'
export const SMALL = 'ORG-2025-00002'

export const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

const key = () => randomBytes(32).toString('base64')
const encryption = encryptionFrom({ MILLRACE_ENCRYPTION_KEYS: `test:${key()}`, MILLRACE_LOOKUP_KEY: key() })

export interface DartwingSetup {
  /** Variables of the environment, such as { DARTWING_TIME_ZONE: 'UTC' }. */
  readonly env?: Readonly<Record<string, string>>
  /** Default: it fails only on demand, and calls end at once. */
  readonly sandbox?: SandboxOptions
  /** Beside the contracts of Dartwing. */
  readonly jobs?: readonly JobContract[]
  /** Beside the handlers of Dartwing. */
  readonly handlers?: (system: DartwingSystem) => Implementation[]
  readonly logger?: Logger
  /** An ordinary owner of the tables, or a superuser, which is the default. */
  readonly login?: 'superuser' | 'owner'
}

/** With the sample organizations. A worker runs only after `work()`. */
export async function setup({
  env = {},
  sandbox: options,
  jobs: more = [],
  handlers = () => [],
  logger = silent,
  login = 'superuser',
}: DartwingSetup = {}) {
  const [database, sandbox] = await Promise.all([
    freshDatabase({ migrated: login === 'superuser' }),
    startSandbox({ misbehaves: false, fax: { dialMs: 0 }, ...options }),
  ])
  const owner = login === 'owner' ? await ownerOf(database.url, inject('serverUrl')) : undefined
  const url = owner?.url ?? database.url
  if (owner !== undefined) await migrate(url)
  let system: DartwingSystem | undefined
  const workload = dartwing({
    settings: readSettings(env),
    sandbox: async () => sandbox,
    sampleData: loadSampleData,
    handlers: (its) => {
      system = its
      return [...dartwingHandlers(its), ...handlers(its)]
    },
  })
  for (const set of [workload.migrations ?? []].flat()) await migrateProgram(url, set)
  const jobs = [...new Set([...workload.jobs, ...more, ...workload.handlers.map(({ contract }) => contract)])]
  const millrace = createMillrace({
    ...{ database: url, jobs, schedules: workload.schedules ?? [], tenantRole: workload.tenantRole, logger },
    ...(encryption !== undefined && { encryption }),
  })
  const context: StartContext = {
    ...{ millrace, logger, databaseUrl: url, mode: 'dev', queues: ['critical', 'default', 'bulk'] },
    announce: () => {},
  }
  const started = await workload.start?.(context)
  const pool = new pg.Pool({ connectionString: url, max: 3 })
  pool.on('error', () => {})
  return {
    ...{ url, pool, sandbox, workload, millrace, context, system: system as DartwingSystem },

    /** With the rights of the login, which is a superuser: it sees every row. */
    async sql<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
      return (await pool.query<Row>(text, values)).rows
    },

    /** One value of one row that the organization writes, such as an id. */
    async write(organization: string, text: string, values: unknown[] = []): Promise<string> {
      const rows = await millrace.tenantDb(organization, async (tx: Queryable) => (await tx.query(text, values)).rows)
      return String(Object.values(rows[0] as object)[0])
    },

    /** The handler of a method, for runJob(handler, payload, { millrace }). */
    handler(method: string): Implementation {
      const found = workload.handlers.find(({ contract }) => contract.type === method)
      if (found === undefined) throw new Error(`Dartwing has no handler of ${method}.`)
      return found
    },

    /** A worker for all handlers. It stops with the client. */
    work: (options: Partial<WorkOptions> = {}) =>
      millrace.work({ ...workload.settings, handlers: workload.handlers, ...options }),

    async [Symbol.asyncDispose]() {
      await millrace.close()
      // It stops the sandbox, too.
      await started?.stop()
      await pool.end()
      await database.drop()
      await owner?.drop()
    },
  }
}

export type Dartwing = Awaited<ReturnType<typeof setup>>
