import { defineJob, defineQueues, implement } from 'millrace'
import { drain, jobInState, type State } from 'millrace/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { setup } from '../support/setup.ts'

const queues = defineQueues({ default: {} })
const task = defineJob({ type: 'task', queue: queues.default, payload: z.object({ n: z.number() }) })
const once = defineJob({ type: 'once', queue: queues.default, payload: z.object({}), retry: { attempts: 1 } })
const options = { contract: task, payload: { n: 1 } }

const statuses: Record<State, string> = {
  pending: 'pending',
  scheduled: 'pending',
  failed: 'failed',
  suspect: 'pending',
  blocked: 'blocked',
  processing: 'processing',
  stopping: 'processing',
  completed: 'completed',
  cancelled: 'cancelled',
  dead: 'dead',
}

describe('jobInState', () => {
  test.each(Object.entries(statuses))('makes a job that is %s', async (state, status) => {
    await using t = await setup()
    const millrace = t.client([task])
    const job = await jobInState(millrace, state as State, { ...options, tenant: 'acme', priority: 2 })
    expect(job).toMatchObject({ status, tenant: 'acme', priority: 2, payload: { n: 1 } })
    expect(await millrace.job(job.id)).toEqual(job)
  })

  test('gives a running job a worker that lives, and a dead one everything that a dead job has', async () => {
    await using t = await setup()
    const millrace = t.client([task])
    const running = await jobInState(millrace, 'processing', options)
    expect(running).toMatchObject({ attempt: 1, runId: expect.any(String), startedAt: expect.any(Date) })
    expect(await t.sql('select id from millrace.worker where ended_at is null and expires_at > now()')).toEqual([
      { id: running.workerId },
    ])
    const dead = await jobInState(millrace, 'dead', options)
    expect(dead).toMatchObject({ reason: 'unrecoverable', attempt: 1, lastError: 'made to fail by a test' })
    expect(await millrace.attempts(dead.id)).toHaveLength(1)
    expect(await t.sql('select job_id from millrace.dead_letter_jobs')).toEqual([{ job_id: dead.id }])
  })

  test('makes jobs that the engine can go on with', async () => {
    await using t = await setup()
    const millrace = t.client([task])
    for (const state of ['pending', 'suspect', 'scheduled', 'failed'] as const)
      await jobInState(millrace, state, options)
    const runs = await drain(millrace, [implement(task, (_, ctx) => ctx.attempt)])
    expect(runs).toMatchObject([
      { outcome: 'completed', result: 1 },
      { outcome: 'completed', result: 1 },
    ])
  })

  test('leaves another attempt to what has failed and waits, whatever the contract says', async () => {
    await using t = await setup()
    const millrace = t.client([once])
    expect(await jobInState(millrace, 'failed', { contract: once, payload: {} })).toMatchObject({
      attempt: 1,
      maxAttempts: 5,
    })
  })

  test('refuses a dedup key that is taken', async () => {
    await using t = await setup()
    const millrace = t.client([task])
    await jobInState(millrace, 'pending', { ...options, dedupKey: 'k' })
    await expect(jobInState(millrace, 'dead', { ...options, dedupKey: 'k' })).rejects.toThrow(/holds that dedup key/)
  })
})
