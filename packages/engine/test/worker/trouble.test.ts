// Each of these went wrong once.

import { createMillrace, defineJob, defineQueues, implement, WorkerStopping } from 'millrace'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Database } from '#src/store/db'
import { attentive, eventually, jobEvent, setup, shortLease, signal, silent } from '../support/setup.ts'

const queues = defineQueues({ default: {} })
const task = defineJob({ type: 'task', queue: queues.default, payload: z.object({ n: z.number() }) })

describe('many fast lanes', () => {
  test('that prefetch at once do not run out of places on the board', async () => {
    await using t = await setup()
    const many = defineQueues(Object.fromEntries(Array.from({ length: 6 }, (_, i) => [`q${i}`, { concurrency: 20 }])))
    const contracts = Object.values(many).map((queue) =>
      defineJob({ type: `on-${queue.name}`, queue, payload: z.object({}), retention: 'none' }),
    )
    const millrace = t.client(contracts)
    for (const contract of contracts)
      await millrace.enqueueMany(
        contract,
        Array.from({ length: 1_500 }, () => ({})),
      )
    let done = 0
    const all = new Promise<void>((resolve) => millrace.events.on('job_completed', () => ++done === 9_000 && resolve()))
    await millrace.work({ lease: shortLease, handlers: contracts.map((contract) => implement(contract, () => {})) })
    await all
    expect(await t.sql('select from millrace.job')).toEqual([])
  })
})

describe('a database that is slow for a while', () => {
  test('costs no result: a statement that ran into its timeout is tried again', async () => {
    await using t = await setup()
    const [row] = await t.sql<{ name: string }>('select current_database() as name')
    await t.sql(`alter database ${row?.name} set statement_timeout = '300ms'`)
    const { millrace } = await t.working([implement(task, ({ n }) => ({ n }))])
    const blocker = await t.pool.connect()
    await blocker.query(`set statement_timeout = 0; begin; lock table millrace.job_archive in access exclusive mode`)
    const failed = millrace.events.next('database_error', ({ during }) => during === 'settle')
    const { id } = await millrace.enqueue(task, { n: 7 })
    const completed = jobEvent(millrace, 'job_completed', id)
    await failed
    await blocker.query('commit')
    blocker.release()
    await completed
    expect(await millrace.job(id)).toMatchObject({ status: 'completed', attempt: 1, result: { n: 7 }, reason: null })
  })

  test('does not keep stop() from ending soon after the grace period', async () => {
    await using t = await setup()
    const { worker } = await t.working([implement(task, () => {})], { gracePeriod: '100ms' })
    const blocker = await t.pool.connect()
    await blocker.query('begin; lock table millrace.job in access exclusive mode')
    await t.sql(`select pg_notify('millrace_pulse', 'w:default')`)
    const startedAt = performance.now()
    await worker.stop()
    expect(performance.now() - startedAt).toBeLessThan(12_000)
    await blocker.query('commit')
    blocker.release()
  })
})

describe('an outcome that Postgres refuses', () => {
  test('costs the job an attempt and comes back slowly, instead of running for ever', async () => {
    await using t = await setup()
    await t.sql(`alter table millrace.job_archive add constraint never check (type <> 'task')`)
    const { millrace } = await t.working([implement(task, () => 'ok')])
    const { id } = await millrace.enqueue(task, { n: 1 })
    const event = await jobEvent(millrace, 'job_retry_scheduled', id)
    expect(event).toMatchObject({ delayMs: 60_000, failure: { class: 'Unrecordable' } })
    expect(await millrace.job(id)).toMatchObject({ status: 'failed', attempt: 1 })
  })

  test('of an orphan does not keep the other orphans from their rescue', async () => {
    await using t = await setup()
    const millrace = t.client([task])
    const [poison, innocent] = await millrace.enqueueMany(task, [{ n: 1 }, { n: 2 }])
    await t.sql(`alter table millrace.job_archive add constraint never check (id <> ${poison?.id})`)
    await t.sql(
      `update millrace.job set status = 'processing', attempt = 1, run_id = gen_random_uuid(), worker_id = gen_random_uuid()`,
    )
    await t.sql(`update millrace.job set crashes = 2 where id = ${poison?.id}`)
    await millrace.work({ lease: shortLease, handlers: [implement(task, () => 'ok')] })
    await eventually(async () => (await t.sql(`select from millrace.job where status = 'processing'`)).length === 0)
    const waiting = await t.sql<{ wait: number }>(
      'select extract(epoch from run_at - now())::int as wait from millrace.job where id = $1',
      [innocent?.id],
    )
    expect(waiting.every((row) => row.wait <= 60)).toBe(true)
  })
})

describe('suspects', () => {
  test('follow one another without a pause', async () => {
    await using t = await setup()
    const millrace = t.client([task])
    await millrace.enqueueMany(
      task,
      Array.from({ length: 30 }, (_, n) => ({ n })),
    )
    await t.sql('update millrace.job set crashes = 1')
    let done = 0
    const all = new Promise<void>((resolve) => millrace.events.on('job_completed', () => ++done === 30 && resolve()))
    const startedAt = performance.now()
    await millrace.work({ lease: shortLease, handlers: [implement(task, () => {})] })
    await all
    // One a second was what went wrong; this bound is far from both.
    expect(performance.now() - startedAt).toBeLessThan(15_000)
  })
})

