import { defineJob, defineQueues, InvalidDefinition, implement, type Millrace, type TraceEntry } from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { jobEvent, setup, shortLease, signal } from '../support/setup.ts'

const queues = defineQueues({ default: {} })
const payload = z.object({})
const order = defineJob({ type: 'order', queue: queues.default, payload })
const mail = defineJob({ type: 'mail', queue: queues.default, payload, retry: { attempts: 3, backoff: () => 0 } })
const label = defineJob({ type: 'label', queue: queues.default, payload, retry: { attempts: 2, backoff: () => 0 } })
const pickup = defineJob({ type: 'pickup', queue: queues.default, payload })
const jobs = [order, mail, label, pickup]

/** An order that causes a mail (sent at the second attempt), a label (dies) and a pickup (still running). */
async function placeOrder(millrace: Millrace) {
  const started = signal()
  const release = signal()
  const happened = Promise.all([
    millrace.events.next('job_completed', ({ job }) => job.type === 'order'),
    millrace.events.next('job_completed', ({ job }) => job.type === 'mail'),
    millrace.events.next('job_died'),
    started.promise,
  ])
  const handlers = [
    implement(order, async () => {
      for (const contract of [mail, label, pickup]) await millrace.enqueue(contract, {})
    }),
    implement(mail, (_, ctx) => {
      if (ctx.attempt === 1) throw new TypeError('no connection')
    }),
    implement(label, () => {
      throw new Error('no printer')
    }),
    implement(pickup, () => {
      started.resolve()
      return release.promise
    }),
  ]
  const { id } = await millrace.enqueue(order, {}, { correlationId: 'user-action-123' })
  await millrace.enqueue(order, {}, { correlationId: 'another action', delay: '1d' })
  await millrace.work({ handlers, lease: shortLease })
  await happened
  return { id, release: () => release.resolve() }
}

const types = (found: { type: string }[]) => found.map(({ type }) => type)
const runs = (timeline: TraceEntry[], type: string) =>
  timeline.filter((entry) => entry.event === 'run' && entry.type === type)

test('a job that was given no correlation id shows as job-<id> everywhere, and null is stored', async () => {
  await using t = await setup()
  const millrace = t.client(jobs)
  const { id: waiting } = await millrace.enqueue(order, {}, { delay: '1d' })
  const { id: completed } = await millrace.enqueue(pickup, {})
  const { id: dead } = await millrace.enqueue(label, {})
  const [done, died] = [jobEvent(millrace, 'job_completed', completed), jobEvent(millrace, 'job_died', dead)]
  const failing = implement(label, () => {
    throw new Error('no printer')
  })
  await millrace.work({ handlers: [implement(pickup, () => {}), failing], lease: shortLease })
  expect((await done).job.correlationId).toBe(`job-${completed}`)
  expect((await died).job.correlationId).toBe(`job-${dead}`)

  const shown = (list: readonly string[]) => list.map((id) => ({ id, correlation_id: `job-${id}` }))
  const view = 'select id, correlation_id from millrace.jobs order by id'
  expect(await t.sql(view)).toEqual(shown([waiting, completed, dead]))
  const metrics = 'select id, correlation_id from millrace.job_metrics order by id'
  expect(await t.sql(metrics)).toEqual(shown([completed, dead, dead]))
  // As workers of an older version write it.
  await t.sql('update millrace.job_attempt set correlation_id = null where attempt = 1')
  expect(await t.sql(metrics)).toEqual(shown([completed, dead, dead]))
  expect(await t.sql('select correlation_id from millrace.dead_letter_jobs')).toEqual([
    { correlation_id: `job-${dead}` },
  ])
  const stored = 'select correlation_id from millrace.job union all select correlation_id from millrace.job_archive'
  expect(await t.sql(stored)).toEqual([1, 2, 3].map(() => ({ correlation_id: null })))

  for (const id of [waiting, completed, dead]) {
    expect(await millrace.job(id)).toMatchObject({ correlationId: `job-${id}` })
    expect(await millrace.jobs({ correlationId: `job-${id}` })).toMatchObject([{ id, correlationId: `job-${id}` }])
    expect((await millrace.correlationTrace(`job-${id}`)).jobs).toMatchObject([{ id }])
    expect(await t.sql('select id from millrace.jobs where correlation_id = $1', [`job-${id}`])).toEqual([{ id }])
  }
  expect(await millrace.deadLetters.ofJob(dead)).toMatchObject({ correlationId: `job-${dead}` })
})

