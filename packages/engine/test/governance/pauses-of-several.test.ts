import { defineJob, defineQueues, InvalidDefinition, implement } from 'millrace'
import { fakeClock } from 'millrace/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { setup as base, jobEvent } from '../support/setup.ts'

const queues = defineQueues({ mail: {}, other: {} })
const payload = z.object({})
const letter = defineJob({ type: 'letter', queue: queues.mail, payload })
const other = defineJob({ type: 'other', queue: queues.other, payload })
const jobs = [letter, other]
const handlers = jobs.map((job) => implement(job, () => {}))

const queue = { queue: 'mail' }
const counsel = { by: 'counsel', reason: 'legal hold' }
const robot = { by: 'robot', reason: 'the printer is warm', for: '1m' } as const

async function setup() {
  const t = await base()
  const clock = fakeClock(new Date())
  const millrace = t.client(jobs, { clock })
  return { ...t, clock, millrace, work: () => millrace.work({ handlers }) }
}

test('a pause of one minute does not end the legal hold that somebody else has set', async () => {
  await using t = await setup()
  const { millrace, clock } = t
  await millrace.pauses.pause(queue, counsel)
  await millrace.pauses.pause(queue, robot)
  expect((await millrace.pauses.list()).map(({ by }) => by)).toEqual(['counsel', 'robot'])
  await t.work()
  const { id } = await millrace.enqueue(letter, {}, { tenant: 'acme' })
  clock.advance('2m')
  expect(await millrace.pauses.list()).toMatchObject([{ by: 'counsel', reason: 'legal hold', expiresAt: null }])
  await jobEvent(millrace, 'job_completed', (await millrace.enqueue(other, {})).id)
  expect(await millrace.job(id)).toMatchObject({ status: 'pending' })
  expect((await millrace.explain(id)).reasons).toMatchObject([
    { mechanism: 'pause', sentence: expect.stringMatching(/^Paused by counsel .*: legal hold$/) },
  ])
  await millrace.pauses.resume(queue, counsel)
  await jobEvent(millrace, 'job_completed', id)
})

test('resume ends the pause of its caller, and lists those of others', async () => {
  await using t = await setup()
  const { millrace } = t
  await millrace.pauses.pause(queue, counsel)
  await millrace.pauses.pause(queue, robot)
  await millrace.pauses.pause({ type: 'letter' }, robot)
  expect(await millrace.pauses.resume(queue, { by: 'ann' })).toMatchObject({
    ended: [],
    others: [{ by: 'counsel' }, { by: 'robot' }],
  })
  expect(await millrace.pauses.resume(queue, robot)).toMatchObject({
    ended: [{ by: 'robot', queue: 'mail' }],
    others: [{ by: 'counsel', reason: 'legal hold' }],
  })
  expect(await millrace.pauses.list()).toMatchObject([
    { by: 'counsel', queue: 'mail' },
    { by: 'robot', type: 'letter' },
  ])
  await expect(millrace.pauses.resume(queue, { by: '' })).rejects.toThrow(InvalidDefinition)
})

test('resume with all ends the pauses of everybody, of that target only', async () => {
  await using t = await setup()
  const { millrace } = t
  await millrace.pauses.pause(queue, counsel)
  await millrace.pauses.pause(queue, robot)
  await millrace.pauses.pause({ ...queue, tenant: 'acme' }, counsel)
  const { ended, others } = await millrace.pauses.resume(queue, { by: 'ann', all: true })
  expect(ended.map(({ by }) => by).sort()).toEqual(['counsel', 'robot'])
  expect(others).toEqual([])
  expect(await millrace.pauses.list()).toMatchObject([{ queue: 'mail', tenant: 'acme' }])
  expect(
    await t.sql(`select actor as by, details->'ended' as ended from millrace.audit_log where action = 'pause.end'`),
  ).toEqual([
    {
      by: 'ann',
      ended: [counsel, robot].map(({ by, reason }) => ({ by, reason })),
    },
  ])
})

test('a second pause by the same by replaces the first, also one that is over', async () => {
  await using t = await setup()
  const { millrace, clock } = t
  await millrace.pauses.pause(queue, robot)
  clock.advance('2m')
  expect(await millrace.pauses.resume(queue, robot)).toEqual({ ended: [], others: [] })
  await millrace.pauses.pause(queue, { ...robot, for: '1h' })
  await millrace.pauses.pause(queue, { ...robot, reason: 'it is hot' })
  expect(await millrace.pauses.list()).toMatchObject([{ by: 'robot', reason: 'it is hot' }])
})
