import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import {
  ClientClosed,
  cancel,
  defineJob,
  defineQueues,
  type Handler,
  implement,
  JobNotFound,
  type JobResult,
  ResultMismatch,
  ResultTimeout,
} from 'millrace'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { attentive, setup as base, eventually, jobEvent, type Setup, signal } from '../support/setup.ts'

const queues = defineQueues({ default: { concurrency: 50 } })
const definition = { queue: queues.default, payload: z.object({ n: z.number() }), retry: { attempts: 1 } } as const
const double = defineJob({ ...definition, type: 'double' })
const typed = defineJob({ ...definition, type: 'typed', result: z.object({ at: z.coerce.date(), n: z.number() }) })
const traceless = defineJob({ ...definition, type: 'traceless', retention: 'none' })
const jobs = [double, typed, traceless]

/** A client that waits, and a worker that belongs to another one. */
async function setup(handler: Handler<typeof double> = ({ n }) => ({ doubled: 2 * n })) {
  const t = await base()
  const waiting = t.client(jobs, { database: { connectionString: t.url, application_name: 'waiting' } })
  const { millrace: working, worker } = await t.working(jobs.map((job) => implement(job, handler as never)))
  return { ...t, waiting, working, worker, [Symbol.asyncDispose]: () => t[Symbol.asyncDispose]() }
}

const connections = async (t: Pick<Setup, 'sql'>): Promise<{ pid: number; query: string }[]> =>
  t.sql(`select pid, query from pg_stat_activity where application_name = 'waiting' and datname = current_database()`)
const listening = async (t: Pick<Setup, 'sql'>): Promise<{ pid: number } | undefined> =>
  (await connections(t)).find(({ query }) => query.startsWith('listen'))

describe('result() of a job', () => {
  test('run in the same client is its result', async () => {
    await using t = await setup()
    const { id } = await t.working.enqueue(double, { n: 21 })
    expect(await t.working.result(id)).toEqual({ status: 'completed', result: { doubled: 42 } })
  })

  test('run by another process is its result', async () => {
    await using t = await base()
    const waiting = t.client(jobs)
    const child = fork(fileURLToPath(new URL('./fixtures/worker-process.js', import.meta.url)), [t.url])
    const exited = once(child, 'exit')
    await once(child, 'message')
    const { id } = await waiting.enqueue(double, { n: 21 })
    expect(await waiting.result(id)).toEqual({ status: 'completed', result: { doubled: 42 } })
    child.disconnect()
    await exited
  })

  test('that had ended before comes at once, and needs no connection to listen on', async () => {
    await using t = await setup()
    const { id } = await t.waiting.enqueue(double, { n: 1 })
    await jobEvent(t.working, 'job_completed', id)
    expect(await t.waiting.result(id, { timeout: '5s' })).toEqual({ status: 'completed', result: { doubled: 2 } })
    expect(await listening(t)).toBeUndefined()
  })

  test('whose handler returned nothing is undefined, and null when it returned null', async () => {
    await using t = await setup(({ n }) => (n === 0 ? undefined : null))
    const [nothing, nil] = await t.waiting.enqueueMany(double, [{ n: 0 }, { n: 1 }])
    expect(await t.waiting.result(nothing?.id ?? '')).toEqual({ status: 'completed', result: undefined })
    expect(await t.waiting.result(nil?.id ?? '')).toEqual({ status: 'completed', result: null })
  })

  test('completed in a transaction of its handler is its result', async () => {
    await using t = await setup((_, ctx) =>
      ctx.transaction(async (tx) => (await tx.query('select 7 as seven')).rows[0] as object),
    )
    const { id } = await t.waiting.enqueue(double, { n: 1 })
    expect(await t.waiting.result(id)).toEqual({ status: 'completed', result: { seven: 7 } })
  })

  test('cancelled by its handler says why', async () => {
    await using t = await setup(() => cancel('not needed'))
    const { id } = await t.waiting.enqueue(double, { n: 1 })
    expect(await t.waiting.result(id)).toEqual({ status: 'cancelled', reason: 'not needed' })
  })

  test('cancelled from outside, waiting or running, says so', async () => {
    await using t = await setup(
      (_, ctx) => new Promise((_resolve, reject) => ctx.signal.addEventListener('abort', reject)),
    )
    const later = await t.waiting.enqueue(double, { n: 1 }, { delay: '1h' })
    const now = await t.waiting.enqueue(double, { n: 2 })
    const results = Promise.all([t.waiting.result(later.id), t.waiting.result(now.id)])
    await jobEvent(t.working, 'job_started', now.id)
    await t.waiting.cancel(later.id, { by: 'ann', reason: 'changed my mind' })
    await t.waiting.cancel(now.id, { by: 'ann' })
    expect(await results).toEqual([
      { status: 'cancelled', reason: 'changed my mind' },
      { status: 'cancelled', reason: 'cancelled by ann' },
    ])
  })

  test('that died says of what', async () => {
    await using t = await setup(() => {
      throw new Error('no such address')
    })
    const { id } = await t.waiting.enqueue(double, { n: 1 })
    expect(await t.waiting.result(id)).toEqual({ status: 'dead', reason: 'exhausted', error: 'no such address' })
  })

  test('buried by the rescuer says so', async () => {
    await using t = await setup()
    const { id } = await t.waiting.enqueue(double, { n: 1 }, { delay: '1h' })
    // As a worker leaves it that died for the third time.
    await t.sql(
      `update millrace.job set status = 'processing', crashes = 2, attempt = 1, run_id = gen_random_uuid(),
         worker_id = gen_random_uuid(), started_at = now(), deadline_at = now() + interval '1 hour' where id = $1`,
      [id],
    )
    expect(await t.waiting.result(id)).toMatchObject({ status: 'dead', reason: 'crash_loop' })
  })

  test('awaited before any worker runs comes from one that starts later', async () => {
    await using t = await base()
    const waiting = t.client(jobs)
    const { id } = await waiting.enqueue(double, { n: 2 })
    const result = waiting.result(id)
    await expect(waiting.result(id, { timeout: '200ms' })).rejects.toThrow(ResultTimeout)
    await t.working([implement(double, ({ n }) => n)])
    expect(await result).toEqual({ status: 'completed', result: 2 })
  })

  test('is found by polling alone when NOTIFY is switched off', async () => {
    await using t = await setup()
    const quiet = t.client(jobs, { notify: false, database: { connectionString: t.url, application_name: 'waiting' } })
    const { id } = await t.working.enqueue(double, { n: 2 }, { delay: '300ms' })
    expect(await quiet.result(id)).toEqual({ status: 'completed', result: { doubled: 4 } })
    expect(await listening(t)).toBeUndefined()
  })
})

