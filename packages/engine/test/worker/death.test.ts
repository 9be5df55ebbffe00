// For each reason for which a job dies: the letter that is left, with all its parts.
import { type DeadReason, defineJob, defineQueues, discard, type Handler, implement, Unrecoverable } from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { systemClock } from '#src/clock'
import { Registry } from '#src/contract/registry'
import { Events } from '#src/events'
import { Rescuer } from '#src/maintenance/rescuer'
import { graveyard } from '../support/dead-letters.ts'
import { jobEvent } from '../support/setup.ts'

const queues = defineQueues({ default: {} })
const base = { type: 'task', queue: queues.default, payload: z.object({ n: z.number() }) } as const
const task = defineJob({ ...base, retry: { attempts: 2, backoff: () => 0 } })
const impatient = defineJob({ ...base, retry: { attempts: 9, backoff: () => 60_000, giveUpAfter: '30s' } })
const hasty = defineJob({ ...base, timeout: '40ms' })
const stricter = defineJob({ ...base, payload: z.object({ n: z.string() }) })
const options = { tenant: 'acme', correlationId: 'c-1', createdBy: 'web' }

interface Case {
  reason: DeadReason
  contract: typeof task
  handler?: Handler<typeof task>
  error: { errorClass: string; errorMessage: unknown }
  attempts: number
}

const throwing = (error: Error) => (_: unknown, ctx: { log: { info(fields: object, message: string): void } }) => {
  ctx.log.info({ order: 7 }, 'about to fail')
  throw error
}

const cases: Case[] = [
  {
    reason: 'exhausted',
    contract: task,
    handler: throwing(new TypeError('no route')),
    error: { errorClass: 'TypeError', errorMessage: 'no route' },
    attempts: 2,
  },
  {
    reason: 'discarded',
    contract: task,
    handler: () => discard('no such customer'),
    error: { errorClass: 'Unrecoverable', errorMessage: 'no such customer' },
    attempts: 1,
  },
  {
    reason: 'unrecoverable',
    contract: task,
    handler: throwing(new Unrecoverable('gone for good')),
    error: { errorClass: 'Unrecoverable', errorMessage: 'gone for good' },
    attempts: 1,
  },
  {
    reason: 'gave_up',
    contract: impatient,
    handler: throwing(new Error('not yet')),
    error: { errorClass: 'Error', errorMessage: 'not yet' },
    attempts: 1,
  },
  {
    reason: 'invalid_payload',
    contract: stricter as never,
    handler: () => {},
    error: {
      errorClass: 'InvalidPayload',
      errorMessage: expect.stringContaining('does not fit the schema of this worker: n'),
    },
    attempts: 1,
  },
]

const parts = (reason: DeadReason, jobId: string) => ({
  jobId,
  type: 'task',
  queue: 'default',
  tenant: 'acme',
  correlationId: 'c-1',
  reason,
  fingerprint: expect.stringMatching(/^[0-9a-f]{12}$/),
  status: 'pending',
  acknowledged: false,
  redrives: 0,
  diedAt: expect.any(Date),
  originalJob: { type: 'task', correlation_id: 'c-1', created_by: 'web', payload: { n: 7 } },
})

describe('a job that dies leaves a whole letter', () => {
  test.each(cases)('when it is $reason', async ({ reason, contract, handler, error, attempts }) => {
    await using t = await graveyard()
    const { id } = await t.client([task]).enqueue(task, { n: 7 }, options)
    const millrace = t.client([contract])
    const died = jobEvent(millrace, 'job_died', id)
    await millrace.work({ handlers: [implement(contract, handler as Handler<typeof task>)] })
    const { failure } = await died
    const [listed] = await millrace.deadLetters.list()
    const letter = await millrace.deadLetters.get(listed?.id as string)
    expect(letter).toMatchObject({ ...parts(reason, id), ...error, attempts, fingerprint: failure.fingerprint })
    expect(letter?.errorDetails).toMatchObject({ class: error.errorClass, stack: expect.any(String) })
    expect(letter?.failedAttempts).toHaveLength(attempts)
    for (const failed of letter?.failedAttempts ?? [])
      expect(failed).toMatchObject({ fingerprint: letter?.fingerprint })
    if (handler !== undefined && reason !== 'discarded' && reason !== 'invalid_payload') {
      expect(letter?.errorDetails?.logs).toMatchObject([{ level: 'info', msg: 'about to fail' }])
    }
  })

  test('when it is stuck while its worker looks on', async () => {
    await using t = await graveyard()
    const millrace = t.client([hasty])
    let leave = () => {}
    const deaf = new Promise<void>((resolve) => {
      leave = resolve
    })
    await millrace.work({ handlers: [implement(hasty, () => deaf)], gracePeriod: 0 })
    const died = millrace.events.next('job_died')
    const { id } = await millrace.enqueue(hasty, { n: 7 }, options)
    await died
    leave()
    const [listed] = await millrace.deadLetters.list()
    const letter = await millrace.deadLetters.get(listed?.id as string)
    expect(letter).toMatchObject({ ...parts('stuck', id), errorClass: 'TimedOut', attempts: 1 })
    expect(letter?.failedAttempts).toMatchObject([{ fingerprint: letter?.fingerprint }])
  })

  test.each([
    { reason: 'stuck', crashes: 0, lease: 60, errorClass: 'StuckRun' },
    { reason: 'crash_loop', crashes: 2, lease: -1, errorClass: 'CrashLoop' },
  ] as const)('when a rescuer finds it: $reason', async ({ reason, crashes, lease, errorClass }) => {
    await using t = await graveyard()
    const millrace = t.client([task])
    const { id } = await millrace.enqueue(task, { n: 7 }, options)
    await t.sql(
      `with holder as (
         insert into millrace.worker values (gen_random_uuid(), 'h', 1, '0', '{}', now(), now(), now() + make_interval(secs => $3))
         returning id
       )
       update millrace.job set status = 'processing', attempt = 1, crashes = $2, run_id = gen_random_uuid(),
         worker_id = holder.id, started_at = now(), deadline_at = now() - interval '1 second'
       from holder where job.id = $1`,
      [id, crashes, lease],
    )
    const rescuer = new Rescuer({
      db: t.db,
      clock: systemClock,
      registry: new Registry([task]),
      events: new Events(),
      intervalMs: 1_000,
      mayJudge: () => true,
      wake: () => {},
      onBlocked: () => {},
      onStepsEnded: () => {},
    })
    expect(await rescuer.tick()).toMatchObject({ rescued: 1 })
    const [listed] = await millrace.deadLetters.list()
    const letter = await millrace.deadLetters.get(listed?.id as string)
    expect(letter).toMatchObject({ ...parts(reason, id), errorClass, attempts: 1 })
    expect(letter?.failedAttempts).toMatchObject([{ fingerprint: letter?.fingerprint }])
  })
})

describe('the recipes that people know', () => {
  test('read the letters as they always did', async () => {
    await using t = await graveyard()
    const millrace = t.client([task])
    const { id } = await millrace.enqueue(task, { n: 7 }, options)
    const [letter] = await t.kill([id])
    const rows = await t.sql(
      `select id, original_job->>'type' as job_type, original_job->>'correlation_id' as correlation_id, error_message, died_at
       from millrace.dead_letter_jobs
       where acknowledged = false
       order by died_at desc`,
    )
    expect(rows).toMatchObject([{ id: letter, job_type: 'task', correlation_id: 'c-1', error_message: 'it failed' }])
  })
})
