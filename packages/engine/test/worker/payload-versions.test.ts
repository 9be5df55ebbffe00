// Payloads outlive the code that wrote them, and results follow the same rules as payloads.
import { defineJob, defineQueues, implement, type Job } from 'millrace'
import { drain } from 'millrace/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Registry } from '#src/contract/registry'
import { explainPayloadVersion } from '#src/governance/payload-version'
import type { Look } from '#src/governance/reason'
import { jobEvent, setup, silent } from '../support/setup.ts'

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
    await millrace.runNow(id, { by: 'ann' })
    expect(await died).toMatchObject({ reason: 'exhausted', failure: { class: 'InvalidPayload' } })
  })
})

describe('a payload of another version', () => {
  const ship = { type: 'ship', queue: queues.default, retry } as const
  const v1 = defineJob({ ...ship, payload: z.object({ order: z.number() }) })
  const current = z.object({ orderId: z.string(), carrier: z.enum(['post', 'bike']) })
  const rename = ({ order }: { order: number }) => ({ orderId: String(order) })
  const v3 = defineJob({
    ...ship,
    payload: current,
    version: 3,
    migrate: { 1: rename, 2: (payload) => ({ ...payload, carrier: 'bike' }) },
  })
  const cannot = defineJob({ ...ship, payload: current, version: 3, migrate: { 2: (payload) => payload } })

  test.each([
    ['', {}],
    [', also of a tenant', { tenant: 'acme' }],
  ])('is upgraded step by step when it runs, and stays stored as it was%s', async (_, options) => {
    await using t = await setup()
    const { id } = await t.client([v1]).enqueue(v1, { order: 7 }, options)
    const millrace = t.client([v3])
    const completed = jobEvent(millrace, 'job_completed', id)
    await millrace.work({ handlers: [implement(v3, (payload) => ({ payload }))] })
    await completed
    expect(await millrace.job(id)).toMatchObject({
      payloadVersion: 1,
      payload: { order: 7 },
      result: { payload: { orderId: '7', carrier: 'bike' } },
    })
  })

  test('is written with the version of the contract that enqueued it', async () => {
    await using t = await setup()
    const millrace = t.client([v3])
    const { id } = await millrace.enqueue(v3, { orderId: '1', carrier: 'post' })
    expect(await millrace.job(id)).toMatchObject({ payloadVersion: 3 })
  })

  test('is upgraded in a test too, and for a handler in a process of its own', async () => {
    await using t = await setup()
    await t.client([v1]).enqueue(v1, { order: 8 })
    const millrace = t.client([v3])
    const seen: unknown[] = []
    await drain(millrace, [implement(v3, (payload) => void seen.push(payload))])
    expect(seen).toEqual([{ orderId: '8', carrier: 'bike' }])

    const module = new URL('./fixtures/deeds.js', import.meta.url)
    const deedV1 = defineJob({ type: 'deed', queue: queues.default, payload: z.number() })
    const deed = defineJob({
      type: 'deed',
      queue: queues.default,
      payload: z.object({ does: z.string(), n: z.number() }),
      version: 2,
      migrate: { 1: (n) => ({ does: 'echo', n }) },
    })
    const { id } = await t.client([deedV1]).enqueue(deedV1, 5)
    const isolated = t.client([deed])
    const completed = jobEvent(isolated, 'job_completed', id)
    await isolated.work({ handlers: [implement(deed, { isolation: 'process', module })] })
    await completed
    expect(await isolated.job(id)).toMatchObject({ result: { does: 'echo', n: 5 } })
  })

  test('without a step from it becomes a dead letter that says what to do, and runs once the step is there', async () => {
    await using t = await setup()
    const { id } = await t.client([v1]).enqueue(v1, { order: 7 })
    const old = t.client([cannot])
    const died = jobEvent(old, 'job_died', id)
    const worker = await old.work({ handlers: [implement(cannot, () => {})] })
    const { reason, failure } = await died
    expect({ reason, class: failure.class }).toEqual({ reason: 'invalid_payload', class: 'PayloadNotUpgraded' })
    expect(failure.message).toMatch(/no step migrate\[1\]\. Add the step, deploy, and redrive the dead letter\.$/)
    await worker.stop()

    const [letter] = await old.deadLetters.list()
    const letterId = letter?.id as string
    expect(await old.deadLetters.redrive(letterId, { by: 'ann' })).toMatchObject([
      { status: 'refused', reason: 'payload_not_upgraded' },
    ])
    const millrace = t.client([v3])
    const [redriven] = await millrace.deadLetters.redrive(letterId, { by: 'ann' })
    expect(redriven).toMatchObject({ status: 'redriven' })
    const { jobId } = redriven as { jobId: string }
    expect(await millrace.job(jobId)).toMatchObject({ payloadVersion: 3, payload: { orderId: '7', carrier: 'bike' } })
  })

  test('that is newer is left for workers that know it, costs no attempt, and is told once', async () => {
    await using t = await setup()
    const newer = t.client([v3])
    const payload = { orderId: '1', carrier: 'post' } as const
    const jobs = await newer.enqueueMany(v3, [payload, payload])
    const ids = jobs.map(({ id }) => id)
    const warned: [object, string][] = []
    const logger = { ...silent, warn: (fields: object, message: string) => void warned.push([fields, message]) }
    const old = t.client([v1], { logger })
    const snoozed = Promise.all(ids.map((id) => jobEvent(old, 'job_snoozed', id)))
    const worker = await old.work({ handlers: [implement(v1, () => {})] })
    await snoozed
    await worker.stop()
    const job = (await old.job(ids[0] as string)) as Job
    expect(job).toMatchObject({ status: 'pending', attempt: 0, lastError: null })
    const { reasons } = await old.explain(job.id)
    expect(reasons).toContainEqual(expect.objectContaining({ mechanism: 'version' }))
    expect(job.runAt.getTime()).toBeGreaterThan(Date.now() + 5_000)
    expect(warned).toEqual([
      [{ type: 'ship', stored: 3, known: 1 }, expect.stringMatching(/left for programs that know/)],
    ])
    const reason = await explainPayloadVersion(job, { registry: new Registry([v1]) } as Look)
    expect(reason).toMatchObject({ mechanism: 'version', sentence: expect.stringMatching(/has version 3/) })
    expect(await explainPayloadVersion(job, { registry: new Registry([v3]) } as Look)).toBeUndefined()

    const completed = Promise.all(ids.map((id) => jobEvent(newer, 'job_completed', id)))
    await newer.work({ handlers: [implement(v3, () => {})] })
    for (const id of ids) await newer.runNow(id, { by: 'ann' })
    await completed
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
    await millrace.runNow(id, { by: 'ann' })
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
    await millrace.runNow(id, { by: 'ann' })
    await completed
    expect(await millrace.result(id, { contract: job })).toMatchObject({ result })
  })
})
