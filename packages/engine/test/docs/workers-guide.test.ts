// The examples of the guide to operating a worker are taken out of it, type-checked and run.
import { hostname } from 'node:os'
import { defineJob, defineQueues, implement, type Millrace } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { examplesOf } from '../support/guide.ts'
import { eventually, setup, signal } from '../support/setup.ts'

test('the examples pass the type checker', async () => {
  await using guide = await examplesOf('operating-a-worker.md')
  expect(await guide.complaints()).toBe('')
})

test('the workers of a machine are quieted, and what they run is named', async () => {
  await using t = await setup()
  await using guide = await examplesOf('operating-a-worker.md')
  const { quietHost } = await guide.load<{
    quietHost: (millrace: Millrace, host: string, by: string) => Promise<string[]>
  }>('quiet-worker.ts')
  const task = defineJob({ type: 'task', queue: defineQueues({ a: {} }).a, payload: z.object({}) })
  const release = signal()
  const { millrace, worker } = await t.working([implement(task, () => release.promise)])
  const { id } = await millrace.enqueue(task, {})
  await eventually(async () => (await millrace.workers.get(worker.id))?.report?.running === 1)
  const asked = millrace.events.next('worker_asked', ({ request }) => request !== null)
  expect(await quietHost(millrace, hostname(), 'ann')).toEqual([id])
  expect((await asked).request?.reason).toBe(`${hostname()} is taken out of service`)
  release.resolve()
})

test('a queue in which a job has been due for long is found', async () => {
  await using t = await setup()
  await using guide = await examplesOf('operating-a-worker.md')
  const { lateQueues } = await guide.load<{ lateQueues: (millrace: Millrace, ms: number) => Promise<string[]> }>(
    'late-queues.ts',
  )
  const task = defineJob({ type: 'task', queue: defineQueues({ slow: {} }).slow, payload: z.object({}) })
  const millrace = t.client([task])
  await millrace.enqueue(task, {}, { runAt: new Date(Date.now() - 120_000) })
  expect(await lateQueues(millrace, 60_000)).toEqual(['slow'])
  expect(await lateQueues(millrace, 600_000)).toEqual([])
})

test('types that took too long from due to the end of their first attempt are found', async () => {
  await using t = await setup()
  await using guide = await examplesOf('operating-a-worker.md')
  const { slowTypes } = await guide.load<{ slowTypes: (millrace: Millrace, ms: number) => Promise<string[]> }>(
    'slow-types.ts',
  )
  await t.sql(`
    insert into millrace.metric_minute
    values (date_trunc('minute', now()), 'a', 'task', 'completed', 1, 8, '{0,0,0,0,0,0,1}', 1, '{1}', 9, '{0,0,0,0,0,0,0,1}')`)
  expect(await slowTypes(t.client([]), 5)).toEqual(['task'])
  expect(await slowTypes(t.client([]), 50)).toEqual([])
})

test('what is not well is told in sentences', async () => {
  await using t = await setup()
  await using guide = await examplesOf('operating-a-worker.md')
  const { complaints } = await guide.load<{ complaints: (millrace: Millrace) => Promise<string[]> }>('complaints.ts')
  expect(await complaints(t.client([]))).toContainEqual(expect.stringMatching(/^degraded: No worker runs\. Start one/))
})
