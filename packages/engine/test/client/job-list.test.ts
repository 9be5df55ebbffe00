import { defineJob, defineQueues, implement, type JobStatus } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { jobEvent, setup } from '../support/setup.ts'

const queues = defineQueues({ mail: {}, reports: {} })
const payload = z.object({ n: z.number() })
const letter = defineJob({ type: 'letter', queue: queues.mail, payload, retry: { attempts: 2 } })
const report = defineJob({ type: 'report', queue: queues.reports, payload })

async function filled() {
  const t = await setup()
  const { millrace, worker } = await t.working([
    implement(letter, async ({ n }) => {
      if (n === 2) throw new Error('no stamp')
      return n
    }),
  ])
  const done = async (n: number, event: 'job_completed' | 'job_retry_scheduled') => {
    const { id } = await millrace.enqueue(letter, { n }, { tenant: `tenant-${n}`, delay: '1h' })
    const seen = jobEvent(millrace, event, id)
    await millrace.runNow(id, { by: 'ann' })
    await seen
    return id
  }
  const completed = await done(1, 'job_completed')
  const failed = await done(2, 'job_retry_scheduled')
  await worker.stop()
  const { id: cancelled } = await millrace.enqueue(letter, { n: 3 })
  await millrace.cancel(cancelled, { by: 'ann' })
  const office = t.client([report])
  const { id: pending } = await office.enqueue(report, { n: 4 }, { correlationId: 'month-end' })
  return { t, millrace, ids: { completed, failed, cancelled, pending } }
}

test('jobs are listed newest first, live and archived together, page by page', async () => {
  const { t, millrace, ids } = await filled()
  await using _ = t
  const all = [ids.pending, ids.cancelled, ids.failed, ids.completed]
  expect((await millrace.jobs()).map(({ id }) => id)).toEqual(all)
  const first = await millrace.jobs({ limit: 3 })
  expect(first.map(({ id }) => id)).toEqual(all.slice(0, 3))
  expect((await millrace.jobs({ before: first[2]?.id ?? '' })).map(({ id }) => id)).toEqual(all.slice(3))
})

test('each filter finds what it names', async () => {
  const { t, millrace, ids } = await filled()
  await using _ = t
  const statuses = ['completed', 'failed', 'cancelled', 'pending'] as const satisfies JobStatus[]
  for (const status of statuses)
    expect((await millrace.jobs({ status })).map(({ id, status: shown }) => [id, shown])).toEqual([
      [ids[status], status],
    ])
  expect(await millrace.jobs({ status: 'dead' })).toEqual([])
  expect((await millrace.jobs({ queue: 'reports' })).map(({ id }) => id)).toEqual([ids.pending])
  expect((await millrace.jobs({ type: 'letter', tenant: 'tenant-1' })).map(({ id }) => id)).toEqual([ids.completed])
  expect((await millrace.jobs({ correlationId: 'month-end' })).map(({ id }) => id)).toEqual([ids.pending])
})

test('a page that cannot be is refused', async () => {
  await using t = await setup()
  const millrace = t.client([letter])
  await expect(millrace.jobs({ limit: 0 })).rejects.toThrow(/limit is 0/)
  await expect(millrace.jobs({ before: 'last' })).rejects.toThrow(/before is "last"/)
})
