import { randomUUID } from 'node:crypto'
import { defineJob, defineQueues, endWorker, implement } from 'millrace'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { systemClock } from '#src/clock'
import { Registry } from '#src/contract/registry'
import { Events } from '#src/events'
import { Rescuer } from '#src/maintenance/rescuer'
import { Database } from '#src/store/db'
import { setup as base, jobEvent, shortLease } from '../support/setup.ts'

const queues = defineQueues({ default: {} })
const task = defineJob({ type: 'task', queue: queues.default, payload: z.object({}) })

async function setup(options: { mayJudge?: boolean } = {}) {
  const t = await base()
  const db = new Database({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections: 2 })
  const events = new Events()
  const woken: string[] = []
  const rescuer = new Rescuer({
    db,
    events,
    clock: systemClock,
    registry: new Registry([task]),
    intervalMs: 1_000,
    mayJudge: () => options.mayJudge ?? true,
    wake: (names) => void woken.push(...names),
    onBlocked: () => {},
    onStepsEnded: () => {},
  })
  return {
    ...t,
    db,
    rescuer,
    events,
    woken,
    /** A worker whose lease runs out in `seconds`, and a job it is running. */
    async runningJob(
      seconds: number,
      job: { crashes?: number; attempt?: number; cancelRequested?: boolean; deadline?: string } = {},
    ) {
      const [worker] = await t.sql<{ id: string }>(
        `insert into millrace.worker values (gen_random_uuid(), 'h', 1, '0', '{}', now(), now(), now() + make_interval(secs => $1))
         returning id`,
        [seconds],
      )
      const { id } = await t.client([task]).enqueue(task, {})
      await t.sql(
        `update millrace.job set status = 'processing', attempt = $2, crashes = $3, run_id = gen_random_uuid(), worker_id = $4,
           started_at = now(), deadline_at = now() + $6::interval, cancel_requested_at = case when $5 then now() end
         where id = $1`,
        [id, job.attempt ?? 1, job.crashes ?? 0, worker?.id, job.cancelRequested ?? false, job.deadline ?? '1 hour'],
      )
      return id
    },
    async [Symbol.asyncDispose]() {
      await db.close()
      await t[Symbol.asyncDispose]()
    },
  }
}

