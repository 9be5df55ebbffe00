import { defineJob, defineQueues, implement, type JobContext, type JobProgress } from 'millrace'
import { runJob } from 'millrace/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { systemClock } from '#src/clock'
import { Registry } from '#src/contract/registry'
import { Housekeeper } from '#src/maintenance/housekeeper'
import { Database } from '#src/store/db'
import { progressWrite } from '#src/store/progress'
import { eventually, setup, signal } from '../support/setup.ts'

const queues = defineQueues({ work: {} })
const task = defineJob({ type: 'task', queue: queues.work, payload: z.looseObject({}), retry: { attempts: 1 } })
const isolated = { isolation: 'process', module: new URL('./fixtures/deeds.js', import.meta.url) } as const

test('the latest of many reports is stored, told and shown, and forgotten when the run has ended', async () => {
  await using t = await setup()
  const gate = signal()
  const { millrace } = await t.working([
    implement(task, async (_, ctx) => {
      for (let done = 0; done <= 1_000; done++) ctx.progress(done, 2_000, 'key password=hunter2hunter2')
      await gate.promise
    }),
  ])
  const events: unknown[] = []
  millrace.events.on('job_progress', (event) => events.push(event))
  const told = millrace.events.next('job_progress')
  const shown = signal<JobProgress>()
  const { id } = await millrace.enqueue(task, {})
  const result = millrace.result(id, { onProgress: shown.resolve })
  const progress = { done: 1_000, total: 2_000, note: expect.not.stringContaining('hunter2') }
  expect(await told).toMatchObject({ job: { id, type: 'task' }, progress })
  expect(await shown.promise).toMatchObject({ ...progress, at: expect.any(Date) })
  expect(await millrace.job(id)).toMatchObject({
    status: 'processing',
    progress: { ...progress, at: expect.any(Date) },
  })
  expect(events).toHaveLength(1)
  gate.resolve()
  expect(await result).toMatchObject({ status: 'completed' })
  expect(await millrace.job(id)).toMatchObject({ status: 'completed', progress: null })
  await eventually(async () => (await t.sql('select from millrace.job_progress')).length === 0)
})

test('an isolated handler reports too', async () => {
  await using t = await setup()
  const { millrace } = await t.working([implement(task, isolated)])
  const told = millrace.events.next('job_progress')
  const { id } = await millrace.enqueue(task, { does: 'progress' })
  expect((await told).progress).toEqual({ done: 1, total: 4, note: 'reading' })
  await millrace.cancel(id, { by: 'test' })
  expect(await millrace.result(id)).toMatchObject({ status: expect.stringMatching('completed|cancelled') })
})

test.each<[string, (ctx: JobContext) => void, string]>([
  ['NaN', (ctx) => ctx.progress(Number.NaN), 'done is NaN'],
  ['a negative number', (ctx) => ctx.progress(-1), 'done is -1'],
  ['no number', (ctx) => ctx.progress('3' as never), 'done is 3'],
  ['an infinite total', (ctx) => ctx.progress(1, Number.POSITIVE_INFINITY), 'total is Infinity'],
  ['more than the total', (ctx) => ctx.progress(3, 2), 'done is 3, and total only 2'],
  ['a note that is no text', (ctx) => ctx.progress(1, 2, 7 as never), 'note is a number'],
])('progress refuses %s', async (_, report, message) => {
  const run = await runJob(
    implement(task, (_payload, ctx) => report(ctx)),
    {},
  )
  expect(run).toMatchObject({ outcome: 'dead', failure: { message: expect.stringContaining(message) } })
})

test('a run that was fenced off stores no progress, and housekeeping forgets what a dead process left', async () => {
  await using t = await setup()
  const gate = signal()
  const started = signal<string>()
  const { millrace } = await t.working([
    implement(task, (_, ctx) => {
      started.resolve(ctx.runId)
      return gate.promise
    }),
  ])
  const { id } = await millrace.enqueue(task, {})
  const runId = await started.promise
  const db = new Database({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections: 1 })
  const report = { id, done: 1, total: null, note: null }
  const other = '00000000-0000-4000-8000-000000000000'
  expect(await progressWrite(db, null, [{ ...report, runId: other }])).toEqual(new Set())
  expect(await progressWrite(db, null, [{ ...report, runId }])).toEqual(new Set([id]))
  await t.sql(`insert into millrace.job_progress values (999, '${other}', 1, null, null, now())`)
  await new Housekeeper({ db, clock: systemClock, registry: new Registry([]) }).tick()
  expect(await t.sql('select job_id from millrace.job_progress')).toEqual([{ job_id: id }])
  gate.resolve()
  await millrace.result(id)
  await db.close()
})
