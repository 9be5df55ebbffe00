import { defineJob, defineQueues, implement, Unrecoverable } from 'millrace'
import { jobInState } from 'millrace/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { setup as base } from './support/setup.ts'

const queues = defineQueues({ beds: {} })
const nap = defineJob({ type: 'nap', queue: queues.beds, payload: z.object({}) })
const idle = defineJob({ type: 'idle', queue: queues.beds, payload: z.object({}) })
const setup = () => base({ jobs: [nap, idle] })

test('a change of many jobs is shown first, asked about, made, listed and taken back', async () => {
  await using t = await setup()
  await t.millrace.enqueueMany(nap, [{}, {}, {}], { delay: '1h' })
  await t.millrace.work({ handlers: [implement(idle, () => 1)] })
  const unasked = await t.run('prioritise', '--where', 'type:nap', '1')
  expect(unasked.out).toMatch(/^QUEUE +TYPE +WILL CHANGE\nbeds +nap +3\n/)
  expect(unasked).toMatchObject({ code: 1, err: expect.stringContaining('Nothing was changed. Pass --yes') })
  const done = await t.run('prioritise', '--where', 'type:nap', '1', '--yes', '--by', 'ann')
  expect(done.out).toContain('Operation 1 is completed: 3 jobs changed, 0 done already, 0 refused.')
  expect((await t.millrace.jobs({ type: 'nap' })).map(({ priority }) => priority)).toEqual([1, 1, 1])
  expect((await t.run('bulk')).out).toMatch(/^1 +completed +prioritise +3 +3 +ann +.*type:nap$/m)
  expect((await t.run('bulk', 'show', '1')).out).toMatch(/^undo +millrace bulk undo 1$/m)
  expect((await t.run('bulk', 'undo', '1')).out).toContain('Operation 2 is completed: 3 jobs changed')
  expect((await t.millrace.jobs({ type: 'nap' })).map(({ priority }) => priority)).toEqual([5, 5, 5])
})

test('a dry run changes nothing, and an operation without a worker says what it waits for', async () => {
  await using t = await setup()
  const { id } = await t.millrace.enqueue(nap, {}, { delay: '1h' })
  const tried = await t.run('cancel', '--where', 'type:nap', '--dry-run')
  expect(tried).toMatchObject({ code: 1, out: expect.stringContaining('It waits: no worker runs system jobs') })
  const { operation } = JSON.parse((await t.run('cancel', '--where', id, '--yes', '--json')).out)
  expect((await t.run('bulk', 'cancel', operation.id)).out).toContain(`Operation ${operation.id} is cancelled: 0 jobs`)
  expect((await t.millrace.job(id))?.status).toBe('pending')
})

test('a canary goes first, is shown, and stops the operation when it dies', async () => {
  await using t = await setup()
  const dead = (tenant: string) => jobInState(t.millrace, 'dead', { contract: nap, payload: {}, tenant })
  for (const tenant of ['a', 'b', 'c']) await dead(tenant)
  await t.millrace.work({
    handlers: [
      implement(nap, () => {
        throw new Unrecoverable('too loud')
      }),
    ],
  })
  const redrive = ['dead', 'redrive', '--canary', '1', '--rate', '10/s', '--yes']
  const stopped = await t.run(...redrive, '--where', 'type:nap')
  expect(stopped).toMatchObject({ code: 1, out: expect.stringContaining('Operation 1 is stopped: 1 job changed') })
  expect(stopped.out).toContain('Canary of 1 job: 1 dead.\nCanary job ')
  expect(stopped.out).toMatch(/^Canary job \d+ of tenant [abc] died: too loud$/m)
  expect((await t.run('bulk', 'show', '1')).out).toMatch(/^\d+ +[abc] +\d+ +dead .*too loud$/m)
  expect((await t.run('bulk', 'proceed', '1')).out).toContain('Operation 1 is stopped')
  expect((await t.run(...redrive, '--type', 'nap')).out).toContain('Operation 2 is stopped')
  expect(await t.run(...redrive, '17')).toMatchObject({
    code: 1,
    err: expect.stringContaining('--canary goes with --where'),
  })
  expect(await t.run(...redrive, '--type', 'nap', '--rate', '5/m')).toMatchObject({
    code: 1,
    err: expect.stringContaining('20/s'),
  })
})

test('jobs are named by ids or by a query, and a wrong query is pointed at', async () => {
  await using t = await setup()
  expect(await t.run('cancel')).toMatchObject({ code: 1, err: expect.stringContaining('one of them') })
  expect(await t.run('retry', '1', '--where', 'id:1')).toMatchObject({ code: 1 })
  expect((await t.run('retry', '--where', 'statu:dead')).err).toContain('\n  statu:dead\n  ^^^^^\n')
  expect(await t.run('retry', '--where', 'status:dead')).toMatchObject({ code: 0, out: 'No jobs match.\n' })
  expect((await t.run('bulk', 'show', '9')).err).toContain('There is no bulk operation 9')
})
