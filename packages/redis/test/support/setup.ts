// A database with the tables of Millrace and of this package, and a Redis of the test's own.
import {
  type BufferOptions,
  connectRedis,
  createBuffer,
  type Redis,
  redisMigrations,
  type SpikeBuffer,
} from '@millrace/redis'
import { findRedis, type RedisServer, type RedisServerOptions, startRedis } from '@millrace/redis/testing'
import { createMillrace, defineJob, defineQueues, type JobContract, type Millrace, migrateProgram } from 'millrace'
import { testDatabase } from 'millrace/testing'
import pg from 'pg'
import { describe, inject } from 'vitest'
import { z } from 'zod'

/** Without a Redis these tests are skipped, and say so. */
export const describeRedis = (name: string, tests: () => void): void => {
  const isThere = findRedis() !== undefined
  if (!isThere) console.warn(`SKIPPED "${name}": no redis-server or valkey-server was found (MILLRACE_REDIS_BIN).`)
  describe.skipIf(!isThere)(name, tests)
}

export const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

export const queues = defineQueues({ views: {}, money: { critical: true } })
export const view = defineJob({
  type: 'view',
  queue: queues.views,
  payload: z.object({ page: z.string(), n: z.int().optional() }),
})
export const perOrganisation = defineJob({
  type: 'view.of',
  queue: queues.views,
  payload: z.object({ org: z.string(), n: z.int() }),
  tenant: ({ org }) => org,
})
const contracts = [view, perOrganisation]

interface JobRow {
  id: string
  type: string
  tenant: string | null
  run_at: Date
  payload: Record<string, unknown>
}

export interface Setup extends AsyncDisposable {
  readonly url: string
  readonly server: RedisServer
  readonly redis: Redis
  readonly millrace: Millrace
  readonly buffer: SpikeBuffer
  sql<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>
  jobs(): Promise<JobRow[]>
  /** Another program on the same database and Redis. */
  program(options?: Partial<BufferOptions> & { jobs?: readonly JobContract[]; redisUrl?: string }): Promise<Program>
}

export interface Program {
  readonly redis: Redis
  readonly millrace: Millrace
  readonly buffer: SpikeBuffer
}

export async function setup(options: Partial<BufferOptions> & RedisServerOptions = {}): Promise<Setup> {
  const database = await testDatabase({ server: inject('serverUrl') })
  await migrateProgram(database.url, redisMigrations)
  const server = await startRedis(options)
  const pool = new pg.Pool({ connectionString: database.url, max: 2 })
  pool.on('error', () => {})
  const closing: (() => Promise<unknown>)[] = []

  async function program({ jobs = contracts, redisUrl = server.url, ...more }: Parameters<Setup['program']>[0] = {}) {
    const redis = more.redis ?? (await connectRedis({ url: redisUrl, logger: silent }))
    const millrace = createMillrace({ database: database.url, jobs, logger: silent })
    const buffer = createBuffer({ redis, millrace, database: database.url, logger: silent, ...more })
    closing.push(async () => {
      await buffer.close()
      await millrace.close()
      await redis.close()
    })
    return { redis, millrace, buffer }
  }

  const sql = async <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []) =>
    (await pool.query<Row>(text, values)).rows
  const { persistence: _, maxmemory: __, policy: ___, ...buffering } = options
  return {
    ...{ url: database.url, server, sql, program },
    ...(await program(buffering)),
    jobs: () => sql<JobRow>('select * from millrace.job order by id'),
    async [Symbol.asyncDispose]() {
      for (const close of closing.reverse()) await close()
      await pool.end()
      await server[Symbol.asyncDispose]()
      await database.drop()
    },
  }
}

/** Moves until nothing is left. */
export async function moveAll({ buffer }: Program): Promise<{ moved: number; rejected: number }> {
  const sum = { moved: 0, rejected: 0 }
  await using mover = buffer.startMover({ pause: () => true })
  for (;;) {
    const { moved, rejected, hasMore } = await mover.pass()
    sum.moved += moved
    sum.rejected += rejected
    if (!hasMore) return sum
  }
}