describe('the rescuer', () => {
  test("gives a dead worker's job back with its attempt, and remembers the crash", async () => {
    await using t = await setup()
    const id = await t.runningJob(-1, { attempt: 2 })
    expect(await t.rescuer.tick()).toMatchObject({ deadWorkers: [{ host: 'h', pid: 1 }], rescued: 1, isMore: false })
    expect(
      await t.sql('select status, attempt, crashes, run_id, deadline_at from millrace.job where id = $1', [id]),
    ).toEqual([{ status: 'pending', attempt: 1, crashes: 1, run_id: null, deadline_at: null }])
    expect(t.woken).toEqual(['default'])
    expect(await t.sql('select ended_reason from millrace.worker')).toEqual([{ ended_reason: 'lease expired' }])
    expect(await t.rescuer.tick()).toMatchObject({ deadWorkers: [], rescued: 0 })
  })

  test('leaves the jobs of living workers alone', async () => {
    await using t = await setup()
    await t.runningJob(60)
    expect(await t.rescuer.tick()).toMatchObject({ deadWorkers: [], rescued: 0 })
    expect(await t.sql('select status from millrace.job')).toEqual([{ status: 'processing' }])
  })

  test('asks one question, and no more if nobody needs help', async () => {
    await using t = await setup()
    await t.runningJob(60)
    const run = vi.spyOn(t.db, 'run')
    const transaction = vi.spyOn(t.db, 'transaction')
    expect(await t.rescuer.tick()).toEqual({ deadWorkers: [], rescued: 0, isMore: false })
    expect(run.mock.calls.map(([statement]) => statement)).toEqual(['rescueNeeds'])
    expect(transaction).not.toHaveBeenCalled()
  })

  test('judges nobody before its own lease has been held for a while: after an outage everybody looks dead', async () => {
    await using t = await setup({ mayJudge: false })
    await t.runningJob(-1)
    await t.runningJob(60, { deadline: '-1 second' })
    expect(await t.rescuer.tick()).toMatchObject({ deadWorkers: [], rescued: 0 })
    expect(await t.sql('select ended_at from millrace.worker')).toEqual([{ ended_at: null }, { ended_at: null }])
    expect(await t.sql('select from millrace.dead_letter_jobs')).toEqual([])
  })

  test('takes the jobs of a lease that was ended, however short it has held its own', async () => {
    await using t = await setup({ mayJudge: false })
    const id = await t.runningJob(60, { attempt: 2 })
    const [job] = await t.sql<{ worker_id: string }>('select worker_id from millrace.job')
    const end = () => endWorker(t.url, job?.worker_id as string, { reason: 'killed by SIGKILL' })
    expect([await end(), await end()]).toEqual([true, false])
    expect(await t.sql('select ended_reason from millrace.worker')).toEqual([{ ended_reason: 'killed by SIGKILL' }])
    expect(await t.rescuer.tick()).toMatchObject({ deadWorkers: [], rescued: 1 })
    expect(await t.sql('select status, attempt, crashes, run_id from millrace.job where id = $1', [id])).toEqual([
      { status: 'pending', attempt: 1, crashes: 1, run_id: null },
    ])
  })

  test('leaves everybody alone when the lease of a worker nobody knows is ended', async () => {
    await using t = await setup({ mayJudge: false })
    await t.runningJob(60)
    expect(await endWorker(t.url, randomUUID(), { reason: 'gone' })).toBe(false)
    expect(await t.rescuer.tick()).toMatchObject({ rescued: 0 })
  })

  test('makes the third crash a dead letter', async () => {
    await using t = await setup()
    const id = await t.runningJob(-1, { crashes: 2 })
    await t.rescuer.tick()
    expect(await t.sql('select job_id, reason, error_message from millrace.dead_letter_jobs')).toEqual([
      {
        job_id: id,
        reason: 'crash_loop',
        error_message: expect.stringMatching(
          /^The worker process died 3 times while running this job\. The last time it ran on pid 1 on host h, which ended: /,
        ),
      },
    ])
    expect(await t.sql('select from millrace.job')).toEqual([])
  })

  test('cancels a job whose cancellation its dead worker never heard of', async () => {
    await using t = await setup()
    const id = await t.runningJob(-1, { cancelRequested: true })
    await t.rescuer.tick()
    expect(await t.sql('select id, status from millrace.job_archive')).toEqual([{ id, status: 'cancelled' }])
  })

  test('fences off a run beyond its deadline, also on a living worker', async () => {
    await using t = await setup()
    const id = await t.runningJob(60, { deadline: '-1 second' })
    await t.rescuer.tick()
    expect(await t.sql('select job_id, reason from millrace.dead_letter_jobs')).toEqual([
      { job_id: id, reason: 'stuck' },
    ])
  })

  test('tells a stuck run from others of the same worker, also from one whose deadline passed after its last sign of life', async () => {
    await using t = await setup()
    const stuck = await t.runningJob(60, { deadline: '-10 seconds' })
    await t.runningJob(60, { deadline: '-1 second' })
    await t.runningJob(60)
    await t.sql('update millrace.job set worker_id = (select id from millrace.worker limit 1)')
    await t.sql(`update millrace.worker set heartbeat_at = now() - interval '5 seconds'`)
    expect(await t.rescuer.tick()).toMatchObject({ rescued: 1 })
    expect(await t.sql('select job_id from millrace.dead_letter_jobs')).toEqual([{ job_id: stuck }])
    expect(await t.rescuer.tick()).toMatchObject({ rescued: 0 })
  })

  test('leaves a run beyond its deadline alone whose worker has been silent since: it may be dead, and then runs again', async () => {
    await using t = await setup()
    await t.runningJob(60, { deadline: '-1 second' })
    await t.sql(`update millrace.worker set heartbeat_at = now() - interval '2 seconds'`)
    expect(await t.rescuer.tick()).toMatchObject({ rescued: 0 })
    await t.sql('update millrace.worker set expires_at = now()')
    expect(await t.rescuer.tick()).toMatchObject({ rescued: 1 })
    expect(await t.sql('select status, crashes from millrace.job')).toEqual([{ status: 'pending', crashes: 1 }])
  })

  test('passes over a row that somebody is settling right now', async () => {
    await using t = await setup()
    const id = await t.runningJob(-1)
    const client = await t.pool.connect()
    await client.query('begin')
    await client.query('select from millrace.job where id = $1 for update', [id])
    expect(await t.rescuer.tick()).toMatchObject({ rescued: 0 })
    await client.query('commit')
    client.release()
    expect(await t.rescuer.tick()).toMatchObject({ rescued: 1 })
  })

  test('works in batches and says that there is more', async () => {
    await using t = await setup()
    await t.client([task]).enqueueMany(
      task,
      Array.from({ length: 250 }, () => ({})),
    )
    await t.sql(
      `update millrace.job set status = 'processing', attempt = 1, run_id = gen_random_uuid(), worker_id = gen_random_uuid()`,
    )
    const first = await t.rescuer.tick()
    expect([first.rescued, first.isMore, t.rescuer.delayAfter(first)]).toEqual([200, true, 0])
    expect(await t.rescuer.tick()).toMatchObject({ rescued: 50, isMore: false })
  })
})

