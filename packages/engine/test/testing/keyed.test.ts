// The testing kit runs keyed jobs as workers do.
import { createMillrace, defineJob, defineQueues, fixed, implement, Unrecoverable } from 'millrace'
import { drain, fakeClock, runJob } from 'millrace/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { setup, silent } from '../support/setup.ts'

const queues = defineQueues({ q: {} })
const payload = z.object({ n: z.int() })
const retry = { attempts: 2, backoff: fixed('10m') }
const ordered = defineJob({ type: 'ordered', queue: queues.q, payload, retry, order: { key: () => 'k' } })
const strict = defineJob({
  type: 'strict',
  queue: queues.q,
  payload,
  retry,
  order: { key: () => 's', onDead: 'stop' },
})
const limited = defineJob({
  type: 'limited',
  queue: queues.q,
  payload,
  retry,
  keyLimit: { key: () => 'k', concurrency: 1 },
})

async function clients() {
  const t = await setup()
  const clock = fakeClock('2026-03-01T10:00:00Z')
  const millrace = createMillrace({ database: t.url, jobs: [ordered, strict, limited], clock, logger: silent })
  const dispose = async () => {
    await millrace.close()
    await t[Symbol.asyncDispose]()
  }
  return { ...t, millrace, [Symbol.asyncDispose]: dispose }
}

const three = [0, 1, 2].map((n) => ({ n }))
const outcomes = (runs: Awaited<ReturnType<typeof drain>>) =>
  runs.map(({ job, outcome }) => `${job.attempt} ${outcome}`)

test('drain runs an ordered key in order, over the retry of its head', async () => {
  await using t = await clients()
  const ran: number[] = []
  const handler = implement(ordered, ({ n }, ctx) => {
    ran.push(n)
    if (n === 0 && ctx.attempt === 1) throw new Error('again')
  })
  await t.millrace.enqueueMany(ordered, three)
  expect(outcomes(await drain(t.millrace, [handler]))).toEqual(['1 retry'])
  await drain(t.millrace, [handler], { advance: '1h' })
  expect(ran).toEqual([0, 0, 1, 2])
})

test('drain runs what has a place, and what waits for its retry when that is due', async () => {
  await using t = await clients()
  const ran: number[] = []
  const handler = implement(limited, ({ n }, ctx) => {
    ran.push(n)
    if (n === 0 && ctx.attempt === 1) throw new Error('again')
  })
  await t.millrace.enqueueMany(limited, three)
  await drain(t.millrace, [handler], { advance: '1h' })
  expect(ran).toEqual([0, 1, 2, 0])
})

test('a death stops the key in a drain too', async () => {
  await using t = await clients()
  const handler = implement(strict, () => {
    throw new Unrecoverable('no')
  })
  await t.millrace.enqueueMany(strict, three)
  expect(outcomes(await drain(t.millrace, [handler]))).toEqual(['1 dead'])
  expect(await t.millrace.keys.stopped()).toMatchObject([{ key: 's', waiting: 2 }])
})

test('what a handler enqueues in its transaction is admitted', async () => {
  await using t = await clients()
  const ran: number[] = []
  const handler = implement(ordered, ({ n }, ctx) => {
    ran.push(n)
    return ctx.transaction(async (tx) => {
      if (n < 2) await t.millrace.enqueue(ordered, { n: n + 1 }, { tx })
    })
  })
  await t.millrace.enqueue(ordered, { n: 0 })
  await drain(t.millrace, [handler])
  expect(ran).toEqual([0, 1, 2])
})

test('runJob runs a job of a free key, and says why it cannot run a blocked one', async () => {
  await using t = await clients()
  const handler = implement(ordered, ({ n }) => n)
  expect(await runJob(handler, { n: 1 }, { millrace: t.millrace })).toMatchObject({ outcome: 'completed', result: 1 })
  await t.millrace.enqueue(ordered, { n: 2 })
  await expect(runJob(handler, { n: 3 }, { millrace: t.millrace })).rejects.toThrow('blocked by others of its key')
  expect(await runJob(handler, { n: 4 })).toMatchObject({ outcome: 'completed', result: 4 })
})
