// Inline run = real run: every way in which a run can end leaves the same rows behind, whether a worker ran it,
// runJob or drain; and a run without a database says the same.
import {
  cancel,
  createMillrace,
  defineJob,
  defineQueues,
  discard,
  fixed,
  type Handler,
  type Implementation,
  implement,
  type JobContract,
  LeaseLost,
  type Millrace,
  RetryAfter,
  snooze,
  Unrecoverable,
} from 'millrace'
import { drain, fakeClock, type RunReport, runJob, type TestDatabase } from 'millrace/testing'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { freshDatabase } from '../support/database.ts'
import { silent } from '../support/setup.ts'

const queues = defineQueues({ main: { concurrency: 100 }, aside: {} })
const child = defineJob({ type: 'child', queue: queues.aside, payload: z.object({}) })
const clock = fakeClock('2026-03-01T10:00:00.500Z')
const payload = { n: 7, nested: { zz: 1, a: [1, null] } }

interface Case {
  handler: Handler<typeof example>
  contract?: Partial<Parameters<typeof defineJob>[0]>
  /** What happens to the row before it is claimed: then only drain can run it. */
  before?: string
  /** Needs a database. */
  isStored?: boolean
}

const example = defineJob({ type: 'example', queue: queues.main, payload: z.any() })

const throwing =
  (thrown: unknown): Case['handler'] =>
  () => {
    throw thrown
  }

const never = () => new Promise<never>(() => {})
const cyclic: Record<string, unknown> = {}
cyclic.self = cyclic

/** The first time; afterwards it rests, or a worker would run it for ever. */
function onlyOnce(handler: Case['handler']): Case['handler'] {
  const seen = new Set<string>()
  return (given, ctx) => {
    if (seen.has(ctx.jobId)) return snooze('1h')
    seen.add(ctx.jobId)
    return handler(given, ctx)
  }
}

let millrace: Millrace
let pool: pg.Pool