describe('a suspect', () => {
  test('runs again, at most one at a time per process, and a recorded outcome clears it', async () => {
    await using t = await setup()
    const millrace = t.client([task])
    await millrace.enqueueMany(
      task,
      Array.from({ length: 6 }, () => ({})),
    )
    await t.sql('update millrace.job set crashes = 1')
    let running = 0
    let most = 0
    let done = 0
    const all = new Promise<void>((resolve) => millrace.events.on('job_completed', () => ++done === 6 && resolve()))
    await millrace.work({
      lease: shortLease,
      handlers: [
        implement(task, async () => {
          most = Math.max(most, ++running)
          await new Promise((resolve) => setImmediate(resolve))
          running--
        }),
      ],
    })
    await all
    expect(most).toBe(1)
  })

  test('that fails in the ordinary way is no suspect any more', async () => {
    await using t = await setup()
    const millrace = t.client([task])
    const { id } = await millrace.enqueue(task, {})
    await t.sql('update millrace.job set crashes = 2')
    const failed = jobEvent(millrace, 'job_retry_scheduled', id)
    await millrace.work({
      handlers: [
        implement(task, () => {
          throw new Error('x')
        }),
      ],
    })
    await failed
    expect(await t.sql('select crashes, attempt from millrace.job')).toEqual([{ crashes: 0, attempt: 1 }])
  })
})

test('a rescue stays visible on the job: worker, host and pid', async () => {
  await using t = await setup()
  const id = await t.runningJob(-1)
  const rescued = t.events.next('job_rescued')
  await t.rescuer.tick()
  expect(await rescued).toMatchObject({ id, worker: { id: expect.any(String), host: 'h', pid: 1 } })
  const { worker } = await rescued
  const millrace = t.client([task])
  expect(await millrace.job(id)).toMatchObject({ status: 'pending', attempt: 0, crashes: 1, lastError: null })
  expect(await millrace.attempts(id)).toMatchObject([
    {
      attempt: 1,
      workerId: worker?.id,
      errorClass: 'WorkerDied',
      errorMessage: `It ran on pid 1 on host h, which ended: lease expired (worker ${worker?.id}).`,
    },
  ])
})

describe('while the lease of a dead worker runs out', () => {
  test.each([
    [0, /^It is running: attempt 1, since .*, on worker .* \(pid 1 on host h\)\.$/, []],
    [
      20,
      /^Its worker .* \(pid 1 on host h\) has not been heard of for \d+ s\. If it stays silent, its lease runs out at /,
      [{}],
    ],
    [46, /has not been heard of for \d+ s, and its lease has run out\. No other worker is running that could/, [{}]],
  ])('explain tells how long it has not been heard of: %d s', async (silence, summary, reasons) => {
    await using t = await setup()
    const id = await t.runningJob(45)
    const since = 'now() - make_interval(secs => $1)'
    await t.sql(`update millrace.worker set heartbeat_at = ${since}, expires_at = ${since} + interval '45 seconds'`, [
      silence,
    ])
    expect(await t.client([task]).explain(id)).toMatchObject({ summary: expect.stringMatching(summary), reasons })
  })
})
