import { defineJob, defineLimit, defineQueues, defineService, implement, JobNotFound } from 'millrace'
import { fakeClock } from 'millrace/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { eventually, setup, signal } from '../support/setup.ts'

const queues = defineQueues({ a: { concurrency: 2 } })
const payload = z.object({ n: z.number() })
const few = defineLimit('few', { running: 1 })
const hourly = defineLimit('hourly', { rate: '1/hour' })
const mail = defineService('mail', {})
const plain = defineJob({ type: 'plain', queue: queues.a, payload })
const limited = defineJob({ type: 'limited', queue: queues.a, payload, limits: [few] })
const rated = defineJob({ type: 'rated', queue: queues.a, payload, limits: [hourly] })
const served = defineJob({ type: 'served', queue: queues.a, payload, services: [mail] })
const jobs = [plain, limited, rated, served]
const words = { by: 'the test' }

async function working() {
  const t = await setup()
  const release = signal()
  const handlers = jobs.map((job) => implement(job, () => release.promise))
  const { millrace } = await t.working(handlers)
  const isRunning = (id: string) => eventually(async () => (await millrace.job(id))?.status === 'processing')
  return {
    ...t,
    millrace,
    release,
    isRunning,
    [Symbol.asyncDispose]() {
      release.resolve()
      return t[Symbol.asyncDispose]()
    },
  }
}

