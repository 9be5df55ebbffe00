import { defineJob, defineQueues } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { setup as base } from './support/setup.ts'

const queues = defineQueues({ mail: {} })
const send = defineJob({ type: 'mail.send', queue: queues.mail, payload: z.object({}) })

test('stats are printed by type and by tenant, and a pause is shown wherever a queue or job is', async () => {
  await using t = await base({ jobs: [send] })
  expect((await t.run('stats')).out).toBe('Nothing waits and nothing runs, and no worker has declared a queue.\n')
  const { id } = await t.millrace.enqueue(send, {}, { tenant: 'acme' })
  await t.millrace.pauses.pause({ queue: 'mail' }, { by: 'ann', reason: 'no toner' })
  const { out } = await t.run('stats')
  expect(out).toMatch(/^QUEUE +TYPE +WAITING +DUE +OLDEST +RUNNING +FAILED +DEAD +ENDED +PAUSED\n/)
  expect(out).toMatch(/^mail +mail\.send +1 +1 +(now|\d+s ago) +0 +0 +0 +0 +by ann: no toner$/m)
  expect(out).toMatch(/^mail +acme +1 +(now|\d+s ago) +0 +by ann: no toner$/m)
  const json = JSON.parse((await t.run('stats', '--json')).out)
  expect(json).toMatchObject({
    types: [{ queue: 'mail', due: 1, pauses: [{ by: 'ann' }] }],
    tenants: [{ tenant: 'acme' }],
  })
  expect((await t.run('queues')).out).toMatch(/^mail +1 +0 +0 +0 +by ann: no toner$/m)
  expect((await t.run('jobs')).out).toMatch(/ by ann: no toner$/m)
  expect((await t.run('job', id)).out).toMatch(/^Paused +by ann: no toner$/m)
  expect(JSON.parse((await t.run('jobs', '--json')).out)).toMatchObject([{ id, pauses: [{ reason: 'no toner' }] }])
  expect((await t.run('explain', id)).out).toMatch(/Paused by ann since .*: no toner/)
})
