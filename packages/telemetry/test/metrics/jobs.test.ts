import { cancel, defineJob, defineQueues, implement, snooze } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { scrape, setup, valuesOf } from '../support/setup.ts'

const queues = defineQueues({ high: { title: 'HIGH', retry: { attempts: 2, backoff: () => 0 } } })
const email = defineJob({
  type: 'email',
  queue: queues.high,
  payload: z.object({ do: z.enum(['succeed', 'fail once', 'die', 'cancel', 'snooze']) }),
})

const handled = implement(email, (payload, ctx) => {
  if (payload.do === 'fail once' && ctx.attempt === 1) throw new Error('once')
  if (payload.do === 'die') throw new Error('always')
  if (payload.do === 'cancel') return cancel('not needed')
  if (payload.do === 'snooze') return snooze('1h')
})

test('what becomes of jobs is counted under our names and those of the seeds, with the title of the queue', async () => {
  await using t = await setup()
  const { millrace, metrics } = await t.process([handled])
  const snoozed = millrace.events.next('job_snoozed')
  const ids = []
  for (const each of ['succeed', 'succeed', 'fail once', 'die', 'cancel'] as const)
    ids.push((await millrace.enqueue(email, { do: each }, { tenant: 'acme' })).id)
  await millrace.enqueue(email, { do: 'snooze' })
  await Promise.all(ids.map((id) => millrace.result(id)))
  await snoozed
  const page = await scrape(metrics)

  expect(valuesOf(page, 'millrace_jobs_enqueued_total')).toEqual([['HIGH email', 6]])
  expect(Object.fromEntries(valuesOf(page, 'millrace_jobs_finished_total'))).toEqual({
    ...{ 'HIGH email completed': 3, 'HIGH email dead': 1, 'HIGH email failed': 2 },
    ...{ 'HIGH email cancelled': 1, 'HIGH email snoozed': 1 },
  })
  expect(valuesOf(page, 'millrace_job_retries_total')).toEqual([['HIGH email', 2]])
  expect(valuesOf(page, 'job_retry_total', { job_type: 'email', queue: 'HIGH' })).toEqual([['email HIGH', 2]])
  const durations = (status: string) =>
    valuesOf(page, 'job_execution_duration_seconds_count', { job_type: 'email', queue: 'HIGH', status })
  expect(durations('success')).toEqual([['email HIGH success', 3]])
  expect(durations('failure')).toEqual([['email HIGH failure', 3]])
  expect(durations('cancelled')).toEqual([['email HIGH cancelled', 1]])
  expect(valuesOf(page, 'millrace_job_wait_seconds_count')).toEqual([['HIGH email', 6]])
  expect(valuesOf(page, 'millrace_job_end_to_end_seconds_count')).toEqual([['HIGH email', 4]])

  expect(Object.fromEntries(valuesOf(page, 'jobs_enqueued_total'))).toEqual({ 'HIGH email acme': 5, 'HIGH email ': 1 })
  expect(Object.fromEntries(valuesOf(page, 'jobs_completed_total', { org: 'acme' }))).toEqual({
    ...{ 'HIGH email acme success': 3, 'HIGH email acme failure': 1, 'HIGH email acme cancelled': 1 },
  })
  expect(valuesOf(page, 'jobs_duration_seconds_count')).toEqual([['HIGH email', 6]])
})

test('a waiting job that is cancelled counts as cancelled, neither as success nor as failure', async () => {
  await using t = await setup()
  const { millrace, metrics } = await t.process([handled], { works: false })
  const { id } = await millrace.enqueue(email, { do: 'succeed' }, { tenant: 'acme' })
  expect(await millrace.cancel(id, { by: 'ann' })).toBe('cancelled')
  const page = await scrape(metrics)
  expect(Object.fromEntries(valuesOf(page, 'jobs_completed_total'))).toEqual({
    ...{ 'HIGH email acme success': 0, 'HIGH email acme failure': 0, 'HIGH email acme cancelled': 1 },
  })
  expect(valuesOf(page, 'millrace_jobs_finished_total', { outcome: 'cancelled' })).toEqual([
    ['HIGH email cancelled', 1],
  ])
})

test('the series of a declared type exist before its first job', async () => {
  await using t = await setup()
  const { metrics } = await t.process([handled], { works: false })
  const page = await scrape(metrics)
  expect(valuesOf(page, 'millrace_jobs_enqueued_total')).toEqual([['HIGH email', 0]])
  expect(valuesOf(page, 'job_retry_total')).toEqual([['email HIGH', 0]])
})

test('a hundred thousand tenants have no more than 51 labels, and all are counted', async () => {
  await using t = await setup()
  const { millrace, metrics } = await t.process([handled], { works: false })
  for (let i = 0; i < 100_000; i++)
    millrace.events.deliver('jobs_enqueued', { queue: 'high', type: 'email', tenant: `tenant-${i}`, count: 1 })
  const enqueued = valuesOf(await scrape(metrics), 'jobs_enqueued_total')
  expect(enqueued).toHaveLength(51)
  expect(Object.fromEntries(enqueued)['HIGH email other']).toBe(99_950)
  expect(enqueued.reduce((sum, [, value]) => sum + value, 0)).toBe(100_000)
})
