import {
  cancel,
  defineJob,
  defineQueues,
  discard,
  type Handler,
  implement,
  type JobContract,
  RetryAfter,
  snooze,
  Unrecoverable,
} from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { jobEvent, type Setup, setup } from '../support/setup.ts'

const queues = defineQueues({ default: {} })
const task = defineJob({ type: 'task', queue: queues.default, payload: z.object({ n: z.number() }) })
const once = defineJob({ ...base('once'), retry: { attempts: 1 } })
const quick = defineJob({ ...base('quick'), retry: { attempts: 3, backoff: () => 0 } })
const droppable = defineJob({ ...base('droppable'), retry: { attempts: 1, onExhausted: 'drop' } })
const impatient = defineJob({ ...base('impatient'), retry: { attempts: 9, backoff: () => 60_000, giveUpAfter: '30s' } })
const typed = defineJob({ ...base('typed'), result: z.object({ ok: z.boolean() }) })

function base<const Type extends string>(type: Type) {
  return { type, queue: queues.default, payload: z.object({ n: z.number() }) }
}

const run = <C extends JobContract>(t: Setup, contract: C, handler: Handler<C>) =>
  t.working([implement(contract, handler)])
const live = (t: Setup) => t.sql('select * from millrace.job')
const archived = (t: Setup) => t.sql('select * from millrace.job_archive')
const letters = (t: Setup) => t.sql('select * from millrace.dead_letter_jobs')

describe('a result', () => {
  test('completes the job and is archived with it', async () => {
    await using t = await setup()
    const { millrace, worker } = await run(t, task, ({ n }) => ({ doubled: n * 2 }))
    const { id } = await millrace.enqueue(task, { n: 21 })
    await jobEvent(millrace, 'job_completed', id)
    expect(await live(t)).toEqual([])
    const [row] = await archived(t)
    expect(row).toMatchObject({
      id,
      status: 'completed',
      attempt: 1,
      result: { doubled: 42 },
      worker_id: worker.id,
      retention: 'standard',
    })
    expect(row?.finished_at.getTime()).toBeGreaterThanOrEqual(row?.started_at.getTime())
    expect(await millrace.job(id)).toMatchObject({ id, status: 'completed', result: { doubled: 42 } })
  })

  test('that does not fit its schema is a dead letter: running it again would not help', async () => {
    await using t = await setup()
    const { millrace } = await run(t, typed, () => ({ ok: 'yes' as never }))
    const { id } = await millrace.enqueue(typed, { n: 1 })
    expect(await jobEvent(millrace, 'job_died', id)).toMatchObject({ reason: 'unrecoverable' })
    expect((await letters(t))[0]?.error_message).toMatch(/result of job "typed" cannot be recorded: ok/)
  })

  test('too large to keep is a dead letter that says so', async () => {
    await using t = await setup()
    const { millrace } = await run(t, task, () => 'x'.repeat(70_000))
    const { id } = await millrace.enqueue(task, { n: 1 })
    await jobEvent(millrace, 'job_died', id)
    expect((await letters(t))[0]?.error_message).toMatch(/the limit is 65536/)
  })
})

describe('snooze', () => {
  test('runs the job again later and uses up no attempt', async () => {
    await using t = await setup()
    let runs = 0
    const { millrace } = await run(t, once, (_, ctx) => {
      runs++
      return runs === 1 ? snooze('50ms') : { attempt: ctx.attempt }
    })
    const { id } = await millrace.enqueue(once, { n: 1 })
    await jobEvent(millrace, 'job_completed', id)
    expect(runs).toBe(2)
    expect((await archived(t))[0]).toMatchObject({ attempt: 1, result: { attempt: 1 } })
  })
})