const cases: Record<string, Case> = {
  'returns an object': { handler: (given) => ({ z: 1, bb: given, at: new Date(0) }) },
  'returns nothing': { handler: () => undefined },
  'returns null': { handler: () => null },
  'returns what its schema changes': {
    contract: { result: z.object({ n: z.number().transform((n) => n + 1) }) },
    handler: () => ({ n: 1, unknown: true }),
  },
  'gets what its schema makes of the payload': {
    contract: { payload: z.object({ n: z.number().transform((n) => new Date(n)) }) },
    handler: ({ n }) => ({ isDate: n instanceof Date, keys: Object.keys(payload.nested) }),
  },
  'returns what does not fit its schema': { contract: { result: z.object({ n: z.number() }) }, handler: () => 'no' },
  'returns too much': { handler: () => 'x'.repeat(70_000) },
  'returns what is not JSON': { handler: () => ({ big: 1n }) },
  'returns what Postgres cannot store': { handler: () => 'nul \u0000' },
  'ignores what it returns for ever': { contract: { retention: 'none' }, handler: () => 'gone' },
  'is kept for long': { contract: { retention: 'long' }, handler: () => 'kept' },
  'dies with retention none': { contract: { retention: 'none' }, handler: throwing(new Unrecoverable('no')) },
  snoozes: { handler: () => snooze('90s') },
  cancels: { handler: () => cancel('not needed') },
  discards: { handler: () => discard('hopeless') },
  throws: { handler: throwing(new TypeError('no route')) },
  'throws text': { handler: throwing('text \u0000 \ud800') },
  'throws nothing': { handler: throwing(undefined) },
  'throws what cannot be printed': { handler: throwing(cyclic) },
  'throws on its last attempt': { contract: { retry: { attempts: 1 } }, handler: throwing(new Error('last')) },
  'may be dropped': {
    contract: { retry: { attempts: 1, onExhausted: 'drop' } },
    handler: throwing(new Error('unimportant')),
  },
  'gives up': {
    contract: { retry: { backoff: fixed('1h'), giveUpAfter: '30m' } },
    handler: throwing(new Error('late')),
  },
  'has a backoff that throws nonsense': {
    contract: { retry: { backoff: () => Number.NaN } },
    handler: throwing(new Error('nan')),
  },
  'throws Unrecoverable': { handler: throwing(new Unrecoverable('card was stolen')) },
  'throws RetryAfter': { handler: throwing(new RetryAfter('2m')) },
  'throws LeaseLost': { handler: onlyOnce(throwing(new LeaseLost('it says'))) },
  'times out and throws': {
    contract: { timeout: '60ms' },
    handler: (_, ctx) =>
      new Promise((_, reject) => ctx.signal.addEventListener('abort', () => reject(new Error('stop')))),
  },
  'times out and returns all the same': {
    contract: { timeout: '60ms' },
    handler: (_, ctx) => new Promise((resolve) => ctx.signal.addEventListener('abort', () => resolve('late'))),
  },
  'times out on its last attempt': {
    contract: { timeout: '60ms', retry: { attempts: 1 } },
    handler: (_, ctx) => new Promise((resolve) => ctx.signal.addEventListener('abort', () => resolve('late'))),
  },
  'never returns': { contract: { timeout: '60ms' }, handler: never },
  'logs and throws': {
    handler: (_, ctx) => {
      ctx.log.info({ step: 1 }, 'looking')
      ctx.log.error({ step: 2 }, 'not found')
      throw new Error('gone')
    },
  },
  'was asked to stop before it ran': {
    before: 'update millrace.job set cancel_requested_at = created_at where id = $1',
    handler: () => 'never called',
  },
  'has a payload that no longer fits': {
    contract: { payload: z.object({ n: z.number() }) },
    before: `update millrace.job set payload = '{"n": "old"}' where id = $1`,
    handler: () => 'never called',
  },
  'has crashed before': {
    before: 'update millrace.job set crashes = 1 where id = $1',
    handler: throwing(new Error('again')),
  },
  'enqueues another job': {
    isStored: true,
    handler: async (_, ctx) => {
      await millrace.enqueue(child, {}, { createdBy: ctx.type })
    },
  },
  'calls through a closed breaker': { handler: (_, ctx) => ctx.breaker('healthy', () => 'called') },
  'fails at a breaker': { handler: (_, ctx) => ctx.breaker('ailing', throwing(new Error('unwell')) as never) },
  'meets an open breaker': { isStored: true, handler: (_, ctx) => ctx.breaker('tripped', () => 'never called') },
  'has a fallback for an open breaker': {
    isStored: true,
    handler: (_, ctx) => ctx.breaker('tripped', () => 'never called', { fallback: () => 'instead' }),
  },
  'does something once': {
    isStored: true,
    handler: (_, ctx) => ctx.once(ctx.jobId, () => ({ done: true })),
  },
  'completes in a transaction': {
    isStored: true,
    handler: (_, ctx) => ctx.transaction(async (tx) => (await tx.query('select 41 + 1 as answer')).rows[0]),
  },
  'snoozes in a transaction': { isStored: true, handler: (_, ctx) => ctx.transaction(async () => snooze('5m')) },
  'throws in a transaction': {
    isStored: true,
    handler: (_, ctx) =>
      ctx.transaction(async () => {
        throw new Error('rolled back')
      }),
  },
  'returns the wrong thing from a transaction': {
    isStored: true,
    contract: { result: z.object({ n: z.number() }) },
    handler: (_, ctx) => ctx.transaction(async () => 'no' as never),
  },
  'completes in a transaction of its own': { isStored: true, handler: (_, ctx) => inOwn(ctx, 'commit') },
  'rolls back the transaction it completed in': { isStored: true, handler: (_, ctx) => inOwn(ctx, 'rollback') },
}

async function inOwn(ctx: Parameters<Case['handler']>[1], end: 'commit' | 'rollback'): Promise<void> {
  const client = await pool.connect()
  await client.query('begin')
  await ctx.complete(client, { done: true })
  await client.query(end)
  client.release()
}

const implementations = new Map<string, Implementation>(
  Object.entries(cases).map(([name, { contract, handler }]) => {
    const type = name.replaceAll(' ', '-')
    const definition = { type, queue: queues.main, payload: z.any(), ...contract }
    const retry = { backoff: fixed('45s'), ...contract?.retry }
    return [name, implement(defineJob({ ...definition, retry } as never) as JobContract, handler as never)]
  }),
)
const all = [...implementations.values()]