describe('why a job does not run', () => {
  test('a job that ended, one that runs, and one that never was', async () => {
    await using t = await working()
    const { id } = await t.millrace.enqueue(plain, { n: 1 })
    await t.isRunning(id)
    expect((await t.millrace.explain(id)).summary).toMatch(/^It is running: attempt 1, since .* on worker /)
    await t.millrace.cancel(id, { by: 'ann', reason: 'no longer wanted' })
    t.release.resolve()
    await eventually(async () => (await t.millrace.job(id))?.finishedAt !== null)
    expect((await t.millrace.explain(id)).summary).toMatch(/^It ended /)
    await expect(t.millrace.explain('99')).rejects.toThrow(JobNotFound)
    await expect(t.millrace.explain('x')).rejects.toThrow(JobNotFound)
  })

  test('its time has not come', async () => {
    await using t = await working()
    const { id } = await t.millrace.enqueue(plain, { n: 1 }, { delay: '1h' })
    const { reasons, summary, expectedAt, job } = await t.millrace.explain(id)
    expect(reasons).toMatchObject([{ mechanism: 'due', until: job.runAt, remedy: `millrace retry ${id}` }])
    expect(summary).toBe(`It is not due before ${job.runAt.toISOString()}.`)
    expect(expectedAt).toEqual(job.runAt)
  })

  test('nobody can run it', async () => {
    await using t = await setup()
    const millrace = t.client([plain, limited])
    const { id } = await millrace.enqueue(plain, { n: 1 })
    expect((await millrace.explain(id)).summary).toBe('No worker is running.')
    await t.client([limited]).work({ handlers: [implement(limited, () => {})] })
    expect((await millrace.explain(id)).summary).toBe('Of 1 running worker none has a handler for type "plain".')
  })

  test('a limit is taken, and by whom', async () => {
    await using t = await working()
    const first = await t.millrace.enqueue(limited, { n: 1 })
    await t.isRunning(first.id)
    const { id } = await t.millrace.enqueue(limited, { n: 2 })
    const { summary, reasons, expectedAt } = await t.millrace.explain(id)
    expect(summary).toBe(`Limit "few" lets 1 run at once, and 1 does, by job ${first.id}.`)
    expect(reasons).toMatchObject([{ mechanism: 'limit', until: null, remedy: 'millrace limits set few --running N' }])
    expect(expectedAt).toBeNull()
  })

  test('a limit that was set at run time for the queue', async () => {
    await using t = await working()
    await t.millrace.limits.set('queue:a', { running: 1 }, words)
    const first = await t.millrace.enqueue(plain, { n: 1 })
    await t.isRunning(first.id)
    const { id } = await t.millrace.enqueue(plain, { n: 2 })
    expect((await t.millrace.explain(id)).summary).toBe(
      `Limit "queue:a" lets 1 run at once, and 1 does, by job ${first.id}.`,
    )
  })

  test('a rate is used up, and when the next may start', async () => {
    await using t = await working()
    const first = await t.millrace.enqueue(rated, { n: 1 })
    await t.isRunning(first.id)
    const { id } = await t.millrace.enqueue(rated, { n: 2 })
    const { summary, reasons, expectedAt } = await t.millrace.explain(id)
    expect(summary).toMatch(/^Limit "hourly" allows 1 per 3600 s, and they are used up; the next may start at /)
    expect(reasons[0]?.mechanism).toBe('rate')
    const inMs = (expectedAt?.getTime() ?? 0) - Date.now()
    expect(inMs).toBeGreaterThan(3_500_000)
    expect(inMs).toBeLessThan(3_730_000)
  })

  test('a tenant holds all it may hold', async () => {
    await using t = await working()
    await t.millrace.tenants.set('x', { maxSlots: 1 }, words)
    const first = await t.millrace.enqueue(plain, { n: 1 }, { tenant: 'x' })
    await t.isRunning(first.id)
    const { id } = await t.millrace.enqueue(plain, { n: 2 }, { tenant: 'x' })
    expect((await t.millrace.explain(id)).summary).toBe(
      'Tenant "x" holds 1 of the 1 slots that it may hold in queue "a" at once.',
    )
  })

  test('a tenant holds all it may hold in this queue', async () => {
    await using t = await working()
    await t.millrace.tenants.set('x', { maxSlots: 2 }, words)
    await t.millrace.tenants.setSlots('x', 'a', { maxSlots: 1 }, words)
    const first = await t.millrace.enqueue(plain, { n: 1 }, { tenant: 'x' })
    await t.isRunning(first.id)
    const { id } = await t.millrace.enqueue(plain, { n: 2 }, { tenant: 'x' })
    expect((await t.millrace.explain(id)).reasons).toMatchObject([
      {
        mechanism: 'share',
        sentence: 'Tenant "x" holds 1 of the 1 slots that it may hold in queue "a" at once.',
        remedy: 'millrace tenants set-slots x a --max-slots N',
      },
    ])
  })

  test('its service is not called', async () => {
    await using t = await setup()
    const millrace = t.client([served])
    // Before the worker starts: one that runs hears of it a moment later.
    await millrace.breakers.trip('mail', { by: 'the test' })
    await millrace.work({ handlers: [implement(served, () => {})] })
    const { id } = await millrace.enqueue(served, { n: 1 })
    const { reasons } = await millrace.explain(id)
    expect(reasons).toMatchObject([{ mechanism: 'breaker' }])
  })

  test('others come first, and of which tenants', async () => {
    await using t = await working()
    await t.millrace.pauses.pause({ queue: 'a' }, { ...words, reason: 'until all are there' })
    for (const tenant of ['x', 'y']) await t.millrace.enqueueMany(plain, [{ n: 1 }, { n: 2 }, { n: 3 }], { tenant })
    await t.millrace.pauses.resume({ queue: 'a' }, words)
    await eventually(async () => (await t.sql(`select 1 from millrace.job where status = 'processing'`)).length === 2)
    const { id } = await t.millrace.enqueue(plain, { n: 4 }, { tenant: 'x' })
    const { summary, reasons, ahead, expectedAt } = await t.millrace.explain(id)
    expect(reasons).toEqual([])
    expect(ahead).toMatchObject({ own: 2, others: [['y', 2]], running: 2, ended: 0 })
    expect(summary).toBe(
      'It waits for a free slot of queue "a", where 2 jobs run. 2 due jobs come first among the jobs of tenant "x"; 1 other tenant has work waiting: "y".',
    )
    expect(expectedAt).toBeNull()
    const told = await t.millrace.explain(id, { tenants: ['x'] })
    expect(told.ahead).toMatchObject({ own: 2, others: [] })
    expect(told.summary).toMatch(/tenant "x"; 1 other tenant has work waiting\.$/)
  })

  test('several things at once: what nobody can wait out comes first', async () => {
    await using t = await setup()
    const clock = fakeClock(new Date())
    const millrace = t.client(jobs, { clock })
    await millrace.breakers.trip('mail', { by: 'the test' })
    const { id } = await millrace.enqueue(served, { n: 1 }, { delay: '1h' })
    const { reasons } = await millrace.explain(id)
    expect(reasons.map(({ mechanism }) => mechanism).slice(-1)).toEqual(['due'])
    expect(reasons.map(({ mechanism }) => mechanism).sort()).toEqual(['breaker', 'due', 'worker'])
  })
})
