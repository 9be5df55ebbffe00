// What a blocked job is told to wait for.
import { defineJob, defineQueues, implement, type Job, type Millrace } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { Registry } from '#src/contract/registry'
import { explainKeyedWork } from '#src/governance/keyed-work'
import { Database } from '#src/store/db'
import { setup as base, eventually, jobEvent } from '../support/setup.ts'

const queues = defineQueues({ q: {} })
const payload = z.object({ n: z.int() })
const ordered = defineJob({
  type: 'ordered',
  queue: queues.q,
  payload,
  retry: { attempts: 1 },
  order: { key: () => 'account 7', onDead: 'stop' },
})
const limited = defineJob({
  type: 'limited',
  queue: queues.q,
  payload,
  keyLimit: { key: () => 'host', concurrency: 2 },
})
const never = () => new Promise<never>(() => {})

async function setup() {
  const t = await base()
  const db = new Database({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections: 2 })
  const registry = new Registry([ordered, limited])
  return {
    ...t,
    explain: async (millrace: Millrace, id: string | undefined) =>
      explainKeyedWork((await millrace.job(id ?? '')) as Job, { db, now: null, registry, workers: [] }),
    processing: (count: number) =>
      eventually(async () => (await t.sql(`select from millrace.job where status = 'processing'`)).length === count),
    async [Symbol.asyncDispose]() {
      await db.close()
      await t[Symbol.asyncDispose]()
    },
  }
}

const numbers = (count: number) => Array.from({ length: count }, (_, n) => ({ n }))

test('behind a running job of its order key', async () => {
  await using t = await setup()
  const { millrace } = await t.working([implement(ordered, never)], { gracePeriod: 0 })
  const [head, next] = await millrace.enqueueMany(ordered, numbers(2))
  await t.processing(1)
  expect(await t.explain(millrace, head?.id)).toBeUndefined()
  expect(await t.explain(millrace, next?.id)).toEqual({
    mechanism: 'order',
    sentence: expect.stringMatching(
      new RegExp(`^Blocked behind job ${head?.id} of order key "account 7", running since 2\\d{3}-.*Z\\.$`),
    ),
    until: null,
    remedy: `millrace cancel ${head?.id}`,
  })
})

test('by a death that has stopped its order key', async () => {
  await using t = await setup()
  const { millrace } = await t.working([
    implement(ordered, () => {
      throw new Error('no')
    }),
  ])
  const [head, next] = await millrace.enqueueMany(ordered, numbers(2))
  await jobEvent(millrace, 'job_died', head?.id ?? '')
  expect(await t.explain(millrace, next?.id)).toMatchObject({
    sentence: expect.stringContaining(`was stopped by the death of job ${head?.id}`),
    remedy: `millrace retry ${head?.id}, or millrace keys continue q 'account 7'`,
  })
})

test('for a place of its limit key, or for its time', async () => {
  await using t = await setup()
  const { millrace } = await t.working([implement(limited, never)], { gracePeriod: 0 })
  const jobs = await millrace.enqueueMany(limited, numbers(3))
  await t.processing(2)
  expect(await t.explain(millrace, jobs[2]?.id)).toEqual({
    mechanism: 'key_limit',
    sentence: expect.stringMatching(
      new RegExp(
        `^2 of 2 places of limit key "host" are taken by jobs ${jobs[0]?.id} \\(running since .*\\), ${jobs[1]?.id} \\(.*\\)\\.$`,
      ),
    ),
    until: null,
    remedy: 'millrace keys limit q <places> --key host',
  })
  const later = await millrace.enqueue(limited, { n: 9 }, { delay: '1h' })
  const due = (await millrace.job(later.id))?.runAt
  expect(await t.explain(millrace, later.id)).toMatchObject({ until: due, remedy: null })
})
