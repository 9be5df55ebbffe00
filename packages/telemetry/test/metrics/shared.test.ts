import { defineBudget, defineJob, defineLimit, defineQueues, defineService, implement } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { scrape, setup, valuesOf } from '../support/setup.ts'

const budget = defineBudget('ai', { limit: 5_000_000, per: 'month', unit: 'microdollars' })
const limit = defineLimit('screenshots', { running: 3 })
const gateway = defineService('gateway')
const queues = defineQueues({ bulk: { title: 'BULK' }, low: {} })
const payload = z.object({})
const tag = defineJob({ type: 'tag', queue: queues.bulk, payload, budget, limits: [limit], services: [gateway] })
const sweep = defineJob({ type: 'sweep', queue: queues.low, payload, retry: { attempts: 1 } })

const tagged = implement(tag, async (_, ctx) => {
  await ctx.budget?.spend(1_250_000)
})
const swept = implement(sweep, () => {
  throw new Error('never')
})
const idle = [implement(tag, () => {}), implement(sweep, () => {})]

test('depth is exported by queue, type and status, with the age of the oldest that is due', async () => {
  await using t = await setup()
  const { millrace, metrics } = await t.process(idle, { works: false })
  await millrace.enqueueMany(tag, [{}, {}])
  await millrace.enqueue(tag, {}, { delay: '1h' })
  await millrace.enqueue(sweep, {})
  await t.pool.query(`update millrace.job set run_at = run_at - interval '90 s' where type = 'tag'`)
  await millrace.pauses.pause({ queue: 'low' }, { by: 'ann', reason: 'a test' })
  await metrics.refresh()
  const page = await scrape(metrics)
  expect(Object.fromEntries(valuesOf(page, 'millrace_queue_jobs', { type: 'tag' }))).toEqual({
    ...{ 'BULK tag due': 2, 'BULK tag scheduled': 1, 'BULK tag blocked': 0, 'BULK tag processing': 0 },
  })
  const [[, ageS] = []] = valuesOf(page, 'millrace_queue_oldest_ready_age_seconds', { type: 'tag' })
  expect(ageS).toBeGreaterThan(89)
  expect(ageS).toBeLessThan(150)
  expect(valuesOf(page, 'job_queue_backlog_total')).toEqual([
    ['BULK', 2],
    ['low', 1],
  ])
  expect(valuesOf(page, 'queue_depth')).toEqual([
    ['BULK', 3],
    ['low', 1],
  ])
  expect(valuesOf(page, 'millrace_queue_paused')).toEqual([
    ['BULK', 0],
    ['low', 1],
  ])
  expect(page.families.get('job_queue_backlog_total')?.type).toBe('gauge')
  expect(page.openFamilies.get('job_queue_backlog_total')?.samples[0]?.name).toBe('job_queue_backlog_total')
})

test('dead letters, permits, breakers and spending are exported', async () => {
  await using t = await setup()
  const { millrace, metrics } = await t.process([tagged, swept])
  const ids = [await millrace.enqueue(sweep, {}), await millrace.enqueue(tag, {}), await millrace.enqueue(tag, {})]
  await Promise.all(ids.map(({ id }) => millrace.result(id)))
  await millrace.breakers.trip('gateway', { by: 'ann' })
  await metrics.refresh()
  const page = await scrape(metrics)
  expect(valuesOf(page, 'dlq_depth')).toEqual([['', 1]])
  expect(valuesOf(page, 'millrace_dead_letters', { type: 'sweep' })).toEqual([['low sweep', 1]])
  expect(valuesOf(page, 'millrace_semaphore_permits')).toEqual([['screenshots', 3]])
  expect(valuesOf(page, 'millrace_semaphore_permits_in_use')).toEqual([['screenshots', 0]])
  expect(valuesOf(page, 'millrace_breaker_state')).toEqual([['gateway', 2]])
  expect(valuesOf(page, 'millrace_breaker_trips_total')).toEqual([['gateway', 1]])
  expect(valuesOf(page, 'millrace_budget_spent')).toEqual([['ai microdollars', 2_500_000]])
  expect(valuesOf(page, 'millrace_budget_limit')).toEqual([['ai microdollars', 5_000_000]])
  expect(valuesOf(page, 'job_budget_consumed_dollars')).toEqual([['tag', 2.5]])
  expect(page.families.get('job_budget_consumed_dollars')?.type).toBe('counter')
  expect(page.openFamilies.get('job_budget_consumed_dollars')?.type).toBe('unknown')
  expect(valuesOf(page, 'millrace_queue_concurrency_limit')).toEqual([
    ['BULK', 10],
    ['low', 10],
  ])
})