describe('a contract', () => {
  test('types the result and parses it', async () => {
    await using t = await setup(({ n }) => ({ at: '2026-03-01T12:00:00Z', n }))
    const { id } = await t.waiting.enqueue(typed, { n: 1 })
    const result = await t.waiting.result(id, { contract: typed })
    expectTypeOf(result).toEqualTypeOf<JobResult<{ at: Date; n: number }>>()
    expect(result).toEqual({ status: 'completed', result: { at: new Date('2026-03-01T12:00:00Z'), n: 1 } })
  })

  test('that the stored result does not fit is told, with what is wrong', async () => {
    await using t = await setup(() => ({ at: 'today' }))
    const { id } = await t.waiting.enqueue(double, { n: 1 })
    await t.waiting.result(id)
    const newer = defineJob({ ...definition, type: 'double', result: z.object({ doubled: z.number() }) })
    const refused = t.waiting.result(id, { contract: newer })
    await expect(refused).rejects.toThrow(ResultMismatch)
    await expect(refused).rejects.toThrow(/does not fit the result schema of "double": doubled /)
  })

  test('of another type is refused while the job still waits', async () => {
    await using t = await base()
    const waiting = t.client(jobs)
    const { id } = await waiting.enqueue(double, { n: 1 })
    await expect(waiting.result(id, { contract: typed })).rejects.toThrow(/its type is "double", not "typed"/)
  })
})

describe('a job that keeps no history', () => {
  test('is gone when it ends while it is awaited', async () => {
    const started = signal()
    await using t = await setup(() => started.promise)
    const { id } = await t.waiting.enqueue(traceless, { n: 1 })
    const result = t.waiting.result(id)
    await eventually(async () => (await listening(t)) !== undefined)
    started.resolve()
    expect(await result).toEqual({ status: 'gone' })
  })

  test('has a dead letter all the same when it died', async () => {
    await using t = await setup(() => {
      throw new Error('boom')
    })
    const { id } = await t.waiting.enqueue(traceless, { n: 1 })
    expect(await t.waiting.result(id)).toEqual({ status: 'dead', reason: 'exhausted', error: 'boom' })
  })

  test('is not found once it is over', async () => {
    await using t = await setup()
    const { id } = await t.waiting.enqueue(traceless, { n: 1 })
    await jobEvent(t.working, 'job_completed', id)
    await expect(t.waiting.result(id)).rejects.toThrow(JobNotFound)
  })
})