describe('jobsByCorrelation', () => {
  test('finds live and archived jobs of that id, and no other, in order of creation', async () => {
    await using t = await setup()
    const millrace = t.client(jobs)
    const { id, release } = await placeOrder(millrace)
    const found = await millrace.jobsByCorrelation('user-action-123')
    expect(types(found.jobs)).toEqual(['order', 'mail', 'label', 'pickup'])
    expect(found.jobs.map((job) => job.status)).toEqual(['completed', 'completed', 'dead', 'processing'])
    expect(found.jobs.slice(1).map((job) => job.parentJobId)).toEqual([id, id, id])
    expect(found.isMore).toBe(false)
    expect(await millrace.job(id)).toMatchObject({ ...found.jobs[0] })
    release()
  })

  test('stops at its limit, and says that there are more', async () => {
    await using t = await setup()
    const millrace = t.client(jobs)
    await millrace.enqueueMany(order, [{}, {}, {}], { correlationId: 'c' })
    const all = await millrace.jobsByCorrelation('c', { limit: 3 })
    expect(all).toMatchObject({ jobs: { length: 3 }, isMore: false })
    expect(await millrace.jobsByCorrelation('c', { limit: 2 })).toEqual({ jobs: all.jobs.slice(0, 2), isMore: true })
    expect(await millrace.correlationTrace('c', { limit: 2 })).toMatchObject({ timeline: { length: 2 }, isMore: true })
  })

  test.each(['unheard of', '', 'nul \u0000', '\ud800'])('finds nothing for %j', async (correlationId) => {
    await using t = await setup()
    const millrace = t.client(jobs)
    await millrace.enqueue(order, {}, { correlationId: 'nul ' })
    expect(await millrace.jobsByCorrelation(correlationId)).toEqual({ jobs: [], isMore: false })
    expect(await millrace.correlationTrace(correlationId)).toEqual({ jobs: [], timeline: [], isMore: false })
  })

  test.each([0, 1_001, 1.5, Number.NaN])('refuses a limit of %s', async (limit) => {
    await using t = await setup()
    const millrace = t.client(jobs)
    await expect(millrace.jobsByCorrelation('c', { limit })).rejects.toThrow(InvalidDefinition)
    await expect(millrace.correlationTrace('c', { limit })).rejects.toThrow(/expected an integer from 1 to 1000/)
  })
})

describe('correlationTrace', () => {
  test('tells every run once, in order of time, each under its job', async () => {
    await using t = await setup()
    const millrace = t.client(jobs)
    const { id, release } = await placeOrder(millrace)
    const { jobs: found, timeline, isMore } = await millrace.correlationTrace('user-action-123')
    expect(isMore).toBe(false)
    expect(types(found)).toEqual(['order', 'mail', 'label', 'pickup'])

    expect(timeline.map(({ at }) => at.getTime())).toEqual(timeline.map(({ at }) => at.getTime()).sort((a, b) => a - b))
    expect(timeline[0]).toMatchObject({ event: 'enqueued', jobId: id, parentJobId: null, type: 'order' })
    expect(timeline.filter(({ event }) => event === 'enqueued')).toHaveLength(4)
    expect(timeline.filter(({ parentJobId }) => parentJobId === id)).toHaveLength(3 + 2 + 2 + 1)

    expect(runs(timeline, 'order')).toMatchObject([{ outcome: 'completed', attempt: 1, errorClass: null }])
    expect(runs(timeline, 'mail')).toMatchObject([
      { outcome: 'failed', attempt: 1, errorClass: 'TypeError', errorMessage: 'no connection' },
      { outcome: 'completed', attempt: 2, errorMessage: null },
    ])
    expect(runs(timeline, 'label')).toMatchObject([
      { outcome: 'failed', attempt: 1 },
      { outcome: 'failed', attempt: 2, errorMessage: 'no printer' },
    ])
    expect(runs(timeline, 'pickup')).toMatchObject([{ outcome: 'running', finishedAt: null, durationMs: null }])
    expect(timeline).toHaveLength(4 + 6)
    release()
  })

  test('says how long a run took, and how long it had waited since it was due', async () => {
    await using t = await setup()
    const millrace = t.client(jobs)
    const { id } = await millrace.enqueue(order, {}, { correlationId: 'c' })
    await t.sql(`update millrace.job set run_at = run_at - interval '1 h', created_at = created_at - interval '10 min'`)
    const completed = jobEvent(millrace, 'job_completed', id)
    await millrace.work({ handlers: [implement(order, () => {})], lease: shortLease })
    await completed
    await t.sql(`update millrace.job_archive set finished_at = started_at + interval '1234 ms'`)
    const [run] = runs((await millrace.correlationTrace('c')).timeline, 'order')
    expect(run).toMatchObject({ outcome: 'completed', durationMs: 1234 })
    const { queueTimeMs } = run as TraceEntry & { queueTimeMs: number }
    // Due when it was enqueued, ten minutes ago: not before there was a job.
    expect(queueTimeMs).toBeGreaterThanOrEqual(600_000)
    expect(queueTimeMs).toBeLessThan(660_000)
  })

  test('tells of a job that was cancelled while it waited', async () => {
    await using t = await setup()
    const millrace = t.client(jobs)
    const { id } = await millrace.enqueue(order, {}, { correlationId: 'c' })
    await millrace.cancel(id, { by: 'ann', reason: 'too late' })
    const { timeline } = await millrace.correlationTrace('c')
    expect(timeline).toMatchObject([
      { event: 'enqueued', jobId: id },
      { event: 'cancelled', jobId: id, reason: 'too late' },
    ])
  })

  test('stops at ten runs per job that was asked for, and says that there are more', async () => {
    await using t = await setup()
    const millrace = t.client(jobs)
    const { id } = await millrace.enqueue(order, {}, { correlationId: 'c' })
    await t.sql(
      `insert into millrace.job_attempt (job_id, attempt, run_id, type, queue, started_at, finished_at, error_class, error_message)
       select $1, n, gen_random_uuid(), 'order', 'default', now(), now(), 'E', 'm' from generate_series(1, 11) as n`,
      [id],
    )
    const { timeline, isMore } = await millrace.correlationTrace('c', { limit: 1 })
    expect(timeline).toHaveLength(1 + 10)
    expect(isMore).toBe(true)
    expect(runs(timeline, 'order')[0]).toMatchObject({ queueTimeMs: null, durationMs: 0 })
    expect((await millrace.correlationTrace('c', { limit: 2 })).isMore).toBe(false)
  })
})
