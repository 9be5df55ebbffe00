import { defineJob, defineQueues, implement, type Millrace } from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { eventually, type Setup, setup, signal } from '../support/setup.ts'

const queues = defineQueues({ shared: { concurrency: 10 }, other: { concurrency: 10 } })
const work = defineJob({ type: 'work', queue: queues.shared, payload: z.object({ n: z.number() }) })
const numbered = (count: number) => Array.from({ length: count }, (_, n) => ({ n }))
const words = { by: 'the test' }

/** Handlers that stay until they are let go; who runs is visible. */
function held() {
  const release = signal()
  const running = new Map<string | null, number>()
  const handler = implement(work, async (_, ctx) => {
    running.set(ctx.tenant, (running.get(ctx.tenant) ?? 0) + 1)
    await release.promise
  })
  const total = () => [...running.values()].reduce((sum, count) => sum + count, 0)
  return { release, running, handler, total }
}

async function backlogs(millrace: Millrace, tenants: Record<string, number>): Promise<void> {
  for (const [tenant, jobs] of Object.entries(tenants)) await millrace.enqueueMany(work, numbered(jobs), { tenant })
}

const startOrder = async (t: Setup): Promise<string[]> =>
  (await t.sql<{ tenant: string }>('select tenant from millrace.job_archive order by started_at, id')).map(
    ({ tenant }) => tenant,
  )

