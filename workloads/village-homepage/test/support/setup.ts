// The village on a database of its own, with a sandbox in this process that misbehaves only on demand.
import type { StartContext } from '@millrace/cli/workload'
import { createMillrace, type Implementation, type Logger, migrateProgram, type WorkOptions } from 'millrace'
import pg from 'pg'
import { type SandboxOptions, startSandbox } from '#sandbox/server'
import { standIn } from '#sandbox/stand-in'
import { readConfig, type VillageConfig } from '#src/config/read'
import type { VillageContracts, VillageJobType } from '#src/contracts'
import { villageHomepage } from '#src/village'
import type { VillageParts } from '#src/village-parts'
import { freshDatabase } from '../../../../packages/engine/test/support/database.ts'

export const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** application.yaml as it stands, with nothing of this machine's environment; `text` replaces the file. */
export const config = (env: Record<string, string> = {}, text?: string): VillageConfig =>
  readConfig({ env: { VILLAGECOMPUTE_SANDBOX: 'on', ...env }, ...(text !== undefined && { text }) })

/** Under it the tokens of social accounts are sealed. */
export const TEST_KEY = { id: 'test', key: Buffer.alloc(32, 7) }

const NO_CDN = { putUrl: '', publicUrl: '', token: '' }

export interface VillageSetup {
  /** Variables of the environment, such as { VILLAGECOMPUTE_JOBS_BASE_DELAY: '1' }. */
  readonly env?: Record<string, string>
  readonly sandbox?: SandboxOptions
  /** host:port pairs that handlers may call besides the sandbox. */
  readonly allow?: readonly string[]
  readonly clock?: VillageParts['clock']
  /** Default: that of the sandbox. */
  readonly hasCdn?: boolean
}

/** The village has been started, as under `millrace dev`; a worker runs only after `work()`. Nothing is seeded. */
export async function setup({
  env = {},
  sandbox: sandboxOptions,
  allow = [],
  clock,
  hasCdn = true,
}: VillageSetup = {}) {
  const [database, sandbox] = await Promise.all([
    freshDatabase(),
    startSandbox({ misbehaves: false, ...sandboxOptions }),
  ])
  let parts: VillageParts | undefined
  const village = villageHomepage({
    config: config({ ...env, ...(allow.length > 0 && { VILLAGECOMPUTE_EGRESS_ALLOW: allow.join() }) }),
    ...(clock !== undefined && { clock }),
    async sandbox(its) {
      parts = its
      const stand = standIn(sandbox)
      return hasCdn ? stand : { ...stand, addresses: { ...stand.addresses, cdn: NO_CDN } }
    },
  })
  await migrateVillage(database.url, village)
  const millrace = createMillrace({
    ...{
      database: database.url,
      encryption: { keys: [TEST_KEY] },
      jobs: [...village.jobs, ...(village.escalation?.jobs ?? [])],
      workflows: village.workflows ?? [],
      logger: silent,
    },
  })
  const announced: Record<string, string> = {}
  const context: StartContext = {
    ...{ millrace, logger: silent, databaseUrl: database.url, mode: 'dev', queues: [] },
    announce: (label, value) => {
      announced[label] = value
    },
  }
  const started = await village.start?.(context)
  const pool = new pg.Pool({ connectionString: database.url, max: 3 })
  pool.on('error', () => {})
  return {
    ...{ url: database.url, pool, sandbox, village, millrace, announced },
    parts: parts as unknown as VillageParts,

    async sql<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
      return (await pool.query<Row>(text, values)).rows
    },

    /** The handler of a type, for runJob(handler, payload, { millrace }). */
    handler<Type extends VillageJobType>(type: Type): Implementation<VillageContracts[Type]> {
      const found = village.handlers.find(({ contract }) => contract.type === type)
      if (found === undefined) throw new Error(`The village has no handler of ${type}.`)
      return found as unknown as Implementation<VillageContracts[Type]>
    },

    /** A worker for all handlers of the village. It stops with the client. */
    work: (options: Partial<WorkOptions> = {}) => millrace.work({ handlers: village.handlers, ...options }),

    async [Symbol.asyncDispose]() {
      await millrace.close()
      await started?.stop()
      await pool.end()
      await database.drop()
    },
  }
}

export type Village = Awaited<ReturnType<typeof setup>>

async function migrateVillage(url: string, { migrations }: ReturnType<typeof villageHomepage>): Promise<void> {
  for (const program of [migrations ?? []].flat()) await migrateProgram(url, program)
}
