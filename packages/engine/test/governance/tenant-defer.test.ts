// What becomes of jobs beyond a tenant's number where the queue defers them.
import { defineJob, defineQueues, type Millrace } from 'millrace'
import type { PoolClient } from 'pg'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Millrace as Client } from '#src/millrace'
import { setup } from '../support/setup.ts'

const queues = defineQueues({ deferred: { tenantJobs: { max: 1, over: 'defer' } }, free: {} })
const payload = z.object({ key: z.string() })
const key = ({ key }: { key: string }) => key
const common = { queue: queues.deferred, payload }
const plain = defineJob({ ...common, type: 'plain' })
const latest = defineJob({ ...common, type: 'latest', dedupe: { key, mode: 'latest' } })
const debounced = defineJob({ ...common, type: 'debounced', dedupe: { key, mode: 'debounce', wait: 0 } })
const ordered = defineJob({ ...common, type: 'ordered', order: { key } })
const strict = defineJob({ ...common, type: 'strict', order: { key, onDead: 'stop' } })
const limited = defineJob({ ...common, type: 'limited', keyLimit: { key, concurrency: 1 } })
const free = defineJob({ ...common, type: 'free', queue: queues.free, order: { key } })
const jobs = [plain, latest, debounced, ordered, strict, limited, free]
const forX = { tenant: 'x' }
const by = { by: 'ann' }

const sweep = (millrace: Millrace) => Client.servicesOf(millrace).admitter.sweepAll()

async function deferring() {
  const t = await setup()
  const millrace = t.client(jobs)
  return {
    ...t,
    millrace,
    /** Of all live jobs by id: the status, or that the job is deferred. */
    statuses: async () => {
      const rows = await t.sql<{ status: string }>(
        `select case when deferred_keys is null then status else 'deferred' end as status from millrace.job order by id`,
      )
      return rows.map(({ status }) => status)
    },
    enqueueAll: async ({ type }: { type: string }, keys: readonly string[]) => {
      const results = []
      for (const each of keys) results.push(await millrace.enqueueByType(type, { key: each }, forX))
      return results
    },
    inTransaction: async <Result>(work: (tx: PoolClient) => Promise<Result>) => {
      const tx = await t.pool.connect()
      try {
        await tx.query('begin')
        const result = await work(tx)
        await tx.query('commit')
        return result
      } finally {
        tx.release()
      }
    },
  }
}

const all = [plain, latest, debounced, ordered, limited]

