import { defineJob, defineQueues, implement, Unrecoverable } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { jobEvent, setup, signal } from '../support/setup.ts'

const { work: queue } = defineQueues({ work: {} })
const task = defineJob({ type: 'task', queue, payload: z.object({ does: z.enum(['work', 'die', 'wait']) }) })
const by = { by: 'ada' }

test('a waiting job is tried at once, a dead one by a new job, a finished one not', async () => {
  await using t = await setup()
  let isRepaired = false
  const release = signal()
  const { millrace } = await t.working([
    implement(task, async ({ does }) => {
      if (does === 'die' && !isRepaired) throw new Unrecoverable('broken')
      if (does === 'wait') await release.promise
    }),
  ])
  const { id: later } = await millrace.enqueue(task, { does: 'work' }, { delay: '1h' })
  const done = jobEvent(millrace, 'job_completed', later)
  expect(await millrace.retry(later, by)).toEqual({ status: 'due' })
  await done
  expect(await millrace.retry(later, by)).toEqual({ status: 'finished', as: 'completed' })

  const { id: doomed } = await millrace.enqueue(task, { does: 'die' }, { delay: '1h' })
  const died = jobEvent(millrace, 'job_died', doomed)
  await millrace.runNow(doomed, { by: 'ann' })
  await died
  isRepaired = true
  const redriven = await millrace.retry(doomed, by)
  expect(redriven).toMatchObject({ status: 'redriven', jobId: expect.stringMatching(/^\d+$/) })
  expect(await millrace.retry(doomed, by)).toMatchObject({ ...redriven, status: 'already_redriven' })

  const { id: busy } = await millrace.enqueue(task, { does: 'wait' }, { delay: '1h' })
  const started = jobEvent(millrace, 'job_started', busy)
  await millrace.runNow(busy, { by: 'ann' })
  await started
  expect(await millrace.retry(busy, by)).toEqual({ status: 'running' })
  release.resolve()
  expect(await millrace.retry('999999', by)).toEqual({ status: 'not_found' })
  expect(await millrace.retry('nobody', by)).toEqual({ status: 'not_found' })
})
