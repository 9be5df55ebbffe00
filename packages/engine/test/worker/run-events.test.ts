import { type CountedJobs, defineJob, defineQueues, implement, type MillraceEvents } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { setup } from '../support/setup.ts'

const queues = defineQueues({ work: { retry: { attempts: 2, backoff: () => 0 } } })
const job = defineJob({
  type: 'job',
  queue: queues.work,
  payload: z.object({ failures: z.number() }),
  dedupe: { key: ({ failures }: { failures: number }) => (failures === 99 ? 'same' : undefined) },
})
const handled = implement(job, ({ failures }, ctx) => {
  if (ctx.attempt <= failures) throw new Error(`attempt ${ctx.attempt}`)
})

test('every failed attempt is told, with whether there will be another, and every success', async () => {
  await using t = await setup()
  const { millrace } = await t.working([handled])
  const failed: MillraceEvents['job_failed'][] = []
  const succeeded: MillraceEvents['job_succeeded'][] = []
  millrace.events.on('job_failed', (event) => failed.push(event))
  millrace.events.on('job_succeeded', (event) => succeeded.push(event))
  const [once, always] = await millrace.enqueueMany(job, [{ failures: 1 }, { failures: 5 }])
  await Promise.all([once, always].map((each) => millrace.result(each?.id ?? '')))
  const shown = failed.map(({ job: { id, attempt }, failure, willRetry }) => [id, attempt, failure.message, willRetry])
  expect(shown).toHaveLength(3)
  expect(shown).toEqual(
    expect.arrayContaining([
      [once?.id, 1, 'attempt 1', true],
      [always?.id, 1, 'attempt 1', true],
      [always?.id, 2, 'attempt 2', false],
    ]),
  )
  expect(succeeded.map(({ job: { id, attempt } }) => [id, attempt])).toEqual([[once?.id, 2]])
  for (const { durationMs, ageMs } of [...failed, ...succeeded]) {
    expect(durationMs).toBeGreaterThanOrEqual(0)
    expect(ageMs).toBeGreaterThanOrEqual(durationMs)
  }
})

test('a start says how long the job had been due', async () => {
  await using t = await setup()
  const late = t.client([job])
  await late.enqueue(job, { failures: 0 }, { runAt: new Date(Date.now() - 60_000) })
  const started = new Promise<MillraceEvents['job_started']>((resolve) => {
    late.events.on('job_started', resolve)
  })
  await t.sql(`update millrace.job set created_at = now() - interval '2 min', run_at = now() - interval '1 min'`)
  await using _ = await late.work({ handlers: [handled] })
  expect((await started).waitMs).toBeGreaterThan(59_000)
})

test('jobs that are written and waiting jobs that are cancelled are counted by type and tenant', async () => {
  await using t = await setup()
  const millrace = t.client([job])
  const enqueued: CountedJobs[] = []
  const cancelled: CountedJobs[] = []
  millrace.events.on('jobs_enqueued', (count) => enqueued.push(count))
  millrace.events.on('jobs_cancelled', (count) => cancelled.push(count))
  const of = (tenant: string | null, count: number) => ({ queue: 'work', type: 'job', tenant, count })

  const { id } = await millrace.enqueue(job, { failures: 0 })
  await millrace.enqueueMany(job, [{ failures: 0 }, { failures: 1 }], { tenant: 'acme' })
  const client = await t.pool.connect()
  try {
    await client.query('begin')
    await millrace.enqueue(job, { failures: 0 }, { tx: client })
    await client.query('commit')
  } finally {
    client.release()
  }
  expect(enqueued).toEqual([of(null, 1), of('acme', 2), of(null, 1)])
  await millrace.cancel(id, { by: 'ann' })
  await millrace.cancel(id, { by: 'ann' })
  expect(cancelled).toEqual([of(null, 1)])
})

test('a duplicate is not counted as enqueued', async () => {
  await using t = await setup()
  const millrace = t.client([job])
  const counts: number[] = []
  millrace.events.on('jobs_enqueued', ({ count }) => counts.push(count))
  expect((await millrace.enqueue(job, { failures: 99 })).status).toBe('queued')
  expect((await millrace.enqueue(job, { failures: 99 })).status).toBe('duplicate')
  expect(counts).toEqual([1])
})
