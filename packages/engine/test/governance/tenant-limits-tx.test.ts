import { defineJob, defineQueues } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { type Setup, setup } from '../support/setup.ts'

const queues = defineQueues({
  warned: { tenantJobs: { max: 2 } },
  deferred: { tenantJobs: { max: 2, over: 'defer' } },
  rejecting: { tenantJobs: { max: 2, over: 'reject' } },
})
const payload = z.object({ n: z.number() })
const warned = defineJob({ type: 'warned', queue: queues.warned, payload })
const deferred = defineJob({ type: 'deferred', queue: queues.deferred, payload })

const rejecting = defineJob({ type: 'rejecting', queue: queues.rejecting, payload })

async function inTransaction(t: Setup, end: 'commit' | 'rollback') {
  const millrace = t.client([warned, deferred])
  const events: unknown[] = []
  millrace.events.on('job_limit_warning', (event) => events.push(event))
  const tx = await t.pool.connect()
  await tx.query('begin')
  const results = []
  for (const job of [deferred, warned])
    for (let n = 0; n < 3; n++) results.push(await millrace.enqueue(job, { n }, { tx, tenant: 'x' }))
  // More than the limit in one call: it needs no look at earlier ones to be too many.
  await millrace.enqueueMany(warned, [{ n: 1 }, { n: 2 }, { n: 3 }], { tx, tenant: 'y' })
  await tx.query(end)
  tx.release()
  return { millrace, events, results }
}

test('an enqueue in a transaction of the caller counts the jobs which that transaction wrote before', async () => {
  await using t = await setup()
  const { results } = await inTransaction(t, 'commit')
  expect(results.map(({ status }) => status)).toEqual(['queued', 'queued', 'deferred', 'queued', 'queued', 'queued'])
  expect(results.slice(3).map((each) => 'warnings' in each && each.warnings.length)).toEqual([0, 0, 1])
})

test('a transaction of the caller that is rolled back has emitted no warning', async () => {
  await using t = await setup()
  const { millrace, events } = await inTransaction(t, 'rollback')
  expect(await millrace.enqueue(deferred, { n: 1 }, { tenant: 'x' })).toMatchObject({ status: 'queued' })
  expect(events).toEqual([])
})

test('an enqueue that fails has emitted no warning', async () => {
  await using t = await setup()
  const millrace = t.client([warned])
  const events: unknown[] = []
  millrace.events.on('job_limit_warning', (event) => events.push(event))
  await millrace.enqueueMany(warned, [{ n: 1 }, { n: 2 }], { tenant: 'x' })
  await t.sql(`alter table millrace.job add constraint none_more check (tenant <> 'x') not valid`)
  await expect(millrace.enqueue(warned, { n: 3 }, { tenant: 'x' })).rejects.toThrow()
  expect(events).toEqual([])
})

test('an enqueue under a limit that rejects waits two seconds at most for another open transaction of the tenant', async () => {
  await using t = await setup()
  const millrace = t.client([rejecting])
  const begun = async () => {
    const tx = await t.pool.connect()
    await tx.query('begin')
    return tx
  }
  const holder = await begun()
  const waiting = await begun()
  await waiting.query(`set local lock_timeout = '30s'`)
  await waiting.query('savepoint mine')
  await millrace.enqueue(rejecting, { n: 1 }, { tx: holder, tenant: 'x' })
  const busy = { code: 'tenant_busy', tenant: 'x', queue: 'rejecting' }
  // Side by side: each waits for two seconds.
  await Promise.all([
    expect(millrace.enqueue(rejecting, { n: 2 }, { tx: waiting, tenant: 'x' })).rejects.toMatchObject(busy),
    expect(millrace.enqueue(rejecting, { n: 3 }, { tenant: 'x' })).rejects.toMatchObject(busy),
  ])
  await waiting.query('rollback to savepoint mine')
  expect((await waiting.query('show lock_timeout')).rows).toEqual([{ lock_timeout: '30s' }])
  await holder.query('commit')
  expect(await millrace.enqueue(rejecting, { n: 2 }, { tx: waiting, tenant: 'x' })).toMatchObject({ status: 'queued' })
  expect((await waiting.query('show lock_timeout')).rows).toEqual([{ lock_timeout: '30s' }])
  await waiting.query('commit')
  for (const tx of [holder, waiting]) tx.release()
})