test('slots, memory, heartbeat and build of the process are exported', async () => {
  await using t = await setup()
  const { metrics } = await t.process([tagged], { metrics: { process: '2' } })
  const page = await scrape(metrics)
  expect(valuesOf(page, 'millrace_worker_slots')).toEqual([['bulk', 10]])
  expect(valuesOf(page, 'millrace_worker_slots_in_use')).toEqual([['bulk', 0]])
  expect(valuesOf(page, 'millrace_lane_utilization')).toEqual([['bulk', 0]])
  const [[process, ratio] = []] = valuesOf(page, 'millrace_worker_memory_ratio')
  expect(process).toBe('2')
  expect(ratio).toBeGreaterThan(0)
  expect(ratio).toBeLessThan(1)
  const [[, beat] = []] = valuesOf(page, 'millrace_worker_heartbeat_timestamp_seconds')
  expect(Math.abs(Date.now() / 1_000 - (beat ?? 0))).toBeLessThan(10)
  expect(valuesOf(page, 'millrace_event_loop_lag_seconds')).toHaveLength(1)
  expect(valuesOf(page, 'millrace_build_info')).toHaveLength(1)
})

test('one process of all exports what the database knows, and another one when that has stopped', async () => {
  await using t = await setup()
  const first = await t.process(idle, { works: false })
  const second = await t.process(idle, { works: false })
  await first.millrace.enqueue(sweep, {})
  await Promise.all([first.metrics.refresh(), second.metrics.refresh()])
  const depths = async () =>
    Promise.all(
      [first, second].map(async ({ metrics }) => valuesOf(await scrape(metrics), 'queue_depth', { queue: 'low' })),
    )
  const before = await depths()
  expect(before.flat()).toEqual([['low', 1]])
  const holder = before[0]?.length === 1 ? first : second
  const other = holder === first ? second : first
  await holder.metrics.stop()
  await other.metrics.refresh()
  expect(valuesOf(await scrape(other.metrics), 'queue_depth', { queue: 'low' })).toEqual([['low', 1]])
})

test('a duty whose holder is gone is taken over when its lease has run out, and not before', async () => {
  await using t = await setup()
  await t.pool.query(`insert into millrace.duty values ('metrics', 'a dead process', now() + interval '1 h')`)
  const { metrics } = await t.process(idle, { works: false })
  await metrics.refresh()
  expect(valuesOf(await scrape(metrics), 'queue_depth')).toEqual([])
  await t.pool.query(`update millrace.duty set until = now()`)
  await metrics.refresh()
  expect(valuesOf(await scrape(metrics), 'queue_depth')).toHaveLength(2)
})

test('tenants with most jobs have a label, the rest are other, and jobs without a tenant have an empty one', async () => {
  await using t = await setup()
  const { millrace, metrics } = await t.process(idle, { works: false, metrics: { maxTenants: 2 } })
  for (const [tenant, jobs] of [
    ['a', 4],
    ['b', 3],
    ['c', 2],
    ['d', 1],
  ] as const)
    await millrace.enqueueMany(sweep, new Array(jobs).fill({}), { tenant })
  await millrace.enqueueMany(sweep, [{}, {}])
  await metrics.refresh()
  const page = await scrape(metrics)
  expect(Object.fromEntries(valuesOf(page, 'org_job_count'))).toEqual({
    ' low': 2,
    'other low': 3,
    'a low': 4,
    'b low': 3,
  })
  expect(Object.fromEntries(valuesOf(page, 'millrace_tenant_jobs', { tenant: 'a' }))).toEqual({ 'low a': 4 })
})

test('a reading that fails is told as a database error, and the page is served without it', async () => {
  await using t = await setup()
  await t.pool.query('drop table millrace.duty')
  const { millrace, metrics } = await t.process(idle, { works: false })
  expect(await millrace.events.next('database_error')).toMatchObject({ during: 'read metrics' })
  const page = await scrape(metrics)
  expect(valuesOf(page, 'queue_depth')).toEqual([])
  expect(valuesOf(page, 'millrace_build_info')).toHaveLength(1)
})