describe('a job given back at shutdown', () => {
  test('is announced to workers that sleep', async () => {
    await using t = await setup()
    const first = await t.working(
      [
        implement(
          task,
          (_, ctx) => new Promise((_, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason))),
        ),
      ],
      { gracePeriod: 0 },
    )
    const { id } = await first.millrace.enqueue(task, { n: 1 })
    await jobEvent(first.millrace, 'job_started', id)
    const second = t.client([task])
    const listening = second.events.next('listen_trusted', ({ isTrusted }) => isTrusted)
    await second.work({ lease: attentive, handlers: [implement(task, () => 'second')] })
    await listening
    const completed = jobEvent(second, 'job_completed', id)
    await first.millrace.close()
    await completed
    expect(await second.job(id)).toMatchObject({ result: 'second', attempt: 1 })
  })
})

describe('a process that lost its lease once', () => {
  test('rescues again afterwards', async () => {
    await using t = await setup()
    const { millrace } = await t.working([implement(task, () => {})])
    const lost = millrace.events.next('lease_lost')
    await t.sql('update millrace.worker set ended_at = now()')
    await lost
    const rescued = millrace.events.next('job_rescued')
    await t.client([task]).enqueue(task, { n: 1 }, { delay: '1h' })
    await t.sql(
      `update millrace.job set status = 'processing', attempt = 1, run_id = gen_random_uuid(), worker_id = gen_random_uuid()`,
    )
    expect(await rescued).toMatchObject({ outcome: 'requeued' })
  })
})

describe('connections', () => {
  test('that are all busy are waited for, and not mistaken for a server out of reach', async () => {
    await using t = await setup()
    const db = new Database({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections: 1 })
    const release = signal()
    const busy = db.transaction(() => release.promise, 60_000)
    await expect(db.run('queueCounts', [null], { deadlineMs: 50 })).rejects.toThrow(/for a free connection/)
    const waiting = db.run('queueCounts', [null])
    release.resolve()
    await busy
    expect(await waiting).toEqual([])
    await db.close()
  })

  test('given with a function that is not their password cannot be handed to the pulse thread, and are refused', async () => {
    await using t = await setup()
    const url = new URL(t.url)
    const database = {
      host: url.hostname,
      port: Number(url.port),
      user: url.username,
      ssl: { checkServerIdentity: () => undefined },
      database: 'x',
    }
    await using millrace = createMillrace({ database, jobs: [task], logger: silent })
    await expect(millrace.work({ handlers: [implement(task, () => {})] })).rejects.toThrow(/as plain data/)
  })

  test('are cancelled on the server when a deadline is missed', async () => {
    await using t = await setup()
    const db = new Database({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections: 1 })
    await expect(db.execute('select pg_sleep(60)', 100)).rejects.toThrow(/within 100 ms/)
    await eventually(async () => {
      const rows = await t.sql(
        `select from pg_stat_activity where datname = current_database() and query like '%pg_sleep(60)' and state = 'active' and pid <> pg_backend_pid()`,
      )
      return rows.length === 0
    })
    await db.close()
  })
})

describe('closing', () => {
  test('while a worker is starting leaves no worker behind', async () => {
    await using t = await setup()
    const millrace = t.client([task])
    const starting = millrace.work({ lease: shortLease, handlers: [implement(task, () => {})] })
    await millrace.close()
    await expect(starting).rejects.toBeInstanceOf(WorkerStopping)
    expect(await t.sql('select from millrace.worker where ended_at is null')).toEqual([])
  })

  test('ends a handler transaction that would go on for minutes', async () => {
    await using t = await setup()
    const { millrace } = await t.working(
      [implement(task, (_, ctx) => ctx.transaction((tx) => tx.query('select pg_sleep(600)')))],
      { gracePeriod: 0 },
    )
    const { id } = await millrace.enqueue(task, { n: 1 })
    await jobEvent(millrace, 'job_started', id)
    const startedAt = performance.now()
    await millrace.close()
    expect(performance.now() - startedAt).toBeLessThan(15_000)
  })
})

describe("a program's own habits", () => {
  test('a changed type parser, a listener that rejects and an odd log line do not break the engine', async () => {
    await using t = await setup()
    const original = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ)
    pg.types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, (text) => text)
    try {
      const { millrace } = await t.working([
        implement(task, (_, ctx) => {
          ctx.log.info({}, Object.create(null) as never)
          throw new Error('x')
        }),
      ])
      const warned = new Promise((resolve) => process.once('warning', resolve))
      millrace.events.on('job_started', async () => {
        throw new Error('a listener that rejects')
      })
      const { id } = await millrace.enqueue(task, { n: 1 })
      await jobEvent(millrace, 'job_retry_scheduled', id)
      expect(await warned).toMatchObject({ message: 'a listener that rejects' })
      expect((await millrace.job(id))?.createdAt).toBeInstanceOf(Date)
    } finally {
      pg.types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, original as never)
    }
  })
})