describe('cancel', () => {
  test('ends the job on purpose: no dead letter, no failed attempt', async () => {
    await using t = await setup()
    const { millrace } = await run(t, task, () => cancel('unsubscribed'))
    const { id } = await millrace.enqueue(task, { n: 1 })
    expect(await jobEvent(millrace, 'job_cancelled', id)).toMatchObject({ reason: 'unsubscribed' })
    expect((await archived(t))[0]).toMatchObject({ status: 'cancelled', reason: 'unsubscribed' })
    expect([await letters(t), await millrace.attempts(id)]).toEqual([[], []])
  })
})

describe('discard', () => {
  test('is a dead letter at once, whatever attempts are left', async () => {
    await using t = await setup()
    const { millrace } = await run(t, task, () => discard('no such customer'))
    const { id } = await millrace.enqueue(task, { n: 1 })
    await jobEvent(millrace, 'job_died', id)
    expect((await letters(t))[0]).toMatchObject({
      job_id: id,
      reason: 'discarded',
      error_message: 'no such customer',
      attempts: 1,
    })
  })
})

describe('a throw', () => {
  test('fails the attempt and schedules the next by the backoff', async () => {
    await using t = await setup()
    const { millrace } = await run(t, task, () => {
      throw new TypeError('no route')
    })
    const { id } = await millrace.enqueue(task, { n: 1 })
    const event = await jobEvent(millrace, 'job_retry_scheduled', id)
    expect(event).toMatchObject({ failure: { class: 'TypeError', message: 'no route' } })
    expect(event.delayMs).toBeGreaterThanOrEqual(22_500)
    const [row] = await t.sql(
      'select status, attempt, last_error, extract(epoch from run_at - last_error_at) * 1000 as wait from millrace.job',
    )
    expect(row).toMatchObject({ status: 'pending', attempt: 1, last_error: 'no route' })
    expect(Number(row?.wait)).toBeCloseTo(event.delayMs, -1)
    expect(await millrace.job(id)).toMatchObject({ status: 'failed' })
    expect(await millrace.attempts(id)).toMatchObject([
      { attempt: 1, errorClass: 'TypeError', errorMessage: 'no route', logs: null },
    ])
  })

  test('on the last attempt is a dead letter, with the original job and every attempt', async () => {
    await using t = await setup()
    const { millrace } = await run(t, quick, (_, ctx) => {
      throw new Error(`attempt ${ctx.attempt}`)
    })
    const { id } = await millrace.enqueue(quick, { n: 7 }, { correlationId: 'c-1', tenant: 'acme' })
    await jobEvent(millrace, 'job_died', id)
    expect((await letters(t))[0]).toMatchObject({
      job_id: id,
      reason: 'exhausted',
      attempts: 3,
      error_message: 'attempt 3',
      correlation_id: 'c-1',
      tenant: 'acme',
      status: 'pending',
      acknowledged: false,
      original_job: { id: Number(id), type: 'quick', payload: { n: 7 }, correlation_id: 'c-1' },
    })
    expect((await millrace.attempts(id)).map((attempt) => attempt.errorMessage)).toEqual([
      'attempt 1',
      'attempt 2',
      'attempt 3',
    ])
    expect((await archived(t))[0]).toMatchObject({ status: 'dead', reason: 'exhausted', last_error: 'attempt 3' })
    expect(await live(t)).toEqual([])
  })

  test('of anything at all is recorded', async () => {
    await using t = await setup()
    const thrown = [
      'text \u0000 \ud800',
      undefined,
      { deep: { a: 1n } },
      new Proxy({}, { ownKeys: () => undefined as never }),
    ]
    const { millrace } = await run(t, once, ({ n }) => {
      throw thrown[n]
    })
    const results = await millrace.enqueueMany(once, [{ n: 0 }, { n: 1 }, { n: 2 }, { n: 3 }])
    await Promise.all(results.map(({ id }) => jobEvent(millrace, 'job_died', id)))
    expect((await letters(t)).map((row) => row.error_message).sort()).toEqual([
      'Something was thrown that cannot be turned into text.',
      'text \ufffd \ufffd',
      'undefined',
      '{"deep":{"a":"1"}}',
    ])
  })

  test('of Unrecoverable is a dead letter at once', async () => {
    await using t = await setup()
    const { millrace } = await run(t, task, () => {
      throw new Unrecoverable('card was stolen')
    })
    const { id } = await millrace.enqueue(task, { n: 1 })
    expect(await jobEvent(millrace, 'job_died', id)).toMatchObject({
      reason: 'unrecoverable',
      failure: { message: 'card was stolen' },
    })
  })

  test('of RetryAfter waits as long as asked and uses up no attempt', async () => {
    await using t = await setup()
    let runs = 0
    const { millrace } = await run(t, once, (_, ctx) => {
      if (runs++ === 0) throw new RetryAfter(0)
      return ctx.attempt
    })
    const { id } = await millrace.enqueue(once, { n: 1 })
    await jobEvent(millrace, 'job_completed', id)
    expect((await archived(t))[0]).toMatchObject({ attempt: 1, result: 1 })
  })

  test('RetryAfter is bounded by half a second and a day', () => {
    expect(new RetryAfter('365d').delayMs).toBe(86_400_000)
    expect(new RetryAfter(0).delayMs).toBe(500)
  })

  test('past the give-up time is a dead letter, whatever attempts are left', async () => {
    await using t = await setup()
    const { millrace } = await run(t, impatient, () => {
      throw new Error('down')
    })
    const { id } = await millrace.enqueue(impatient, { n: 1 })
    expect(await jobEvent(millrace, 'job_died', id)).toMatchObject({ reason: 'gave_up', job: { attempt: 1 } })
  })

  test('is given up so long after it was first due, whenever it was enqueued', async () => {
    await using t = await setup()
    const patient = defineJob({ ...base('patient'), retry: { attempts: 9, backoff: () => 20_000, giveUpAfter: '30s' } })
    const failing = implement(patient, () => {
      throw new Error('down')
    })
    const millrace = t.client([patient])
    const { id } = await millrace.enqueue(patient, { n: 1 })
    await t.sql(`update millrace.job set created_at = now() - interval '1 hour'`)
    const retried = jobEvent(millrace, 'job_retry_scheduled', id)
    await millrace.work({ handlers: [failing], gracePeriod: '5s' })
    await retried
    await t.sql(`update millrace.job set first_due_at = first_due_at - interval '20 seconds'`)
    const died = jobEvent(millrace, 'job_died', id)
    // Due now, and the worker hears of it.
    await millrace.retry(id, { by: 'test' })
    expect(await died).toMatchObject({ reason: 'gave_up', job: { attempt: 2 } })
  })

  test("with onExhausted: 'drop' leaves an archive row and no dead letter", async () => {
    await using t = await setup()
    const { millrace } = await run(t, droppable, () => {
      throw new Error('unimportant')
    })
    const { id } = await millrace.enqueue(droppable, { n: 1 })
    expect(await jobEvent(millrace, 'job_died', id)).toMatchObject({ dropped: true })
    expect((await archived(t))[0]).toMatchObject({ status: 'dead' })
    expect(await letters(t)).toEqual([])
  })

  test('the number of attempts can be set per job', async () => {
    await using t = await setup()
    const { millrace } = await run(t, quick, () => {
      throw new Error('x')
    })
    const { id } = await millrace.enqueue(quick, { n: 1 }, { maxAttempts: 1 })
    expect(await jobEvent(millrace, 'job_died', id)).toMatchObject({ job: { attempt: 1 } })
  })
})

