import { defineJob, defineQueues, implement, Unrecoverable } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { setup as base } from './support/setup.ts'

const { later } = defineQueues({ later: {} })
const task = defineJob({ type: 'task', queue: later, payload: z.object({}) })

async function setup() {
  const t = await base({ jobs: [task] })
  return { ...t, run: (...args: string[]) => t.run('explain', ...args) }
}

test('what holds a job is listed with what helps, and when it may start', async () => {
  await using t = await setup()
  const { id } = await t.millrace.enqueue(task, {}, { delay: '2h' })
  const { code, out } = await t.run(id)
  expect(code).toBe(0)
  expect(out).toMatch(/^- No worker is running\.\n- It is not due before .*\n\nWhat helps:\n {2}millrace work MODULE\n/)
  const json = JSON.parse((await t.run(id, '--json')).out)
  expect(json).toMatchObject({
    job: { id },
    reasons: [{ mechanism: 'worker' }, { mechanism: 'due' }],
    expectedAt: null,
  })
})

test('a job that is not there is said to be not there', async () => {
  await using t = await setup()
  expect(await t.run('7')).toMatchObject({ code: 1, err: expect.stringContaining('There is no job "7"') })
})

test('a dead job says what it died of, and how to look at it and try it again', async () => {
  await using t = await setup()
  await t.millrace.work({ handlers: [implement(task, () => Promise.reject(new Unrecoverable('no letter box')))] })
  const enqueued = await t.millrace.enqueue(task, {})
  await t.millrace.result(enqueued.id)
  const { out } = await t.run(enqueued.id)
  expect(out).toMatch(/^It ended .*: dead \(unrecoverable\)\. Its last error: no letter box\.\n/)
  expect(out).toMatch(/What helps, when the cause is gone:\n {2}millrace dead show 1\n {2}millrace dead redrive 1\n$/)
  await t.millrace.deadLetters.resolve('1', { by: 'test' })
  expect((await t.run(enqueued.id)).out).toMatch(/Its dead letter is resolved: millrace dead show 1\n$/)
})
