import { defineJob, defineQueues, InvalidDefinition } from 'millrace'
import { jobInState } from 'millrace/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { setup } from '../support/setup.ts'

const { work: queue } = defineQueues({ work: { concurrency: 1 } })
const task = defineJob({ type: 'task', queue, payload: z.object({}) })
const wanted = { contract: task, payload: {}, tenant: 'acme' }

async function prepared() {
  const t = await setup()
  return Object.assign(t, { millrace: t.client([task]) })
}

test('cancel, runNow and retry leave an entry each', async () => {
  await using t = await prepared()
  const scheduled = await jobInState(t.millrace, 'scheduled', wanted)
  const failed = await jobInState(t.millrace, 'failed', wanted)
  const running = await jobInState(t.millrace, 'processing', wanted)
  expect(await t.millrace.runNow(scheduled.id, { by: 'ann' })).toBe(true)
  expect(await t.millrace.retry(failed.id, { by: 'bob' })).toEqual({ status: 'due' })
  expect(await t.millrace.cancel(failed.id, { by: 'ann', reason: 'sent by hand' })).toBe('cancelled')
  expect(await t.millrace.cancel(running.id, { by: 'ann' })).toBe('requested')
  const told = (await t.millrace.audit.list()).map(({ id, at, source, requestId, ...entry }) => entry)
  expect(told.reverse()).toEqual([
    { by: 'ann', action: 'job.run_now', target: scheduled.id, tenant: 'acme', details: null },
    { by: 'bob', action: 'job.retry', target: failed.id, tenant: 'acme', details: null },
    { by: 'ann', action: 'job.cancel', target: failed.id, tenant: 'acme', details: { was: 'waiting' } },
    { by: 'ann', action: 'job.cancel', target: running.id, tenant: 'acme', details: { was: 'running' } },
  ])
  expect(await t.millrace.job(failed.id)).toMatchObject({ status: 'cancelled', reason: 'sent by hand' })
})

test('every decision about a dead letter leaves an entry, once', async () => {
  await using t = await prepared()
  const letters = []
  for (let i = 0; i < 3; i++) {
    const { id } = await jobInState(t.millrace, 'dead', wanted)
    letters.push((await t.millrace.deadLetters.ofJob(id))?.id as string)
  }
  const [first, second, third] = letters as [string, string, string]
  const { deadLetters } = t.millrace
  await deadLetters.acknowledge([first, second], { by: 'ann' })
  await deadLetters.acknowledge([first], { by: 'bob' })
  await deadLetters.note(first, 'seen twice', { by: 'ann' })
  const [redriven] = await deadLetters.redrive(first, { by: 'ann', payload: {} })
  await deadLetters.resolve(second, { by: 'ann', note: 'by hand' })
  await deadLetters.ignore(third, { by: 'ann' })
  const told = (await t.millrace.audit.list({ tenant: 'acme' })).reverse()
  expect(told.map(({ by, action, target, details }) => [by, action, target, details])).toEqual([
    ['ann', 'dead_letter.acknowledge', first, null],
    ['ann', 'dead_letter.acknowledge', second, null],
    ['ann', 'dead_letter.note', first, null],
    ['ann', 'dead_letter.redrive', first, { jobId: (redriven as { jobId: string }).jobId, isEdited: true }],
    ['ann', 'dead_letter.resolve', second, null],
    ['ann', 'dead_letter.ignore', third, null],
  ])
})

test('a call that changes nothing, or that names no one, leaves no entry', async () => {
  await using t = await prepared()
  const { id } = await jobInState(t.millrace, 'completed', wanted)
  expect(await t.millrace.cancel(id, { by: 'ann' })).toBe('already_finished')
  expect(await t.millrace.runNow(id, { by: 'ann' })).toBe(false)
  await expect(t.millrace.cancel(id, { by: '' })).rejects.toThrow(/`by` is missing/)
  await expect(t.millrace.runNow(id, { by: '' })).rejects.toThrow(/`by` is missing/)
  expect(await t.millrace.audit.list()).toEqual([])
})

test('the log is read by who, what, about what, of whom, and by pages', async () => {
  await using t = await prepared()
  const { millrace } = t
  const jobs = []
  for (let i = 0; i < 3; i++) jobs.push(await jobInState(millrace, 'scheduled', wanted))
  for (const { id } of jobs) await millrace.runNow(id, { by: 'ann' })
  await millrace.cancel(jobs[0]?.id as string, { by: 'bob' })
  const targets = async (filter: Parameters<typeof millrace.audit.list>[0]) =>
    (await millrace.audit.list(filter)).map(({ target }) => target)
  const [a, b, c] = jobs.map(({ id }) => id)
  expect(await targets({ by: 'ann' })).toEqual([c, b, a])
  expect(await targets({ action: 'job.cancel' })).toEqual([a])
  expect(await targets({ target: a as string })).toEqual([a, a])
  expect(await targets({ tenant: 'other' })).toEqual([])
  const page = await millrace.audit.list({ limit: 2 })
  expect(await targets({ before: page.at(-1)?.id as string })).toEqual([b, a])
  await expect(millrace.audit.list({ limit: 0 })).rejects.toThrow(InvalidDefinition)
  await expect(millrace.audit.list({ before: 'x' })).rejects.toThrow(/expected the id of an audit entry/)
})

test('a program notes its own changes, and says where changes come from', async () => {
  await using t = await prepared()
  const { audit } = t.millrace
  const origin = { source: '10.0.0.7', requestId: 'r-1' }
  await audit.from(origin, () => t.millrace.tenants.set('acme', { weight: 5 }, { by: 'ann' }))
  await audit.write({ by: 'bob', action: 'source.edit', target: 's1', details: { before: 1, after: 2 } })
  expect(await audit.list()).toMatchObject([
    { by: 'bob', action: 'source.edit', target: 's1', details: { before: 1, after: 2 }, source: null, requestId: null },
    { by: 'ann', action: 'tenant.set', ...origin },
  ])
  const lost = t.pool.connect().then(async (tx) => {
    await tx.query('begin')
    await audit.write({ by: 'bob', action: 'source.lost' }, { tx })
    await tx.query('rollback')
    tx.release()
  })
  await lost
  expect(await audit.list({ action: 'source.lost' })).toEqual([])
  await expect(audit.write({ by: '', action: 'source.edit' })).rejects.toThrow(/by/)
  await expect(audit.write({ by: 'bob', action: '' })).rejects.toThrow(/action/)
})