describe('a payload', () => {
  test('is parsed again at the run, so that transforms reach the handler', async () => {
    await using t = await setup()
    const shout = defineJob({
      type: 'shout',
      queue: queues.default,
      payload: z.string().transform((text) => text.toUpperCase()),
    })
    const { millrace } = await run(t, shout, (text) => text)
    const { id } = await millrace.enqueue(shout, 'hi')
    await jobEvent(millrace, 'job_completed', id)
    expect((await archived(t))[0]?.result).toBe('HI')
  })

  test('that no longer fits is a dead letter, not a retry loop', async () => {
    await using t = await setup()
    const millrace = t.client([task])
    const { id } = await millrace.enqueue(task, { n: 1 })
    await t.sql(`update millrace.job set payload = '{"n":"old"}'`)
    const died = jobEvent(millrace, 'job_died', id)
    await millrace.work({ handlers: [implement(task, () => 'never')] })
    expect(await died).toMatchObject({ reason: 'invalid_payload', failure: { message: expect.stringMatching(/n: /) } })
  })
})

describe('the flight recorder', () => {
  test('stores the last log lines of a run that fails', async () => {
    await using t = await setup()
    const { millrace } = await run(t, task, (_, ctx) => {
      for (let i = 1; i <= 60; i++) ctx.log.info({ i }, `step ${i}`)
      throw new Error('x')
    })
    const { id } = await millrace.enqueue(task, { n: 1 })
    await jobEvent(millrace, 'job_retry_scheduled', id)
    const logs = (await millrace.attempts(id))[0]?.logs as { level: string; msg: string; fields: string }[]
    expect(logs).toHaveLength(50)
    expect(logs[0]).toMatchObject({ level: 'info', msg: 'step 11', fields: '{"i":11}' })
    expect(logs[49]).toMatchObject({ msg: 'step 60' })
  })

  test('stores nothing of a run that succeeds, and binds job and correlation to every line', async () => {
    await using t = await setup()
    const lines: object[] = []
    const log = (fields: object, msg: string) => void lines.push({ ...fields, msg })
    const millrace = t.client([task], { logger: { debug: log, info: log, warn: log, error: log } })
    await millrace.work({ handlers: [implement(task, (_, ctx) => ctx.log.info({ a: 1 }, 'hello'))] })
    const { id } = await millrace.enqueue(task, { n: 1 }, { correlationId: 'c-9', tenant: 'acme' })
    await jobEvent(millrace, 'job_completed', id)
    expect(lines).toContainEqual({
      job: id,
      type: 'task',
      queue: 'default',
      attempt: 1,
      correlation: 'c-9',
      tenant: 'acme',
      a: 1,
      msg: 'hello',
    })
    expect(await t.sql('select from millrace.job_attempt')).toEqual([])
  })
})

