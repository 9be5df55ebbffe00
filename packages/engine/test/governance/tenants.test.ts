import { defineJob, defineQueues, implement, TenantLimitReached, TenantSuspended } from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { systemClock } from '#src/clock'
import { Registry } from '#src/contract/registry'
import { Housekeeper } from '#src/maintenance/housekeeper'
import { Database } from '#src/store/db'
import { eventually, jobEvent, setup, signal } from '../support/setup.ts'

const queues = defineQueues({
  free: {},
  warned: { tenantJobs: { max: 5 } },
  exact: { tenantJobs: { max: 20, over: 'reject' } },
  deferred: { tenantJobs: { max: 3, over: 'defer' } },
})
const payload = z.object({ n: z.number() })
const free = defineJob({ type: 'free', queue: queues.free, payload })
const warned = defineJob({ type: 'warned', queue: queues.warned, payload })
const exact = defineJob({ type: 'exact', queue: queues.exact, payload })
const deferred = defineJob({ type: 'deferred', queue: queues.deferred, payload })
const jobs = [free, warned, exact, deferred]
const words = { by: 'the test', reason: 'unpaid' }
const numbered = (count: number) => Array.from({ length: count }, (_, n) => ({ n }))

describe('a tenant', () => {
  test('is registered when it first has a job', async () => {
    await using t = await setup()
    const millrace = t.client(jobs)
    await millrace.enqueue(free, { n: 1 }, { tenant: 'new' })
    expect(await millrace.tenants.get('new')).toMatchObject({
      status: 'active',
      weight: 1,
      minSlots: 0,
      maxSlots: null,
    })
    expect((await millrace.tenants.list()).map(({ name }) => name)).toEqual(['new'])
  })

  test('that is suspended gets no jobs, its waiting ones are held, and its running ones go back', async () => {
    await using t = await setup()
    const aborted = signal<unknown>()
    let starts = 0
    const handler = implement(free, async (_, ctx) => {
      if (ctx.tenant !== 'x' || starts++ > 0) return
      await new Promise((_, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)))
    })
    const { millrace, worker } = await t.working([handler, implement(warned, () => {}), implement(exact, () => {})])
    const running = await millrace.enqueue(free, { n: 1 }, { tenant: 'x' })
    await eventually(async () => (await millrace.job(running.id))?.status === 'processing')
    millrace.events.on('job_returned', () => aborted.resolve(undefined))
    await millrace.tenants.suspend('x', words)
    await expect(millrace.enqueue(free, { n: 2 }, { tenant: 'x' })).rejects.toThrow(TenantSuspended)
    await expect(millrace.enqueue(free, { n: 2 }, { tenant: 'x' })).rejects.toThrow(/unpaid/)
    await eventually(async () => (await millrace.job(running.id))?.status === 'pending')
    expect((await millrace.job(running.id))?.attempt).toBe(0)
    const other = await millrace.enqueue(free, { n: 3 }, { tenant: 'y' })
    await jobEvent(millrace, 'job_completed', other.id)
    expect((await millrace.job(running.id))?.status).toBe('pending')
    await millrace.tenants.resume('x', words)
    await jobEvent(millrace, 'job_completed', running.id)
    expect(worker.isReady).toBe(true)
  })

  test('that another process suspended is refused within a second', async () => {
    await using t = await setup()
    const here = t.client(jobs)
    await here.enqueue(free, { n: 1 }, { tenant: 'x' })
    await t.client(jobs).tenants.suspend('x', words)
    await eventually(async () => {
      try {
        await here.enqueue(free, { n: 1 }, { tenant: 'x' })
        return false
      } catch (error) {
        return error instanceof TenantSuspended
      }
    }, 5_000)
  })

  test('that is deleted loses its waiting jobs, and its running ones are asked to stop', async () => {
    await using t = await setup()
    const handler = implement(free, (_, ctx) => {
      return new Promise((_, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)))
    })
    const { millrace } = await t.working([handler], { concurrency: { free: 1 } })
    const [first] = await millrace.enqueueMany(free, numbered(4), { tenant: 'x' })
    await eventually(async () => (await millrace.job(first?.id as string))?.status === 'processing')
    expect(await millrace.tenants.delete('x', words)).toMatchObject({ status: 'deleted', cancelled: 3, requested: 1 })
    await eventually(async () => (await millrace.job(first?.id as string))?.status === 'cancelled')
    expect(await t.sql('select distinct reason from millrace.job_archive')).toEqual([
      { reason: 'tenant "x" was deleted: unpaid' },
    ])
    await expect(millrace.enqueue(free, { n: 1 }, { tenant: 'x' })).rejects.toThrow(/deleted/)
  })

  test('is not limited without saying who decides', async () => {
    await using t = await setup()
    const millrace = t.client([free])
    const { name } = free.queue
    await expect(millrace.tenants.limit('x', name, { jobs: 1, over: 'warn' }, { by: '' })).rejects.toThrow(
      /`by` is missing/,
    )
    await expect(millrace.tenants.unlimit('x', name, { by: '' })).rejects.toThrow(/`by` is missing/)
    expect(await millrace.audit.list()).toEqual([])
  })

  test('that is deleted keeps nothing that comes back later', async () => {
    await using t = await setup()
    const release = signal()
    const { millrace } = await t.working([
      implement(free, async () => {
        await release.promise
        throw new Error('again')
      }),
    ])
    const { id } = await millrace.enqueue(free, { n: 1 }, { tenant: 'x' })
    await eventually(async () => (await millrace.job(id))?.status === 'processing')
    await t.sql(`update millrace.tenant set status = 'deleted' where name = 'x'`)
    release.resolve()
    // The worker's own housekeeping, which begins when it starts, may cancel it before this look.
    await eventually(async () => ['failed', 'cancelled'].includes((await millrace.job(id))?.status ?? ''))
    const db = new Database({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections: 1 })
    const housekeeper = new Housekeeper({ db, clock: systemClock, registry: new Registry([free]) })
    await housekeeper.tick()
    expect(await millrace.job(id)).toMatchObject({ status: 'cancelled', reason: 'its tenant was deleted' })
    await db.close()
  })

  test('is refused a share that makes no sense', async () => {
    await using t = await setup()
    const { tenants } = t.client(jobs)
    await expect(tenants.set('x', { weight: 0 }, words)).rejects.toThrow(/from 1/)
    await expect(tenants.set('x', { weight: 2_000 }, words)).rejects.toThrow(/1000/)
    await expect(tenants.set('', { weight: 2 }, words)).rejects.toThrow(/name/)
    await expect(tenants.suspend('x', { by: '' })).rejects.toThrow(/by/)
  })
})

