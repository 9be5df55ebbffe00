import { defineJob, defineQueues, InvalidDefinition, implement } from 'millrace'
import { jobInState } from 'millrace/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { jobEvent, setup, signal } from '../support/setup.ts'

const { work: queue } = defineQueues({ work: { concurrency: 1 } })
const task = defineJob({ type: 'task', queue, payload: z.object({ name: z.string() }) })
const by = { by: 'ann' }

test('a job that is prioritised overtakes those that came before it', async () => {
  await using t = await setup()
  const begun = signal()
  const release = signal()
  const order: string[] = []
  const { millrace } = await t.working([
    implement(task, async ({ name }) => {
      order.push(name)
      if (name !== 'first') return
      begun.resolve()
      await release.promise
    }),
  ])
  const { id: first } = await millrace.enqueue(task, { name: 'first' })
  await begun.promise
  await millrace.enqueue(task, { name: 'second' })
  const { id: third } = await millrace.enqueue(task, { name: 'third' })
  const { id: last } = await millrace.enqueue(task, { name: 'last' })
  expect(await millrace.prioritise(third, 0, by)).toEqual({ status: 'prioritised', before: 5, priority: 0 })
  expect(await millrace.prioritise(first, 0, by)).toEqual({ status: 'running' })
  release.resolve()
  await jobEvent(millrace, 'job_completed', last)
  expect(order).toEqual(['first', 'third', 'second', 'last'])
  expect(await millrace.prioritise(third, 0, by)).toEqual({ status: 'finished', as: 'completed' })
})

test.each(['pending', 'scheduled', 'failed', 'suspect', 'blocked'] as const)(
  'a %s job can be prioritised, and stays what it is otherwise',
  async (state) => {
    await using t = await setup()
    const millrace = t.client([task])
    const job = await jobInState(millrace, state, { contract: task, payload: { name: 'x' } })
    expect(await millrace.prioritise(job.id, 2, by)).toMatchObject({ status: 'prioritised', before: 5 })
    expect(await millrace.job(job.id)).toEqual({ ...job, priority: 2 })
  },
)

test.each(['processing', 'completed', 'cancelled', 'dead'] as const)('a %s job is left alone', async (state) => {
  await using t = await setup()
  const millrace = t.client([task])
  const job = await jobInState(millrace, state, { contract: task, payload: { name: 'x' } })
  const result = await millrace.prioritise(job.id, 2, by)
  expect(result).toEqual(state === 'processing' ? { status: 'running' } : { status: 'finished', as: state })
  expect(await millrace.job(job.id)).toEqual(job)
  expect(await t.sql("select 1 from millrace.audit_log where action = 'job.prioritise'")).toEqual([])
})

test('who did it is in the audit log', async () => {
  await using t = await setup()
  const millrace = t.client([task])
  const { id } = await millrace.enqueue(task, { name: 'x' }, { tenant: 'acme' })
  await millrace.prioritise(id, 1, by)
  expect(await t.sql('select actor as by, action, target, tenant, details from millrace.audit_log')).toEqual([
    { by: 'ann', action: 'job.prioritise', target: id, tenant: 'acme', details: { before: 5, priority: 1 } },
  ])
})

test('what is no job, no priority or nobody is refused', async () => {
  await using t = await setup()
  const millrace = t.client([task])
  expect(await millrace.prioritise('999999', 1, by)).toEqual({ status: 'not_found' })
  expect(await millrace.prioritise('nobody', 1, by)).toEqual({ status: 'not_found' })
  await expect(millrace.prioritise('1', -1, by)).rejects.toThrow(/priority is -1: expected an integer from 0/)
  await expect(millrace.prioritise('1', 1, { by: '' })).rejects.toThrow(InvalidDefinition)
})
