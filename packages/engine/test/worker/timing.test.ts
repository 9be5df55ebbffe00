import { defineJob, defineQueues, implement, LeaseLost, TimedOut, WorkerStopping } from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { eventually, jobEvent, setup, shortLease, signal } from '../support/setup.ts'

const queues = defineQueues({ default: { concurrency: 2 } })
const slow = defineJob({
  type: 'slow',
  queue: queues.default,
  payload: z.object({}),
  timeout: '200ms',
  retry: { attempts: 2, backoff: () => 60_000 },
})
const patient = defineJob({ type: 'patient', queue: queues.default, payload: z.object({}) })

const aborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))

describe('a timeout', () => {
  test('aborts the handler and fails the attempt', async () => {
    await using t = await setup()
    let reason: unknown
    const { millrace } = await t.working([
      implement(slow, (_, ctx) =>
        aborted(ctx.signal).catch((error) => {
          reason = error
          throw error
        }),
      ),
    ])
    const { id } = await millrace.enqueue(slow, {})
    expect(await jobEvent(millrace, 'job_retry_scheduled', id)).toMatchObject({ failure: { class: 'TimedOut' } })
    expect(reason).toBeInstanceOf(TimedOut)
  })

  test('fails the attempt also when the handler returns a value afterwards, and not before it returned', async () => {
    await using t = await setup()
    const release = signal()
    const { millrace } = await t.working([
      implement(slow, async (_, ctx) => {
        await aborted(ctx.signal).catch(() => {})
        expect(await t.sql('select status from millrace.job')).toEqual([{ status: 'processing' }])
        release.resolve()
        return 'late'
      }),
    ])
    const { id } = await millrace.enqueue(slow, {})
    const scheduled = jobEvent(millrace, 'job_retry_scheduled', id)
    await release.promise
    expect(await scheduled).toMatchObject({ failure: { class: 'TimedOut' } })
  })

  test('doubled and ignored makes the run stuck: a dead letter, a leaked slot, and a late result that is dropped', async () => {
    await using t = await setup()
    const release = signal()
    const { millrace, worker } = await t.working([
      implement(slow, async () => {
        await release.promise
        return 'too late'
      }),
    ])
    const { id } = await millrace.enqueue(slow, {})
    const leaked = jobEvent(millrace, 'slot_leaked', id)
    expect(await jobEvent(millrace, 'job_died', id)).toMatchObject({ reason: 'stuck' })
    await leaked
    expect(worker.running).toBe(1)
    const recovered = millrace.events.next('slot_recovered')
    release.resolve()
    await recovered
    expect(worker.running).toBe(0)
    expect(await millrace.job(id)).toMatchObject({ status: 'dead', reason: 'stuck', result: null })
  })
})

describe('cancelling', () => {
  test('a waiting job keeps to the retention of its type', async () => {
    await using t = await setup()
    const unkept = defineJob({ type: 'unkept', queue: queues.default, payload: z.object({}), retention: 'none' })
    const millrace = t.client([unkept])
    const { id } = await millrace.enqueue(unkept, {})
    expect(await millrace.cancel(id, { by: 'ann' })).toBe('cancelled')
    expect(await t.sql('select from millrace.job_archive')).toEqual([])
  })

  test('a waiting job archives it at once', async () => {
    await using t = await setup()
    const millrace = t.client([patient])
    const { id } = await millrace.enqueue(patient, {})
    expect(await millrace.cancel(id, { by: 'ann', reason: 'changed my mind' })).toBe('cancelled')
    expect(await millrace.job(id)).toMatchObject({ status: 'cancelled', reason: 'changed my mind' })
    expect(await millrace.cancel(id, { by: 'ann' })).toBe('already_finished')
    expect(await millrace.cancel('999999', { by: 'ann' })).toBe('not_found')
    expect(await millrace.cancel('nonsense', { by: 'ann' })).toBe('not_found')
  })

  test('a running job from another process aborts it', async () => {
    await using t = await setup()
    const { millrace } = await t.working([implement(patient, (_, ctx) => aborted(ctx.signal))])
    const { id } = await millrace.enqueue(patient, {})
    await jobEvent(millrace, 'job_started', id)
    const cancelled = jobEvent(millrace, 'job_cancelled', id)
    expect(await t.client([patient]).cancel(id, { by: 'ann', reason: 'enough' })).toBe('requested')
    await cancelled
    expect(await millrace.job(id)).toMatchObject({ status: 'cancelled', reason: 'enough' })
  })

  test('a running job that finishes all the same has completed', async () => {
    await using t = await setup()
    const release = signal()
    const { millrace } = await t.working([implement(patient, () => release.promise)])
    const { id } = await millrace.enqueue(patient, {})
    await jobEvent(millrace, 'job_started', id)
    await millrace.cancel(id, { by: 'ann' })
    const completed = jobEvent(millrace, 'job_completed', id)
    release.resolve()
    await completed
    expect(await millrace.job(id)).toMatchObject({ status: 'completed' })
  })

  test('a job that comes back with the request on it never runs again', async () => {
    await using t = await setup()
    const millrace = t.client([patient])
    const { id } = await millrace.enqueue(patient, {})
    await t.sql('update millrace.job set cancel_requested_at = now()')
    const cancelled = jobEvent(millrace, 'job_cancelled', id)
    await millrace.work({ handlers: [implement(patient, () => 'ran')] })
    await cancelled
    expect(await millrace.job(id)).toMatchObject({ status: 'cancelled', result: null })
  })
})