describe('a tenant’s jobs beyond its number wait', () => {
  test.each(all)('also those of type $type', async (contract) => {
    await using t = await deferring()
    const [first, second] = await t.enqueueAll(contract, ['a', 'b'])
    expect([first?.status, second?.status]).toEqual(['queued', 'deferred'])
    expect(await t.statuses()).toEqual(['pending', 'deferred'])
    expect((await t.millrace.job(second?.id as string))?.status).toBe('blocked')
    await t.millrace.cancel(first?.id as string, by)
    expect(await t.statuses()).toEqual(['pending'])
  })

  test.each(all)('also those of type $type that a transaction of the caller writes', async ({ type }) => {
    await using t = await deferring()
    const results = await t.inTransaction(async (tx) => [
      await t.millrace.enqueueByType(type, { key: 'a' }, { ...forX, tx }),
      await t.millrace.enqueueByType(type, { key: 'b' }, { ...forX, tx }),
    ])
    expect(results.map(({ status }) => status)).toEqual(['queued', 'deferred'])
    await sweep(t.millrace)
    expect(await t.statuses()).toEqual(['pending', 'deferred'])
    await t.millrace.cancel(results[0]?.id as string, by)
    expect(await t.statuses()).toEqual(['pending'])
  })

  test.each([latest, debounced])('and one of type $type that is replaced goes on waiting', async (contract) => {
    await using t = await deferring()
    for (const each of ['a', 'b']) await t.millrace.enqueue(contract, { key: each }, forX)
    expect(await t.millrace.enqueue(contract, { key: 'b' }, forX)).toMatchObject({ status: 'replaced' })
    expect(await t.statuses()).toEqual(['pending', 'deferred'])
  })

  test('and the answers of one call say which do, in whatever order their keys are written', async () => {
    await using t = await deferring()
    const payloads = ['b', 'a', 'b', 'c'].map((each) => ({ key: each }))
    const results = await t.millrace.enqueueMany(latest, payloads, forX)
    const deferred = new Set(results.flatMap(({ id, status }) => (status === 'deferred' ? id : [])))
    const rows = await t.sql<{ id: string }>('select id from millrace.job where deferred_keys is not null order by id')
    expect([...deferred].sort()).toEqual(rows.map(({ id }) => id))
    expect(deferred.size).toBe(2)
  })

  test('however many enqueue at once', async () => {
    await using t = await deferring()
    await t.millrace.tenants.limit('x', 'deferred', { jobs: 3, over: 'defer' }, by)
    const clients = [t.millrace, t.client(jobs)]
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        clients[n % 2]?.enqueueByType(n % 3 ? 'plain' : 'ordered', { key: 'a' }, forX),
      ),
    )
    const statuses = await t.statuses()
    expect(statuses.filter((status) => status !== 'deferred')).toHaveLength(3)
    expect(statuses).toHaveLength(20)
  })

  test('whatever limit is set for the keys of the queue, and explain says so', async () => {
    await using t = await deferring()
    await t.millrace.keys.setLimit({ queue: 'deferred', concurrency: 3 }, by)
    await t.millrace.enqueueMany(plain, [{ key: 'a' }, { key: 'b' }], forX)
    expect(await t.statuses()).toEqual(['pending', 'deferred'])
    const [second] = await t.millrace.jobs({ status: 'blocked' })
    expect((await t.millrace.explain(second?.id as string)).reasons).toContainEqual({
      mechanism: 'tenant',
      sentence: 'Deferred until tenant "x" has fewer than 1 job in queue "deferred".',
      until: null,
      remedy: 'millrace tenants limit x deferred --jobs N --over defer',
    })
  })

  test('and are counted as blocked, once each, with their queue, type and tenant', async () => {
    await using t = await deferring()
    await t.enqueueAll(plain, ['a', 'b'])
    await t.enqueueAll(ordered, ['a', 'a'])
    const [queue] = await t.millrace.queues()
    expect(queue).toMatchObject({ queue: 'deferred', due: 1, blocked: 3 })
    const { types, tenants } = await t.millrace.stats()
    expect(types.find(({ type }) => type === 'plain')).toMatchObject({ waiting: 2, due: 1, blocked: 1 })
    expect(types.find(({ type }) => type === 'ordered')).toMatchObject({ waiting: 2, due: 0, blocked: 2 })
    expect(tenants).toMatchObject([{ queue: 'deferred', tenant: 'x', waiting: 4, blocked: 3 }])
  })

  test.each(['jobs of the tenant', '\u0001jobs of the tenant'])('apart from every limit key: %j', async (name) => {
    await using t = await deferring()
    await t.millrace.tenants.limit('x', 'deferred', { jobs: 2, over: 'defer' }, by)
    await t.enqueueAll(limited, [name])
    await t.enqueueAll(plain, ['a', 'b'])
    expect(await t.statuses()).toEqual(['pending', 'pending', 'deferred'])
  })
})