describe('no answer', () => {
  test('in time is a ResultTimeout, and the job goes on', async () => {
    const finish = signal()
    await using t = await setup(() => finish.promise)
    const { id } = await t.waiting.enqueue(double, { n: 1 })
    const refused = t.waiting.result(id, { timeout: '150ms' })
    await expect(refused).rejects.toThrow(ResultTimeout)
    await expect(refused).rejects.toMatchObject({ id, timeoutMs: 150, code: 'result_timeout' })
    finish.resolve()
    expect(await t.waiting.result(id)).toEqual({ status: 'completed', result: undefined })
  })

  test('to an id that nobody has, or that is none, is JobNotFound', async () => {
    await using t = await base()
    const waiting = t.client(jobs)
    await expect(waiting.result('999')).rejects.toThrow(JobNotFound)
    await expect(waiting.result('drop table')).rejects.toThrow(/that is no id/)
  })

  test('while the enqueueing transaction is open is JobNotFound', async () => {
    await using t = await base()
    const waiting = t.client(jobs)
    const tx = await t.pool.connect()
    await tx.query('begin')
    const { id } = await waiting.enqueue(double, { n: 1 }, { tx })
    await expect(waiting.result(id)).rejects.toThrow(/its transaction has not committed/)
    await tx.query('rollback')
    tx.release()
  })

  test('is wanted by whoever aborts, before or meanwhile', async () => {
    await using t = await base()
    const waiting = t.client(jobs)
    const { id } = await waiting.enqueue(double, { n: 1 })
    await expect(waiting.result(id, { signal: AbortSignal.abort('never mind') })).rejects.toBe('never mind')
    const controller = new AbortController()
    const refused = waiting.result(id, { signal: controller.signal })
    const other = waiting.result(id, { timeout: '500ms' })
    controller.abort(new Error('the browser left'))
    await expect(refused).rejects.toThrow('the browser left')
    await expect(other).rejects.toThrow(ResultTimeout)
    expect((await waiting.job(id))?.status).toBe('pending')
  })

  test('comes from a schema that does not exist: the error is told at once', async () => {
    await using t = await base()
    const lost = t.client(jobs, { schema: 'nowhere' })
    await expect(lost.result('1')).rejects.toThrow(/"nowhere.job" does not exist/)
  })

  test('comes from a client that is closed: it says so, and leaves no connection behind', async () => {
    await using t = await base()
    const waiting = t.client(jobs, { database: { connectionString: t.url, application_name: 'waiting' } })
    const { id } = await waiting.enqueue(double, { n: 1 })
    const refused = expect(waiting.result(id)).rejects.toThrow(ClientClosed)
    await eventually(async () => (await listening(t)) !== undefined)
    await waiting.close()
    await refused
    await expect(waiting.result(id)).rejects.toThrow(/no longer waits for job/)
    await eventually(async () => (await connections(t)).length === 0)
  })
})

describe('the connection that listens', () => {
  test('is one for all, and closes soon after the last waiter left', async () => {
    const finish = signal()
    await using t = await setup(() => finish.promise)
    const queued = await t.waiting.enqueueMany(double, [{ n: 1 }, { n: 2 }, { n: 3 }])
    const results = Promise.all(queued.map(({ id }) => t.waiting.result(id)))
    await eventually(async () => (await listening(t)) !== undefined)
    expect((await connections(t)).filter(({ query }) => query.startsWith('listen'))).toHaveLength(1)
    finish.resolve()
    await results
    await eventually(async () => (await listening(t)) === undefined)
  })

  test('may be killed: the answer comes all the same, and it is opened again', async () => {
    const finish = signal()
    await using t = await setup(() => finish.promise)
    const { id } = await t.waiting.enqueue(double, { n: 1 })
    const result = t.waiting.result(id)
    const first = await eventually(() => listening(t))
    await t.sql('select pg_terminate_backend($1)', [first.pid])
    const second = await eventually(async () => {
      const now = await listening(t)
      return now !== undefined && now.pid !== first.pid ? now : undefined
    })
    await t.sql('select pg_terminate_backend($1)', [second.pid])
    finish.resolve()
    expect(await result).toEqual({ status: 'completed', result: undefined })
  })
})

test('500 wait at once, and each gets its own answer', async () => {
  await using t = await setup()
  const queued = await t.waiting.enqueueMany(
    double,
    Array.from({ length: 500 }, (_, n) => ({ n })),
  )
  const results = await Promise.all(queued.map(({ id }) => t.waiting.result(id)))
  expect(results).toEqual(queued.map((_, n) => ({ status: 'completed', result: { doubled: 2 * n } })))
})

test('a worker elsewhere that is told what is awaited says when it ends, and of others nothing', async () => {
  await using t = await setup()
  const ear = await t.pool.connect()
  const heard: string[] = []
  ear.on('notification', ({ payload }) => heard.push(payload ?? ''))
  await ear.query('listen millrace_ended')
  const listens = t.client(jobs)
  const trusted = listens.events.next('listen_trusted')
  await listens.work({ handlers: [implement(typed, () => ({ at: '2026-01-01', n: 1 }))], lease: attentive })
  await trusted
  const [ignored, awaited] = await t.waiting.enqueueMany(typed, [{ n: 1 }, { n: 2 }], { delay: '1h' })
  await t.worker.stop()
  await t.sql(`select pg_notify('millrace_pulse', $1)`, [`a:${awaited?.id}`])
  // The pulse thread has heard it once it has heard what was said after it.
  const first = jobEvent(listens, 'job_completed', ignored?.id ?? '')
  await t.waiting.runNow(ignored?.id ?? '', { by: 'ann' })
  await first
  await t.waiting.runNow(awaited?.id ?? '', { by: 'ann' })
  await eventually(async () => heard.length > 0)
  ear.release(true)
  expect(heard).toEqual([awaited?.id])
})