describe('shutdown', () => {
  test('waits for running handlers and stops claiming', async () => {
    await using t = await setup()
    const release = signal()
    const { millrace, worker } = await t.working([implement(patient, () => release.promise)], {
      concurrency: { default: 1 },
    })
    const [first, second] = await millrace.enqueueMany(patient, [{}, {}])
    await jobEvent(millrace, 'job_started', first?.id ?? '')
    const stopped = worker.stop()
    expect(worker.isReady).toBe(false)
    release.resolve()
    await stopped
    expect(await millrace.job(first?.id ?? '')).toMatchObject({ status: 'completed' })
    expect(await millrace.job(second?.id ?? '')).toMatchObject({ status: 'pending', attempt: 0 })
    expect(await t.sql('select ended_reason from millrace.worker')).toEqual([{ ended_reason: 'shut down' }])
  })

  test('aborts after the grace period and gives the job back without using up an attempt', async () => {
    await using t = await setup()
    let reason: unknown
    const { millrace, worker } = await t.working(
      [
        implement(patient, (_, ctx) =>
          aborted(ctx.signal).catch((error) => {
            reason = error
            throw error
          }),
        ),
      ],
      { gracePeriod: '50ms' },
    )
    const { id } = await millrace.enqueue(patient, {})
    await jobEvent(millrace, 'job_started', id)
    await worker.stop()
    expect(reason).toBeInstanceOf(WorkerStopping)
    const job = await millrace.job(id)
    expect(job).toMatchObject({ status: 'pending', attempt: 0, crashes: 0 })
    expect(job?.runAt).toEqual(job?.createdAt)
    expect(await millrace.attempts(id)).toEqual([])
  })

  test('does not wait for a handler that ignores its signal: its job goes back too', async () => {
    await using t = await setup()
    const { millrace, worker } = await t.working([implement(patient, () => new Promise(() => {}))], { gracePeriod: 0 })
    const { id } = await millrace.enqueue(patient, {})
    await jobEvent(millrace, 'job_started', id)
    await worker.stop()
    expect(await millrace.job(id)).toMatchObject({ status: 'pending', attempt: 0 })
  })

  test('asked for twice is one shutdown', async () => {
    await using t = await setup()
    const { millrace, worker } = await t.working([implement(patient, () => 'ok')])
    let stops = 0
    millrace.events.on('worker_stopped', () => stops++)
    await Promise.all([worker.stop(), worker.stop(), millrace.close()])
    expect(stops).toBe(1)
  })
})

test('jobs claimed together start by priority, then due time', async () => {
  await using t = await setup()
  const millrace = t.client([patient])
  const order: number[] = []
  for (const priority of [7, 3, 9, 1, 5]) await millrace.enqueue(patient, {}, { priority })
  const all = new Promise<void>((resolve) => millrace.events.on('job_completed', () => order.length === 5 && resolve()))
  millrace.events.on('job_started', async ({ job }) => void order.push(Number(job.id)))
  await millrace.work({ handlers: [implement(patient, () => {})], concurrency: { default: 5 }, lease: shortLease })
  await all
  expect(order).toEqual([4, 2, 5, 1, 3])
})

test('a lease that one slow answer would lose is refused', async () => {
  await using t = await setup()
  const starting = t.working([implement(patient, () => {})], { lease: { heartbeat: '10s', ttl: '20s' } })
  await expect(starting).rejects.toThrow(/must outlast three heartbeats/)
})

describe('the lease', () => {
  test('lost to a rescuer aborts what runs, and work goes on under a new id', async () => {
    await using t = await setup()
    let reason: unknown
    const ran = signal()
    let runs = 0
    const { millrace, worker } = await t.working([
      implement(patient, (_, ctx) => {
        if (++runs > 1) return ran.resolve()
        return aborted(ctx.signal).catch((error) => {
          reason = error
          throw error
        })
      }),
    ])
    const { id } = await millrace.enqueue(patient, {})
    await jobEvent(millrace, 'job_started', id)
    const before = worker.id
    const lost = millrace.events.next('lease_lost')
    await t.sql(`update millrace.worker set ended_at = now(), ended_reason = 'test'`)
    await lost
    await ran.promise
    expect(reason).toBeInstanceOf(LeaseLost)
    expect(worker.id).not.toBe(before)
    await eventually(async () => (await millrace.job(id))?.status === 'completed')
    expect(await millrace.job(id)).toMatchObject({ attempt: 1 })
    const { id: next } = await millrace.enqueue(patient, {})
    await jobEvent(millrace, 'job_completed', next)
    expect(await millrace.job(next)).toMatchObject({ workerId: worker.id })
  })

  test('a run the database no longer lists is aborted at the next heartbeat', async () => {
    await using t = await setup()
    const { millrace } = await t.working([implement(patient, (_, ctx) => aborted(ctx.signal))])
    const { id } = await millrace.enqueue(patient, {})
    await jobEvent(millrace, 'job_started', id)
    const lost = jobEvent(millrace, 'job_fence_lost', id)
    await t.sql('delete from millrace.job')
    await lost
  })

  test('a job listed as running here that nobody here knows is given back', async () => {
    await using t = await setup()
    const { millrace, worker } = await t.working([implement(patient, () => 'ok')])
    await millrace.events.next('idle')
    const { id } = await millrace.enqueue(patient, {}, { delay: '1h' })
    const completed = jobEvent(millrace, 'job_completed', id)
    await t.sql(
      `update millrace.job set status = 'processing', attempt = 1, run_id = gen_random_uuid(), worker_id = $1,
       started_at = now(), deadline_at = now() + interval '1 hour'`,
      [worker.id],
    )
    await completed
    expect(await millrace.job(id)).toMatchObject({ status: 'completed', attempt: 1 })
  })
})