describe('deferred jobs are let through', () => {
  test('by id and not by priority, so that none of an order key is behind a later one', async () => {
    await using t = await deferring()
    const [first] = await t.enqueueAll(plain, ['a'])
    await t.millrace.enqueue(ordered, { key: 'a' }, forX)
    await t.millrace.enqueue(ordered, { key: 'a' }, { ...forX, priority: 0 })
    await t.millrace.cancel(first?.id as string, by)
    expect(await t.statuses()).toEqual(['pending', 'deferred'])
  })

  test('and then wait for their key like others', async () => {
    await using t = await deferring()
    await t.enqueueAll(ordered, ['a', 'a'])
    await t.enqueueAll(limited, ['a', 'a', 'b'])
    expect(await t.statuses()).toEqual(['pending', ...Array(4).fill('deferred')])
    await t.millrace.tenants.limit('x', 'deferred', { jobs: 9, over: 'defer' }, by)
    expect(await t.statuses()).toEqual(['pending', 'blocked', 'pending', 'blocked', 'pending'])
  })

  test.each([
    ['is raised', (millrace: Millrace) => millrace.tenants.limit('x', 'deferred', { jobs: 2, over: 'defer' }, by), 2],
    [
      'rejects more now',
      (millrace: Millrace) => millrace.tenants.limit('x', 'deferred', { jobs: 2, over: 'reject' }, by),
      2,
    ],
    [
      'only warns now',
      (millrace: Millrace) => millrace.tenants.limit('x', 'deferred', { jobs: 1, over: 'warn' }, by),
      4,
    ],
  ] as const)('when the number %s', async (_, change, live) => {
    await using t = await deferring()
    await t.enqueueAll(plain, ['a', 'b', 'c', 'd'])
    await change(t.millrace)
    expect((await t.statuses()).filter((status) => status === 'pending')).toHaveLength(live)
  })

  test('when the tenant’s own number is taken back, as far as the queue’s allows', async () => {
    await using t = await deferring()
    await t.millrace.tenants.limit('x', 'deferred', { jobs: 0, over: 'defer' }, by)
    await t.millrace.tenants.limit('x', 'free', { jobs: 1, over: 'defer' }, by)
    await t.enqueueAll(plain, ['a', 'b'])
    await t.enqueueAll(free, ['a', 'a', 'b'])
    expect(await t.statuses()).toEqual(['deferred', 'deferred', 'pending', 'deferred', 'deferred'])
    for (const queue of ['deferred', 'free']) await t.millrace.tenants.unlimit('x', queue, by)
    expect(await t.statuses()).toEqual(['pending', 'deferred', 'pending', 'blocked', 'pending'])
  })

  test('however many they are, in transactions of a thousand', async () => {
    await using t = await deferring()
    await t.millrace.tenants.limit('x', 'free', { jobs: 0, over: 'defer' }, by)
    await t.enqueueAll(free, ['a'])
    await t.sql(
      `insert into millrace.job (type, queue, tenant, priority, max_attempts, run_at, created_at, updated_at, payload, status, deferred_keys,
         tenant_jobs)
       select type, queue, tenant, priority, max_attempts, run_at, created_at, updated_at, payload, status, '{NULL,NULL}', tenant_jobs
       from millrace.job cross join generate_series(1, 2500)`,
    )
    await t.millrace.tenants.unlimit('x', 'free', by)
    expect(new Set(await t.statuses())).toEqual(new Set(['pending']))
    const written = await t.sql<{ jobs: number }>('select count(*)::int as jobs from millrace.job group by xmin::text')
    expect(Math.max(...written.map(({ jobs }) => jobs))).toBe(1_000)
  })

  test('by the sweep, if the process that made room died', async () => {
    await using t = await deferring()
    await t.enqueueAll(plain, ['a', 'b'])
    await t.sql('delete from millrace.job where id = (select min(id) from millrace.job)')
    expect(await t.statuses()).toEqual(['deferred'])
    await sweep(t.millrace)
    expect(await t.statuses()).toEqual(['pending'])
  })

  test('before their turn, if the key that holds all places waits for them', async () => {
    await using t = await deferring()
    const [dead] = await t.enqueueAll(strict, ['a', 'a'])
    await t.millrace.fail(dead?.id as string, { reason: 'broken', final: true, ...by })
    const [heir] = await t.enqueueAll(strict, ['a'])
    expect(await t.statuses()).toEqual(['blocked', 'deferred'])
    await t.sql('update millrace.dead_letter_jobs set redriven_job_id = $1 where job_id = $2', [heir?.id, dead?.id])
    await sweep(t.millrace)
    expect(await t.statuses()).toEqual(['blocked', 'pending'])
    await t.millrace.cancel(heir?.id as string, by)
    expect(await t.statuses()).toEqual(['pending'])
  })
})

describe('a deferred job', () => {
  test('that is failed by hand waits for its retry, no longer deferred', async () => {
    await using t = await deferring()
    const [, second] = await t.enqueueAll(ordered, ['a', 'b'])
    expect(await t.millrace.fail(second?.id as string, { reason: 'broken', ...by })).toMatchObject({
      status: 'retrying',
    })
    const rows = await t.sql('select status, order_key, deferred_keys from millrace.job where id = $1', [second?.id])
    expect(rows).toEqual([{ status: 'pending', order_key: 'b', deferred_keys: null }])
  })

  test('that is failed for good by hand leaves a letter with its key', async () => {
    await using t = await deferring()
    const [, second] = await t.enqueueAll(strict, ['a', 'b'])
    await t.millrace.fail(second?.id as string, { reason: 'broken', final: true, ...by })
    expect(await t.millrace.keys.stopped()).toMatchObject([{ key: 'b', jobId: second?.id }])
    expect(await t.statuses()).toEqual(['pending'])
  })

  test('that is cancelled makes no room', async () => {
    await using t = await deferring()
    const [, second] = await t.enqueueAll(plain, ['a', 'b', 'c'])
    await t.millrace.cancel(second?.id as string, by)
    expect(await t.statuses()).toEqual(['pending', 'deferred'])
  })
})