describe('the jobs a tenant may have in a queue', () => {
  test('warn: one more is queued with a warning and an event', async () => {
    await using t = await setup()
    const millrace = t.client(jobs)
    const events: unknown[] = []
    millrace.events.on('job_limit_warning', (event) => events.push(event))
    for (let n = 0; n < 5; n++)
      expect(await millrace.enqueue(warned, { n }, { tenant: 'x' })).toMatchObject({ status: 'queued', warnings: [] })
    expect(await millrace.enqueue(warned, { n: 5 }, { tenant: 'x' })).toMatchObject({
      status: 'queued',
      warnings: [{ code: 'tenant_limit', message: 'tenant "x" has more than its 5 jobs in queue "warned"' }],
    })
    expect(await millrace.enqueue(warned, { n: 5 }, { tenant: 'y' })).toMatchObject({ warnings: [] })
    expect(events).toEqual([{ tenant: 'x', queue: 'warned', jobs: 6, limit: 5, createdBy: null }])
    const many = await millrace.enqueueMany(warned, numbered(7), { tenant: 'z' })
    expect(many.map((each) => each.status === 'queued' && each.warnings.length)).toEqual([0, 0, 0, 0, 0, 1, 1])
  })

  test('reject: exactly so many, however many enqueue at once', async () => {
    await using t = await setup()
    const clients = [t.client(jobs), t.client(jobs)]
    const results = await Promise.allSettled(
      numbered(60).map(({ n }) => (clients[n % 2] as (typeof clients)[0]).enqueue(exact, { n }, { tenant: 'x' })),
    )
    const refused = results.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
    expect(refused).toHaveLength(40)
    expect(refused.every((error) => error instanceof TenantLimitReached)).toBe(true)
    expect(await t.sql('select count(*)::int from millrace.job')).toEqual([{ count: 20 }])
  })

  test('reject: counts what runs, and lets others in when it is done', async () => {
    await using t = await setup()
    const release = signal()
    const { millrace } = await t.working([implement(exact, () => release.promise)])
    await millrace.enqueueMany(exact, numbered(20), { tenant: 'x' })
    await eventually(async () => (await t.sql(`select 1 from millrace.job where status = 'processing'`)).length === 10)
    await expect(millrace.enqueue(exact, { n: 1 }, { tenant: 'x' })).rejects.toThrow(TenantLimitReached)
    release.resolve()
    await eventually(async () => (await t.sql('select 1 from millrace.job')).length === 0)
    expect((await millrace.enqueue(exact, { n: 1 }, { tenant: 'x' })).status).toBe('queued')
  })

  test('reject: in the caller’s transaction, and given back when that is rolled back', async () => {
    await using t = await setup()
    const millrace = t.client(jobs)
    const tx = await t.pool.connect()
    await tx.query('begin')
    await millrace.enqueueMany(exact, numbered(20), { tenant: 'x', tx })
    await expect(millrace.enqueue(exact, { n: 1 }, { tenant: 'x', tx })).rejects.toThrow(TenantLimitReached)
    await tx.query('rollback')
    tx.release()
    expect((await millrace.enqueue(exact, { n: 1 }, { tenant: 'x' })).status).toBe('queued')
  })

  test('defer: more of them are written, and wait until the tenant has fewer', async () => {
    await using t = await setup()
    const release: (() => void)[] = []
    const { millrace } = await t.working([
      implement(deferred, () => new Promise<void>((resolve) => release.push(resolve))),
    ])
    const results = await millrace.enqueueMany(deferred, numbered(5), { tenant: 'x' })
    expect(results.map(({ status }) => status)).toEqual(['queued', 'queued', 'queued', 'deferred', 'deferred'])
    expect(await millrace.enqueue(deferred, { n: 1 }, { tenant: 'y' })).toMatchObject({ status: 'queued' })
    await eventually(async () => release.length === 4)
    const last = results[4]?.id as string
    expect((await millrace.job(last))?.status).toBe('blocked')
    expect((await millrace.explain(last)).reasons).toMatchObject([{ mechanism: 'tenant' }])
    for (const next of release.splice(0)) next()
    await eventually(async () => release.length === 2)
    for (const next of release.splice(0)) next()
    await jobEvent(millrace, 'job_completed', last)
  })

  test('are set for one tenant at run time, above what the queue says', async () => {
    await using t = await setup()
    const millrace = t.client(jobs)
    await millrace.tenants.limit('x', 'free', { jobs: 1, over: 'reject' }, words)
    await millrace.enqueue(free, { n: 1 }, { tenant: 'x' })
    await expect(millrace.enqueue(free, { n: 1 }, { tenant: 'x' })).rejects.toThrow(TenantLimitReached)
    expect((await millrace.enqueue(free, { n: 1 }, { tenant: 'y' })).status).toBe('queued')
  })

  test('and taken back: what the queue says holds again', async () => {
    await using t = await setup()
    const millrace = t.client(jobs)
    await millrace.tenants.limit('x', 'free', { jobs: 0, over: 'reject' }, words)
    await expect(millrace.enqueue(free, { n: 1 }, { tenant: 'x' })).rejects.toThrow(TenantLimitReached)
    expect(await millrace.tenants.unlimit('x', 'free', words)).toBe(true)
    expect((await millrace.enqueue(free, { n: 1 }, { tenant: 'x' })).status).toBe('queued')
    expect(await millrace.tenants.limits('x')).toEqual([])
    expect(
      await t.sql(`select actor as by, tenant, target from millrace.audit_log where action = 'tenant.unlimit'`),
    ).toEqual([{ by: words.by, tenant: 'x', target: 'free' }])
    expect(await millrace.tenants.unlimit('x', 'free', words)).toBe(false)
  })
})