const options = { correlationId: 'c-1', tenant: 'acme', createdBy: 'a test', traceParent: '00-a-b-01', priority: 3 }

const tables = {
  job: 'id = $1 or parent_job_id = $1',
  job_archive: 'id = $1',
  job_attempt: 'job_id = $1',
  dead_letter_jobs: 'job_id = $1',
}

/** Everything the database holds about a job, without what is different by nature: ids, stack frames, durations. */
async function rowsOf(id: string): Promise<Record<string, unknown[]>> {
  const found: Record<string, unknown[]> = {}
  for (const [table, condition] of Object.entries(tables)) {
    const query = `select to_jsonb(t) as row from millrace.${table} t where ${condition} order by t`
    const { rows } = await pool.query<{ row: unknown }>(query, [id])
    found[table] = rows.map(({ row }) => comparable(row))
  }
  return found
}

function comparable(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (key, each) => {
    if (each === null) return each
    if (/^(id|job_id|jobId|run_id|runId|worker_id|parent_job_id|job)$/.test(key) && typeof each !== 'object') return key
    if (/^(stack|error_stack)$/.test(key)) return String(each).split('\n')[0]
    return key === 'ms' ? 0 : each
  })
}

const plain = ({ logs, ...report }: RunReport) =>
  comparable({ ...report, logs: logs.map(({ level, message }) => ({ level, message })) })

let database: TestDatabase
const real = new Map<string, Record<string, unknown[]>>()

async function enqueue(name: string): Promise<string> {
  const { contract } = implementations.get(name) as Implementation
  const { id } = await millrace.enqueueByType(contract.type, payload, options)
  const { before } = cases[name] as Case
  if (before !== undefined) await pool.query(before, [id])
  return id
}

/** All cases at once, by a worker. */
async function runByWorker(): Promise<void> {
  const ids = new Map<string, string>()
  for (const name of Object.keys(cases)) ids.set(name, await enqueue(name))
  const open = new Set(ids.values())
  const done = new Promise<void>((resolve) => {
    for (const event of ['job_completed', 'job_cancelled', 'job_snoozed', 'job_retry_scheduled', 'job_died'] as const) {
      millrace.events.on(event, ({ job }) => {
        open.delete(job.id)
        if (open.size === 0) resolve()
      })
    }
  })
  const worker = await millrace.work({ handlers: all, gracePeriod: 0 })
  await done
  await worker.stop()
  for (const [name, id] of ids) real.set(name, await rowsOf(id))
}

beforeAll(async () => {
  database = await freshDatabase()
  pool = new pg.Pool({ connectionString: database.url, max: 4 })
  pool.on('error', () => {})
  millrace = createMillrace({
    database: database.url,
    jobs: [...all.map(({ contract }) => contract), child],
    logger: silent,
    clock,
  })
  await millrace.breakers.trip('tripped', { by: 'a test', for: '90s' })
  await millrace.breakers.configure('ailing', { by: 'a test', failures: 1_000 })
  await runByWorker()
})

afterAll(async () => {
  await millrace.close()
  await pool.end()
  await database.drop()
})

describe.each(Object.keys(cases))('a job that %s', (name) => {
  const { before, isStored } = cases[name] as Case
  const implementation = implementations.get(name) as Implementation

  test('leaves the same rows when drain runs it', async () => {
    const id = await enqueue(name)
    const runs = await drain(millrace, [implementation])
    expect(runs.map(({ job }) => job.id)).toContain(id)
    expect(await rowsOf(id)).toEqual(real.get(name))
  })

  test.runIf(before === undefined)('leaves the same rows when runJob runs it', async () => {
    const { job, outcome } = await runJob(implementation, payload, { ...options, millrace })
    if (outcome === 'returned') await drain(millrace, [implementation])
    expect(await rowsOf(job.id)).toEqual(real.get(name))
  })

  test.runIf(before === undefined && !isStored)('reports the same without a database', async () => {
    const stored = await runJob(implementation, payload, { ...options, millrace })
    if (stored.outcome === 'returned') await drain(millrace, [implementation])
    const again = implement(implementation.contract, cases[name]?.handler as never)
    expect(plain(await runJob(again, payload, { ...options, clock }))).toEqual(plain(stored))
  })
})
