import { defineJob, defineQueues, fixed, implement, Unrecoverable } from 'millrace'
import pg from 'pg'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { planOf } from '../support/plans.ts'
import { eventually, setup, signal } from '../support/setup.ts'

const queues = defineQueues({ mail: { concurrency: 1 }, idle: {} })
const payload = z.object({ n: z.number() })
const retry = { attempts: 3, backoff: fixed('1h') }
const send = defineJob({ type: 'send', queue: queues.mail, payload, retry })
const audit = defineJob({ type: 'audit', queue: queues.mail, payload, order: { key: ({ n }) => `${n}` } })
const rare = defineJob({ type: 'rare', queue: queues.idle, payload })
const words = { by: 'the test', reason: 'a look' }

test('what waits, is due, runs, failed, died and ended is counted by queue and type, idle ones included', async () => {
  await using t = await setup()
  const release = signal()
  const handler = async ({ n }: { n: number }) => {
    if (n === 1) throw new Error('again')
    if (n === 2) throw new Unrecoverable('never')
    if (n === 3) await release.promise
  }
  const { millrace, worker } = await t.working([implement(send, handler), implement(audit, () => {})])
  for (const [n, event] of [['job_completed'], ['job_retry_scheduled'], ['job_died']].entries()) {
    const ended = millrace.events.next(event[0] as 'job_completed')
    await millrace.enqueue(send, { n })
    await ended
  }
  const running = millrace.events.next('job_started')
  await millrace.enqueue(send, { n: 3 })
  await running
  await millrace.enqueue(send, { n: 4 })
  await millrace.enqueue(send, { n: 5 }, { delay: '1h' })
  await millrace.enqueueMany(audit, [{ n: 1 }, { n: 1 }])
  const stats = await t.client([rare]).stats()
  const [first, second, third] = stats.types
  expect(first).toMatchObject({ queue: 'idle', type: 'rare', waiting: 0, due: 0, running: 0, oldestDueAt: null })
  expect(second).toMatchObject({ queue: 'mail', type: 'audit', waiting: 2, due: 1, blocked: 1 })
  expect(third).toMatchObject({
    ...{ queue: 'mail', type: 'send', waiting: 3, due: 1, running: 1, failed: 1, dead: 1, blocked: 0, pauses: [] },
    oldestDueAt: expect.any(Date),
  })
  expect(stats.tenants).toEqual([])
  release.resolve()
  await worker.stop()
  const after = (await millrace.stats()).types.find(({ type }) => type === 'send')
  expect(after?.lastHour).toMatchObject({ failed: 1, dead: 1, cancelled: 0, crashed: 0 })
  expect(after?.lastHour.finished).toBeGreaterThanOrEqual(3)
  expect(after?.lastHour.durationP95Ms).toBeGreaterThan(0)
  expect(after?.lastHour.waitP95Ms).toBeGreaterThan(0)
})

test('tenants are counted by queue, the busiest first, with how long their jobs waited', async () => {
  await using t = await setup()
  const { millrace, worker } = await t.working([implement(send, () => {})])
  const ended = millrace.events.next('job_completed')
  await millrace.enqueue(send, { n: 1 }, { tenant: 'acme' })
  await ended
  await worker.stop()
  await millrace.enqueue(send, { n: 2 }, { tenant: 'acme' })
  await millrace.enqueueMany(send, [{ n: 3 }, { n: 4 }], { tenant: 'zen' })
  await millrace.pauses.pause({ tenant: 'zen' }, words)
  const { tenants, types } = await millrace.stats()
  expect(tenants).toMatchObject([
    { queue: 'mail', tenant: 'zen', waiting: 2, due: 2, running: 0, waitP95Ms: null, pauses: [{ tenant: 'zen' }] },
    { queue: 'mail', tenant: 'acme', waiting: 1, due: 1, waitP95Ms: expect.any(Number), pauses: [] },
  ])
  expect(types).toMatchObject([{ queue: 'mail', type: 'send', waiting: 3, pauses: [] }])
})

test('a pause stands beside the queue and the types that it holds, also of an idle queue', async () => {
  await using t = await setup()
  const millrace = t.client([send, audit, rare])
  await millrace.pauses.pause({ queue: 'idle' }, words)
  await millrace.pauses.pause({ queue: 'mail', type: 'audit' }, words)
  expect(await millrace.queues()).toMatchObject([
    { queue: 'idle', due: 0, scheduled: 0, processing: 0, blocked: 0, pauses: [{ ...words, queue: 'idle' }] },
    { queue: 'mail', pauses: [{ type: 'audit' }] },
  ])
  const { types } = await millrace.stats()
  expect(types.map(({ type, pauses }) => [type, pauses.length])).toEqual([
    ['rare', 1],
    ['audit', 1],
    ['send', 0],
  ])
})

test('a queue that only other programs declare is listed', async () => {
  await using t = await setup()
  await t.client([rare]).work({ handlers: [implement(rare, () => {})] })
  const stranger = t.client([])
  await eventually(async () => (await stranger.queues()).length === 1)
  expect((await stranger.stats()).types).toMatchObject([{ queue: 'idle', type: 'rare' }])
})

test('live jobs are counted in indexes: the table is not read', async () => {
  await using t = await setup()
  await t.sql(`
    insert into millrace.job (type, queue, tenant, priority, max_attempts, run_at, created_at, updated_at, payload)
    select 'type-' || n % 3, 'queue-' || n % 5, case when n % 4 = 0 then 'tenant-' || n % 100 end, 5, 5, now(), now(), now(),
      jsonb_build_object('text', repeat('x', 200))
    from generate_series(1, 20000) as n`)
  await t.sql('vacuum analyze millrace.job')
  const client = new pg.Client({ connectionString: t.url })
  await client.connect()
  try {
    for (const [statement, values] of [
      ['statsLive', [null, 50]],
      ['queueCounts', [null]],
    ] as const)
      expect((await planOf(client, statement, values)).scans, statement).not.toContain('job')
  } finally {
    await client.end()
  }
})