describe('correlation', () => {
  test('is inherited by what a job enqueues, which becomes its child', async () => {
    await using t = await setup()
    const child = defineJob({ ...base('child') })
    const millrace = t.client([task, child])
    await millrace.work({
      handlers: [
        implement(task, async () => {
          await new Promise((resolve) => setImmediate(resolve))
          return (await millrace.enqueue(child, { n: 2 })).id
        }),
        implement(child, (_, ctx) => ({ correlation: ctx.correlationId, parent: ctx.parentJobId })),
      ],
    })
    const { id } = await millrace.enqueue(task, { n: 1 }, { correlationId: 'chain' })
    const done = await millrace.events.next('job_completed', ({ job }) => job.type === 'child')
    expect((await millrace.job(done.job.id))?.result).toEqual({ correlation: 'chain', parent: id })
  })
})

describe('retention', () => {
  test.each(['none', 'short', 'long'] as const)('%s decides what the archive keeps', async (retention) => {
    await using t = await setup()
    const kept = defineJob({ ...base('kept'), retention })
    const { millrace } = await run(t, kept, () => 'ok')
    const { id } = await millrace.enqueue(kept, { n: 1 })
    await jobEvent(millrace, 'job_completed', id)
    const rows = await t.sql('select retention from millrace.job_archive')
    expect(rows).toEqual(retention === 'none' ? [] : [{ retention }])
  })
})