describe('tenants share the slots of a queue', () => {
  test('equally, however much one of them has waiting', async () => {
    await using t = await setup()
    const { handler, running, total, release } = held()
    const millrace = t.client([work])
    await backlogs(millrace, { big: 2_000, a: 5, b: 5, c: 5 })
    await millrace.work({ handlers: [handler] })
    await eventually(async () => total() === 10)
    expect([...running.values()].sort()).toEqual([2, 2, 3, 3])
    release.resolve()
  })

  test('by weight', async () => {
    await using t = await setup()
    const { handler, running, total, release } = held()
    const millrace = t.client([work])
    await millrace.tenants.set('gold', { weight: 3 }, words)
    await backlogs(millrace, { gold: 100, a: 100, b: 100 })
    await millrace.work({ handlers: [handler] })
    await eventually(async () => total() === 10)
    expect(running.get('gold')).toBe(6)
    release.resolve()
  })

  test('so that whoever is alone has them all', async () => {
    await using t = await setup()
    const { handler, running, total, release } = held()
    const millrace = t.client([work])
    await backlogs(millrace, { a: 30 })
    await millrace.work({ handlers: [handler] })
    await eventually(async () => total() === 10)
    expect(running.get('a')).toBe(10)
    release.resolve()
  })

  test('up to a maximum, also when slots stay free', async () => {
    await using t = await setup()
    const { handler, running, release } = held()
    const millrace = t.client([work])
    await millrace.tenants.set('capped', { maxSlots: 3 }, words)
    await backlogs(millrace, { capped: 50, a: 2 })
    await millrace.work({ handlers: [handler] })
    await eventually(async () => running.get('capped') === 3 && running.get('a') === 2)
    expect(await t.sql(`select count(*)::int from millrace.job where status = 'processing'`)).toEqual([{ count: 5 }])
    release.resolve()
  })

  test('with jobs without tenant as one of them', async () => {
    await using t = await setup()
    const { handler, running, total, release } = held()
    const millrace = t.client([work])
    await backlogs(millrace, { a: 100 })
    await millrace.enqueueMany(work, numbered(100))
    await millrace.work({ handlers: [handler] })
    await eventually(async () => total() === 10)
    expect(running.get(null)).toBe(5)
    release.resolve()
  })

  test('and a tenant that comes last does not wait for the backlog of another', async () => {
    await using t = await setup()
    const millrace = t.client([work])
    await backlogs(millrace, { big: 3_000 })
    await millrace.work({ handlers: [implement(work, () => {})], concurrency: { shared: 2 } })
    await millrace.enqueue(work, { n: 0 }, { tenant: 'small' })
    await eventually(
      async () => (await t.sql(`select 1 from millrace.job_archive where tenant = 'small'`)).length === 1,
    )
    expect((await t.sql('select 1 from millrace.job limit 1')).length).toBe(1)
    await eventually(async () => (await t.sql('select 1 from millrace.job limit 1')).length === 0, 60_000)
    const order = await startOrder(t)
    expect(order).toHaveLength(3_001)
  })

  test('also when there are more of them than one claim looks at', async () => {
    await using t = await setup()
    const millrace = t.client([work])
    await t.sql(
      `insert into millrace.job (type, queue, tenant, priority, max_attempts, run_at, created_at, updated_at, payload)
       select 'work', 'shared', 'tenant ' || i % 300, 5, 1, now(), now(), now(), '{"n": 1}' from generate_series(1, 900) i`,
    )
    await millrace.work({ handlers: [implement(work, () => {})], batchSize: 10 })
    await eventually(async () => (await t.sql('select 1 from millrace.job limit 1')).length === 0, 60_000)
    const order = await startOrder(t)
    expect(order).toHaveLength(900)
    for (const round of [0, 1, 2]) expect(new Set(order.slice(round * 300, (round + 1) * 300)).size).toBe(300)
  })

  test('in order of priority within each of them', async () => {
    await using t = await setup()
    const millrace = t.client([work])
    for (const priority of [9, 1, 5]) await millrace.enqueue(work, { n: priority }, { tenant: 'a', priority })
    const seen: number[] = []
    await millrace.work({ handlers: [implement(work, ({ n }) => void seen.push(n))], concurrency: { shared: 1 } })
    await eventually(async () => seen.length === 3)
    expect(seen).toEqual([1, 5, 9])
  })

  test('and what is due later is neither run nor in the way', async () => {
    await using t = await setup()
    const millrace = t.client([work])
    for (let i = 0; i < 40; i++) await millrace.enqueue(work, { n: 1 }, { tenant: `later ${i}`, delay: '1h' })
    await millrace.enqueue(work, { n: 2 }, { tenant: 'later 3' })
    const soon = await millrace.enqueue(work, { n: 3 }, { tenant: 'soon', delay: '300ms' })
    const seen: number[] = []
    await millrace.work({ handlers: [implement(work, ({ n }) => void seen.push(n))] })
    await eventually(async () => (await millrace.job(soon.id))?.status === 'completed')
    expect(seen).toEqual([2, 3])
  })

  test('also while somebody else holds the rows of the first ones', async () => {
    await using t = await setup()
    const millrace = t.client([work])
    await backlogs(millrace, { a: 5, b: 5 })
    const holder = await t.pool.connect()
    await holder.query('begin')
    await holder.query(`select from millrace.job where tenant = 'a' for update`)
    let runs = 0
    await millrace.work({ handlers: [implement(work, () => void runs++)], concurrency: { shared: 1 } })
    await eventually(async () => runs === 5)
    await holder.query('rollback')
    holder.release()
    await eventually(async () => runs === 10)
  })

  test('exactly once, when several workers hand out the same queue', async () => {
    await using t = await setup()
    const runs = new Map<number, number>()
    const handlers = [implement(work, ({ n }) => void runs.set(n, (runs.get(n) ?? 0) + 1))]
    const millrace = t.client([work])
    for (let tenant = 0; tenant < 20; tenant++)
      await millrace.enqueueMany(
        work,
        Array.from({ length: 50 }, (_, i) => ({ n: tenant * 50 + i })),
        { tenant: `t${tenant}` },
      )
    for (let i = 0; i < 3; i++) await t.client([work]).work({ handlers })
    await eventually(async () => (await t.sql('select 1 from millrace.job limit 1')).length === 0, 60_000)
    expect(runs.size).toBe(1_000)
    expect([...runs.values()].every((count) => count === 1)).toBe(true)
  })
})
