import { once } from 'node:events'
import { defineJob, defineQueues } from 'millrace'
import pg from 'pg'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { channelOf } from '#src/store/notifications'
import { setup } from '../support/setup.ts'

const { q } = defineQueues({ q: {} })
const job = defineJob({ type: 'job', queue: q, payload: z.object({}) })

async function listening() {
  const t = await setup()
  const ear = new pg.Client({ connectionString: t.url })
  await ear.connect()
  await ear.query(`listen ${channelOf('millrace')}`)
  const heard: string[] = []
  ear.on('notification', ({ payload }) => heard.push(payload ?? ''))
  return {
    ...t,
    ear,
    heard,
    async [Symbol.asyncDispose]() {
      await ear.end()
      await t[Symbol.asyncDispose]()
    },
  }
}

test('an enqueue after a silence is told once, by its own commit', async () => {
  await using t = await listening()
  const millrace = t.client([job])
  const told = once(t.ear, 'notification')
  await millrace.enqueue(job, {})
  await told
  await millrace.close()
  // Whatever was sent before this has arrived when it is answered.
  await t.ear.query('select')
  expect(t.heard).toHaveLength(1)
})

test('enqueues at the same time are told together', async () => {
  await using t = await listening()
  const millrace = t.client([job])
  await Promise.all(Array.from({ length: 50 }, () => millrace.enqueue(job, {})))
  await millrace.close()
  await t.ear.query('select')
  expect(t.heard.length).toBeGreaterThanOrEqual(1)
  expect(t.heard.length).toBeLessThan(50)
})

test('without NOTIFY nothing is told', async () => {
  await using t = await listening()
  const millrace = t.client([job], { notify: false })
  await millrace.enqueue(job, {})
  await millrace.close()
  await t.ear.query('select')
  expect(t.heard).toEqual([])
})
