import { defineJob, defineQueues, defineWorkflow, fixed, implement, LeaseLost } from 'millrace'
import { jobInState } from 'millrace/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { setup, signal } from '../support/setup.ts'

const { work: queue } = defineQueues({ work: { concurrency: 2 } })
const task = defineJob({
  type: 'task',
  queue,
  payload: z.object({}),
  retry: { attempts: 3, backoff: fixed('1h', { jitter: 0 }) },
})
const droppable = defineJob({
  type: 'droppable',
  queue,
  payload: z.object({}),
  retry: { attempts: 1, onExhausted: 'drop' },
})
const ordered = defineJob({ type: 'ordered', queue, payload: z.object({}), order: { key: () => 'k' } })
const debounced = defineJob({
  type: 'debounced',
  queue,
  payload: z.object({ n: z.number() }),
  dedupe: { key: () => 'k', mode: 'debounce', wait: '1h' },
})
const words = { by: 'ann', reason: 'the file is broken' }

async function prepared() {
  const t = await setup()
  return Object.assign(t, { millrace: t.client([task, droppable, ordered, debounced]) })
}

describe('a job that is failed by hand', () => {
  test.each(['pending', 'scheduled', 'failed', 'suspect', 'blocked'] as const)(
    'uses an attempt and waits by its backoff, if it was %s',
    async (state) => {
      await using t = await prepared()
      const job = await jobInState(t.millrace, state, { contract: task, payload: {}, tenant: 'acme' })
      const attempt = job.attempt + 1
      expect(await t.millrace.fail(job.id, words)).toEqual({ status: 'retrying', attempt, delayMs: 3_600_000 })
      expect(await t.millrace.job(job.id)).toMatchObject({ status: 'failed', attempt, lastError: expect.any(String) })
      const attempts = await t.millrace.attempts(job.id)
      expect(attempts.at(-1)).toMatchObject({
        attempt,
        errorClass: 'FailedByHand',
        errorMessage: 'the file is broken (failed by ann)',
      })
      expect(await t.millrace.audit.list({ action: 'job.fail' })).toMatchObject([
        { by: 'ann', target: job.id, tenant: 'acme', details: { attempt, became: 'waiting' } },
      ])
    },
  )

  test('is a dead letter after its last attempt', async () => {
    await using t = await prepared()
    const { id } = await t.millrace.enqueue(task, {}, { maxAttempts: 1 })
    expect(await t.millrace.fail(id, words)).toEqual({ status: 'dead', attempt: 1 })
    expect(await t.millrace.deadLetters.ofJob(id)).toMatchObject({ reason: 'exhausted', attempts: 1 })
  })

  test('is a dead letter at once if that is final', async () => {
    await using t = await prepared()
    const { id } = await t.millrace.enqueue(droppable, {}, { maxAttempts: 5 })
    expect(await t.millrace.fail(id, { ...words, final: true })).toEqual({ status: 'dead', attempt: 1 })
    expect(await t.millrace.deadLetters.ofJob(id)).toMatchObject({ reason: 'discarded' })
    expect(await t.millrace.job(id)).toMatchObject({ status: 'dead', reason: 'discarded' })
  })

  test('leaves no letter if its contract says that it may be dropped', async () => {
    await using t = await prepared()
    const { id } = await t.millrace.enqueue(droppable, {})
    expect(await t.millrace.fail(id, words)).toEqual({ status: 'dead', attempt: 1 })
    expect(await t.millrace.deadLetters.ofJob(id)).toBeUndefined()
  })

  test('is taken away from its worker, whose handler is told, and nothing it says afterwards counts', async () => {
    await using t = await setup()
    const begun = signal()
    const aborted = signal<unknown>()
    const { millrace } = await t.working([
      implement(task, (_, ctx) => {
        begun.resolve()
        return new Promise((resolve) => {
          ctx.signal.addEventListener('abort', () => {
            aborted.resolve(ctx.signal.reason)
            resolve('done all the same')
          })
        })
      }),
    ])
    const { id } = await millrace.enqueue(task, {})
    await begun.promise
    expect(await millrace.fail(id, words)).toMatchObject({ status: 'retrying', attempt: 1 })
    expect(await aborted.promise).toBeInstanceOf(LeaseLost)
    await millrace.close()
    const other = t.client([task])
    expect(await other.job(id)).toMatchObject({ status: 'failed', attempt: 1 })
    expect(await other.attempts(id)).toHaveLength(1)
  })

  test('makes room for the next one of its key', async () => {
    await using t = await prepared()
    const { id } = await t.millrace.enqueue(ordered, {})
    const { id: next } = await t.millrace.enqueue(ordered, {})
    expect(await t.millrace.job(next)).toMatchObject({ status: 'blocked' })
    await t.millrace.fail(id, { ...words, final: true })
    expect(await t.millrace.job(next)).toMatchObject({ status: 'pending' })
  })

  test('does not overtake others of its order key', async () => {
    await using t = await prepared()
    const { id } = await t.millrace.enqueue(ordered, {})
    const { id: next } = await t.millrace.enqueue(ordered, {})
    expect(await t.millrace.fail(next, words)).toMatchObject({ status: 'retrying', attempt: 1 })
    expect(await t.millrace.job(next)).toMatchObject({ status: 'blocked', attempt: 1 })
    await t.millrace.cancel(id, { by: 'ann' })
    expect(await t.millrace.job(next)).toMatchObject({ status: 'failed' })
  })

  test('leaves a newer payload to a job of its own, if it was debounced', async () => {
    await using t = await prepared()
    const { id } = await t.millrace.enqueue(debounced, { n: 1 })
    expect(await t.millrace.enqueue(debounced, { n: 2 })).toMatchObject({ id, status: 'replaced' })
    await t.millrace.fail(id, words)
    const newer = await t.millrace.enqueue(debounced, { n: 3 })
    expect(newer).toMatchObject({ status: 'queued' })
    expect(await t.millrace.job(newer.id)).toMatchObject({ payload: { n: 3 } })
  })

  test('fails its workflow, if it was a step of one', async () => {
    await using t = await setup()
    const single = defineWorkflow('single').step('only', task, { payload: () => ({}) })
    const millrace = t.client([task], { workflows: [single] })
    const { id } = await millrace.workflows.start(single, undefined)
    const [job] = await millrace.jobs({ type: 'task' })
    const failed = new Promise((resolve) => millrace.events.on('workflow_failed', resolve))
    await millrace.fail(job?.id as string, { ...words, final: true })
    await failed
    expect(await millrace.workflows.get(id)).toMatchObject({ status: 'failed' })
  })

  test('tells the program that awaits it', async () => {
    await using t = await prepared()
    const { id } = await t.millrace.enqueue(task, {})
    const awaited = t.millrace.result(id)
    await t.millrace.fail(id, { ...words, final: true })
    expect(await awaited).toMatchObject({ status: 'dead' })
  })
})

test.each(['completed', 'cancelled', 'dead'] as const)('a %s job is left alone', async (state) => {
  await using t = await prepared()
  const job = await jobInState(t.millrace, state, { contract: task, payload: {} })
  expect(await t.millrace.fail(job.id, words)).toEqual({ status: 'finished', as: state })
  expect(await t.millrace.job(job.id)).toEqual(job)
  expect(await t.millrace.audit.list({ action: 'job.fail' })).toEqual([])
})

test('a job that does not exist, and a call without a reason or a name, are answered clearly', async () => {
  await using t = await prepared()
  expect(await t.millrace.fail('404', words)).toEqual({ status: 'not_found' })
  expect(await t.millrace.fail('no id', words)).toEqual({ status: 'not_found' })
  await expect(t.millrace.fail('1', { by: 'ann', reason: '' })).rejects.toThrow(/`reason` is missing/)
  await expect(t.millrace.fail('1', { by: '', reason: 'x' })).rejects.toThrow(/`by` is missing/)
})
