// Payloads outlive the code that wrote them, and results follow the same rules as payloads.
import { defineJob, defineQueues, implement } from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { jobEvent, setup } from '../support/setup.ts'

const queues = defineQueues({ default: {} })
const retry = { attempts: 5 }
const before = defineJob({ type: 'ship', queue: queues.default, payload: z.object({ order: z.number() }), retry })
const after = defineJob({
  type: 'ship',
  queue: queues.default,
  payload: z.object({ orderId: z.string(), carrier: z.enum(['post', 'bike']) }),
  retry,
})

describe('a payload that no longer fits its schema', () => {
  test('becomes a dead letter at once, with the issues and the stored payload, and its handler is not called', async () => {
    await using t = await setup()
    const { id } = await t.client([before]).enqueue(before, { order: 7 })
    const calls: unknown[] = []
    const millrace = t.client([after])
    const died = jobEvent(millrace, 'job_died', id)
    await millrace.work({ handlers: [implement(after, (payload) => calls.push(payload))] })
    expect(await died).toMatchObject({
      reason: 'invalid_payload',
      dropped: false,
      failure: { class: 'InvalidPayload' },
    })
    const [letter] = await t.sql('select reason, attempts, error_message, original_job from millrace.dead_letter_jobs')
    expect(letter).toMatchObject({ reason: 'invalid_payload', attempts: 1, original_job: { payload: { order: 7 } } })
    expect(letter?.error_message).toMatch(
      /^The stored payload of job "ship" does not fit the schema of this worker: orderId: .+; carrier: .+\. It was enqueued under another version of the contract.*Make the schema accept/,
    )
    expect(await millrace.job(id)).toMatchObject({ status: 'dead', attempt: 1, payload: { order: 7 } })
    expect(await t.sql('select from millrace.job')).toEqual([])
    expect(calls).toEqual([])
  })

  test('is not blamed on a job whose handler could not enqueue another one', async () => {
    await using t = await setup()
    const parent = defineJob({
      type: 'parent',
      queue: queues.default,
      payload: z.object({}),
      retry: { attempts: 1 },
    })
    const millrace = t.client([parent, after])
    await millrace.work({ handlers: [implement(parent, () => millrace.enqueue(after, { orderId: 1 } as never))] })
    const { id } = await millrace.enqueue(parent, {}, { delay: '1h' })
    const died = jobEvent(millrace, 'job_died', id)
    await millrace.runNow(id)
    expect(await died).toMatchObject({ reason: 'exhausted', failure: { class: 'InvalidPayload' } })
  })
})

describe('a result', () => {
  const job = defineJob({
    type: 'answer',
    queue: queues.default,
    payload: z.object({ n: z.number() }),
    allowSecrets: ['session.token'],
    retry,
  })
  const cases: readonly [string, () => unknown, RegExp][] = [
    ['a Map', () => ({ rows: new Map() }), /rows: it is an instance of Map/],
    ['NaN', () => [1, Number.NaN], /1: it is NaN/],
    ['a bigint', () => 7n, /cannot be recorded: it is a bigint/],
    ['a secret', () => ({ user: { password: 'hunter2' } }), /user\.password: it carries a secret \(its name\)/],
    ['too much', () => 'x'.repeat(70_000), /the limit is 65536/],
  ]

  test.each(cases)('with %s is refused at its path', async (_, result, message) => {
    await using t = await setup()
    const { millrace } = await t.working([implement(job, result)])
    const { id } = await millrace.enqueue(job, { n: 1 }, { delay: '1h' })
    const died = jobEvent(millrace, 'job_died', id)
    await millrace.runNow(id)
    const event = await died
    expect(event).toMatchObject({ reason: 'unrecoverable', failure: { class: 'InvalidResult' } })
    expect(event.failure.message).toMatch(message)
    const letters = await t.sql('select * from millrace.dead_letter_jobs')
    expect(JSON.stringify([event, letters])).not.toContain('hunter2')
  })

  test('may carry a secret where the contract says so', async () => {
    await using t = await setup()
    const result = { session: { token: 'abc', accessToken: null } }
    const { millrace } = await t.working([implement(job, () => result)])
    const { id } = await millrace.enqueue(job, { n: 1 }, { delay: '1h' })
    const completed = jobEvent(millrace, 'job_completed', id)
    await millrace.runNow(id)
    await completed
    expect(await millrace.job(id)).toMatchObject({ result })
  })
})
