import { createEgress } from '@millrace/egress'
import { type Delivery, defineEscalation, type EscalationOptions } from '@millrace/escalation'
import {
  type AlertOptions,
  createMillrace,
  defineJob,
  defineQueues,
  fixed,
  type Implementation,
  implement,
  type Logger,
  type Millrace,
  type QueueOptions,
} from 'millrace'
import { type FakeClock, testDatabase } from 'millrace/testing'
import pg from 'pg'
import { inject } from 'vitest'
import { z } from 'zod'

export const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const shortLease = { heartbeat: '150ms', ttl: '1500ms', sweep: '100ms' } as const

/** A job that fails with what its payload says, in a queue with these options. */
export function failing(queue: string, options: QueueOptions, type = 'fail') {
  const queues = defineQueues({ [queue]: options })
  const contract = defineJob({
    ...{
      type,
      queue: queues[queue] as NonNullable<(typeof queues)[string]>,
      retry: { attempts: 1, backoff: fixed(0) },
    },
    payload: z.object({ error: z.string(), secret: z.string().optional(), ok: z.boolean().optional() }),
  })
  const handler = implement(contract, async ({ error, ok }) => {
    if (ok !== true) throw new Error(error)
  })
  return { contract, handler }
}

interface WorkingOptions {
  handlers: Implementation[]
  /** The test servers that the guarded fetch may reach. */
  allow?: string[]
  clock?: FakeClock
  logger?: Logger
  alerts?: AlertOptions
}

interface Working {
  millrace: Millrace
  delivery: Delivery
}

/** A database of its own, and workers with an escalation on it. */
export async function setup() {
  const database = await testDatabase({ server: inject('serverUrl') })
  const pool = new pg.Pool({ connectionString: database.url, max: 2 })
  pool.on('error', () => {})
  const closing: (() => Promise<unknown>)[] = []
  return {
    url: database.url,

    async sql<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
      return (await pool.query<Row>(text, values)).rows
    },

    /** A client that knows no contracts. */
    client(): Millrace {
      const millrace = createMillrace({ database: database.url, jobs: [], logger: silent })
      closing.push(() => millrace.close())
      return millrace
    },

    async working(
      options: Omit<EscalationOptions, 'fetch'>,
      { handlers, allow = [], clock, logger = silent, alerts = {} }: WorkingOptions,
    ): Promise<Working> {
      const egress = createEgress({ allow, budget: { headersMs: 1_000 } })
      const escalation = defineEscalation({ intervalMs: 100, ...options, fetch: egress.fetch })
      const jobs = [...handlers.map(({ contract }) => contract), ...escalation.jobs]
      const millrace = createMillrace({ database: database.url, jobs, logger, ...(clock && { clock }) })
      const delivery = escalation.attach({ millrace, logger })
      await millrace.work({
        handlers: [...handlers, ...delivery.handlers],
        ...{ alerts, lease: shortLease, gracePeriod: '2s' },
      })
      closing.push(async () => {
        await delivery.stop()
        await millrace.close()
        await egress.close()
      })
      return { millrace, delivery }
    },

    async [Symbol.asyncDispose]() {
      for (const close of closing.reverse()) await close()
      await pool.end()
      await database.drop()
    },
  }
}
