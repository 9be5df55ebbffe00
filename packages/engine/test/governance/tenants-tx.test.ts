// tenants.* in a transaction of the caller: what it changes holds exactly if it commits.
import { DatabaseConflict, defineJob, defineQueues, implement, TenantLimitReached, TenantSuspended } from 'millrace'
import type pg from 'pg'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { systemClock } from '#src/clock'
import { Registry } from '#src/contract/registry'
import { Housekeeper } from '#src/maintenance/housekeeper'
import { Database } from '#src/store/db'
import { eventually, jobEvent, type Setup, setup } from '../support/setup.ts'

const queues = defineQueues({ work: {}, deferred: { tenantJobs: { max: 1, over: 'defer' } } })
const payload = z.object({})
const job = defineJob({ type: 'job', queue: queues.work, payload })
const deferred = defineJob({ type: 'deferred', queue: queues.deferred, payload })
const by = 'the test'

async function inTransaction(t: Setup, end: 'commit' | 'rollback', work: (tx: pg.PoolClient) => Promise<unknown>) {
  const tx = await t.pool.connect()
  try {
    await tx.query('begin')
    await work(tx)
    await tx.query(end)
  } finally {
    tx.release(true)
  }
}

const actions = async (t: Setup) =>
  (await t.sql<{ action: string }>('select action from millrace.audit_log order by id')).map(({ action }) => action)

test('a tenant is registered, limited and given its first job in one transaction', async () => {
  await using t = await setup()
  const millrace = t.client([job], { maxConnections: 1 })
  const signUp = async (tx: pg.PoolClient) => {
    await tx.query('savepoint mine')
    expect(await millrace.tenants.set('new', { weight: 3 }, { by, tx })).toMatchObject({ name: 'new', weight: 3 })
    await millrace.tenants.limit('new', 'work', { jobs: 1, over: 'reject' }, { by, tx })
    await millrace.enqueue(job, {}, { tx, tenant: 'new' })
    await tx.query('savepoint taken')
    await expect(millrace.enqueue(job, {}, { tx, tenant: 'new' })).rejects.toBeInstanceOf(TenantLimitReached)
    await tx.query('rollback to savepoint taken')
  }
  await inTransaction(t, 'rollback', signUp)
  expect(await millrace.tenants.list()).toEqual([])
  expect(await actions(t)).toEqual([])
  await inTransaction(t, 'commit', signUp)
  expect(await millrace.tenants.get('new')).toMatchObject({ weight: 3, updatedBy: by })
  expect(await millrace.tenants.limits('new')).toMatchObject([{ queue: 'work', jobs: 1 }])
  expect(await millrace.jobs()).toHaveLength(1)
  expect(await actions(t)).toEqual(['tenant.set', 'tenant.limit'])
})

test('a registration that is rolled back is not remembered: the next enqueue registers the tenant', async () => {
  await using t = await setup()
  const millrace = t.client([job])
  await inTransaction(t, 'rollback', async (tx) => {
    await tx.query('savepoint mine')
    await millrace.tenants.set('new', {}, { by, tx })
    await millrace.enqueue(job, {}, { tx, tenant: 'new' })
  })
  await millrace.enqueue(job, {}, { tenant: 'new' })
  expect(await millrace.tenants.get('new')).toMatchObject({ status: 'active', updatedBy: null })
})

test('workers hear of a suspension and its end when the transaction commits', async () => {
  await using t = await setup()
  let starts = 0
  await t.working([
    implement(job, async (_, ctx) => {
      if (starts++ > 0) return
      await new Promise((_, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)))
    }),
  ])
  const millrace = t.client([job])
  const { id } = await millrace.enqueue(job, {}, { tenant: 'x' })
  await eventually(async () => starts === 1)
  const suspend = async (tx: pg.PoolClient) => {
    expect(await millrace.tenants.suspend('x', { by, reason: 'unpaid', tx })).toMatchObject({ status: 'suspended' })
    await tx.query('savepoint mine')
    await expect(millrace.enqueue(job, {}, { tx, tenant: 'x' })).rejects.toBeInstanceOf(TenantSuspended)
    await tx.query('rollback to savepoint mine')
  }
  await inTransaction(t, 'rollback', suspend)
  expect(await millrace.job(id)).toMatchObject({ status: 'processing' })
  await inTransaction(t, 'commit', suspend)
  await eventually(async () => (await millrace.job(id))?.status === 'pending')
  await inTransaction(t, 'commit', (tx) => millrace.tenants.resume('x', { by, tx }))
  expect(await millrace.result(id)).toMatchObject({ status: 'completed' })
})

test('deferred jobs are let through when the transaction that raises the limit commits', async () => {
  await using t = await setup()
  const millrace = t.client([deferred])
  await millrace.enqueue(deferred, {}, { tenant: 'x' })
  const { id, status } = await millrace.enqueue(deferred, {}, { tenant: 'x' })
  expect(status).toBe('deferred')
  await inTransaction(t, 'commit', (tx) =>
    millrace.tenants.limit('x', 'deferred', { jobs: 5, over: 'defer' }, { by, tx }),
  )
  const { millrace: working } = await t.working([implement(deferred, () => {})])
  await jobEvent(working, 'job_completed', id)
})

test('a tenant that is deleted in a transaction loses its waiting jobs with the next housekeeping', async () => {
  await using t = await setup()
  const millrace = t.client([job])
  const { id } = await millrace.enqueue(job, {}, { tenant: 'x' })
  const remove = (tx: pg.PoolClient) => millrace.tenants.delete('x', { by, tx })
  await inTransaction(t, 'rollback', remove)
  await millrace.enqueue(job, {}, { tenant: 'x' })
  await inTransaction(t, 'commit', async (tx) =>
    expect(await remove(tx)).toMatchObject({ status: 'deleted', cancelled: 0, requested: 0 }),
  )
  const db = new Database({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections: 1 })
  const housekeeper = new Housekeeper({ db, clock: systemClock, registry: new Registry([job]) })
  expect(await housekeeper.tick()).toMatchObject({ leftoversCancelled: 2 })
  await db.close()
  expect(await millrace.job(id)).toMatchObject({ status: 'cancelled' })
})

const someoneWaits = (t: Setup) =>
  eventually(async () => {
    const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
    return (await t.sql(waiting)).length > 0
  })

test('another change of the same tenant waits for the transaction, and neither is a deadlock', async () => {
  await using t = await setup()
  const millrace = t.client([job])
  await millrace.tenants.set('b', {}, { by })
  let suspended: Promise<unknown> = Promise.resolve()
  await inTransaction(t, 'commit', async (tx) => {
    await millrace.tenants.set('a', { weight: 2 }, { by, tx })
    suspended = millrace.tenants.suspend('b', { by, reason: 'abuse' }).catch((error: unknown) => error)
    await someoneWaits(t)
    await millrace.tenants.set('b', { weight: 2 }, { by, tx })
  })
  expect(await suspended).toMatchObject({ name: 'b', status: 'suspended', weight: 2 })
})

test('a change of rules that waits too long for an open transaction says so, and goes through afterwards', async () => {
  await using t = await setup()
  const millrace = t.client([job])
  const pause = () => millrace.pauses.pause({ queue: 'work' }, { by, reason: 'fire' })
  await inTransaction(t, 'commit', async (tx) => {
    await millrace.tenants.set('a', { weight: 2 }, { by, tx })
    await expect(pause()).rejects.toBeInstanceOf(DatabaseConflict)
  })
  expect(await pause()).toMatchObject({ queue: 'work' })
})
