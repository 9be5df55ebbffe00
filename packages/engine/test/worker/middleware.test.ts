import { AsyncLocalStorage } from 'node:async_hooks'
import { defineJob, defineQueues, implement, type Middleware, snooze } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { jobEvent, setup, signal } from '../support/setup.ts'

const queues = defineQueues({ work: {} })
const payload = z.looseObject({})
const retry = { attempts: 2, backoff: () => 3_600_000 }
const task = defineJob({ type: 'task', queue: queues.work, payload, retry })
const child = defineJob({ type: 'child', queue: defineQueues({ elsewhere: {} }).elsewhere, payload })
const isolated = {
  isolation: 'process',
  module: new URL('./fixtures/deeds.js', import.meta.url),
} as const

test('middleware runs around the handler, the first outermost, and sees what it returns', async () => {
  await using t = await setup()
  const told: unknown[] = []
  const tells =
    (name: string): Middleware =>
    async ({ job, contract, ctx }, next) => {
      told.push([name, job.type, contract === task, ctx.jobId === job.id])
      const result = await next()
      told.push([name, result])
      return result
    }
  const { millrace } = await t.working(
    [
      implement(task, () => {
        told.push('handler')
        return { sum: 3 }
      }),
    ],
    { middleware: [tells('outer'), tells('inner')] },
  )
  const { id } = await millrace.enqueue(task, {})
  expect(await millrace.result(id)).toEqual({ status: 'completed', result: { sum: 3 } })
  const begins = ['outer', 'inner'].map((name) => [name, 'task', true, true])
  expect(told).toEqual([...begins, 'handler', ['inner', { sum: 3 }], ['outer', { sum: 3 }]])
})

test('middleware that neither returns nor rethrows changes nothing of how the run ended', async () => {
  await using t = await setup()
  const seen: unknown[] = []
  const forgetful: Middleware = async (_, next) => {
    await next().catch((error: Error) => seen.push(error.message))
  }
  const { millrace } = await t.working(
    [
      implement(task, ({ fails }) => {
        if (fails) throw new Error('no paper')
        return 'printed'
      }),
    ],
    { middleware: [forgetful] },
  )
  const good = await millrace.enqueue(task, {})
  expect(await millrace.result(good.id)).toEqual({ status: 'completed', result: 'printed' })
  const bad = await millrace.enqueue(task, { fails: true })
  const { failure } = await jobEvent(millrace, 'job_retry_scheduled', bad.id)
  expect(failure.message).toBe('no paper')
  expect(seen).toEqual(['no paper'])
})

test('the run waits for a handler that its middleware does not wait for', async () => {
  await using t = await setup()
  const returned = signal()
  const go = signal<string>()
  const handler = implement(task, async ({ fails }) => {
    if (fails) throw new Error('no paper')
    return go.promise
  })
  const { millrace } = await t.working([handler], {
    middleware: [
      (_, next) => {
        void next()
        setImmediate(returned.resolve)
      },
    ],
  })
  const { id } = await millrace.enqueue(task, {})
  await returned.promise
  expect(await millrace.job(id)).toMatchObject({ status: 'processing' })
  go.resolve('late')
  expect(await millrace.result(id)).toMatchObject({ result: 'late' })
  const { id: failing } = await millrace.enqueue(task, { fails: true })
  expect((await jobEvent(millrace, 'job_retry_scheduled', failing)).failure.message).toBe('no paper')
})

test('middleware ends a run with an outcome or an error of its own', async () => {
  await using t = await setup()
  const ends: Middleware = async ({ ctx }, next) => {
    if (ctx.tenant === 'later') return snooze('1h')
    if (ctx.tenant === 'never') return undefined
    if (ctx.tenant === 'twice') await next().catch(() => {})
    await next().catch((error: Error) => {
      throw new Error(`told: ${error.message}`)
    })
    return undefined
  }
  let calls = 0
  const { millrace } = await t.working(
    [
      implement(task, () => {
        calls++
        throw new Error('no paper')
      }),
    ],
    { middleware: [ends] },
  )
  const failureOf = async (tenant: string) => {
    const { id } = await millrace.enqueue(task, {}, { tenant })
    return (await jobEvent(millrace, 'job_retry_scheduled', id)).failure.message
  }
  const later = await millrace.enqueue(task, {}, { tenant: 'later' })
  expect(await jobEvent(millrace, 'job_snoozed', later.id)).toMatchObject({ delayMs: 3_600_000 })
  expect(await failureOf('never')).toMatch('middleware[0] did not call next()')
  expect(calls).toBe(0)
  expect(await failureOf('once')).toBe('told: no paper')
  expect(await failureOf('twice')).toMatch('told: middleware[0] called next() twice')
  expect(calls).toBe(2)
})

test('the handler runs in the asynchronous context of its middleware, and both enqueue children', async () => {
  await using t = await setup()
  const storage = new AsyncLocalStorage<{ name: string }>()
  const millrace = t.client([task, child])
  await millrace.work({
    handlers: [implement(task, async () => [storage.getStore()?.name, (await millrace.enqueue(child, {})).id])],
    middleware: [
      async (_, next) => {
        await millrace.enqueue(child, {})
        return storage.run({ name: 'injected' }, next)
      },
    ],
  })
  const { id } = await millrace.enqueue(task, {})
  expect(await millrace.result(id)).toMatchObject({ result: ['injected', expect.any(String)] })
  const parents = await t.sql(`select parent_job_id from millrace.job where type = 'child'`)
  expect(parents).toEqual([{ parent_job_id: id }, { parent_job_id: id }])
})

test('middleware of an isolated handler runs in the worker, and a run that skips the handler leaves no process busy', async () => {
  await using t = await setup()
  const seen: unknown[] = []
  const { millrace } = await t.working([implement(task, isolated)], {
    concurrency: { work: 1 },
    middleware: [
      async ({ ctx }, next) => {
        if (ctx.tenant === 'later') return snooze('1h')
        return next().then(
          (value) => void seen.push(value),
          (error: Error) => void seen.push([process.pid, error.message]),
        )
      },
    ],
  })
  const skipped = await millrace.enqueue(task, { does: 'nothing' }, { tenant: 'later' })
  await jobEvent(millrace, 'job_snoozed', skipped.id)
  const { id } = await millrace.enqueue(task, { does: 'unknown deed' })
  const { failure } = await jobEvent(millrace, 'job_retry_scheduled', id)
  expect(failure.message).toMatch('not a function')
  expect(seen).toEqual([[process.pid, failure.message]])
})

test('middleware that is no function is refused before a worker starts', async () => {
  await using t = await setup()
  const millrace = t.client([task])
  await expect(
    millrace.work({ handlers: [implement(task, () => {})], middleware: ['trace' as never] }),
  ).rejects.toThrow('middleware[0] is no function')
})
