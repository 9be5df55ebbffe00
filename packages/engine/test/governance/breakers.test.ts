// Breakers between real workers: what opens them, what is held back, who may try, and what people can do about it.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import {
  BreakerOpen,
  defineJob,
  defineQueues,
  defineService,
  type Handler,
  implement,
  type JobContext,
  Unrecoverable,
} from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Registry } from '#src/contract/registry'
import { explainBreakers } from '#src/governance/breaker-reason'
import { Database } from '#src/store/db'
import type { Job } from '#src/store/jobs'
import { eventually, jobEvent, type Setup, setup, shortLease, signal } from '../support/setup.ts'

const queues = defineQueues({ mail: { concurrency: 4 } })
const service = defineService('email-service', { failures: 2, openFor: '10m' })
const base = {
  queue: queues.mail,
  payload: z.object({ n: z.number().default(0) }),
  retry: { backoff: () => 3_600_000 },
}
/** Depends on the service. */
const send = defineJob({ ...base, type: 'mail.send', services: [service] })
/** Uses it, but can do without. */
const digest = defineJob({ ...base, type: 'mail.digest' })
const other = defineJob({ ...base, type: 'other' })
const jobs = [send, digest, other]

const down = () => {
  throw new Error('no route to the mail server')
}

const breakerRow = async (t: Setup) => (await t.sql('select * from millrace.circuit_breakers'))[0]
const setRow = (t: Setup, set: string) =>
  t.sql(`update millrace.circuit_breakers set ${set} where service_name = 'email-service'`)
/** The time until the next probe is over. */
const bringProbe = (t: Setup) => setRow(t, `open_until = now() - interval '1 second'`)

async function failTwice(t: Setup): Promise<void> {
  const { millrace, worker } = await t.working([implement(send, (_, ctx) => ctx.breaker('email-service', down))])
  const opened = millrace.events.next('breaker_opened')
  await millrace.enqueueMany(send, [{ n: 1 }, { n: 2 }])
  expect(await opened).toEqual({ service: 'email-service', isOwn: true })
  await worker.stop()
}

describe('a service that fails', () => {
  test('opens its breaker, and jobs that depend on it are not taken while others of the queue go on', async () => {
    await using t = await setup()
    await failTwice(t)
    expect(await breakerRow(t)).toMatchObject({ state: 'open', failure_count: 2, probe_job_id: null })

    const { millrace } = await t.working([implement(send, () => 'sent'), implement(other, () => 'done')])
    await millrace.enqueueMany(
      send,
      Array.from({ length: 20 }, (_, n) => ({ n })),
    )
    const { id } = await millrace.enqueue(other, {})
    await jobEvent(millrace, 'job_completed', id)
    const counts = await t.sql(
      'select status, attempt, count(*)::int from millrace.job where last_error is null group by 1, 2',
    )
    expect(counts).toEqual([{ status: 'pending', attempt: 0, count: 20 }])

    // The seed's recipe, as somebody types it into psql.
    await setRow(t, `state = 'closed', failure_count = 0, success_count = 0`)
    await eventually(
      async () => (await t.sql(`select from millrace.job_archive where type = 'mail.send'`)).length === 20,
    )
    expect(await breakerRow(t)).toMatchObject({ state: 'closed', failure_count: 0 })
  })

  test('is counted by calls of several processes together', async () => {
    await using t = await setup()
    const millrace = t.client(jobs)
    const failures = async () => (await breakerRow(t))?.failure_count
    await millrace.enqueueMany(send, [{}, {}, {}])
    await using first = startProcess(t, 'fail')
    const failed = () => t.sql('select from millrace.job where last_error is not null')
    await eventually(async () => (await failed()).length === 3)
    expect(await failures()).toBe(3)
    await first.kill()
    await millrace.enqueueMany(send, [{}, {}, {}, {}, {}])
    await using _second = startProcess(t, 'fail')
    await eventually(async () => (await breakerRow(t))?.state === 'open')
    // The default of a service that is only named: five. Nothing more was called.
    expect(await failures()).toBe(5)
    await eventually(async () => (await t.sql(`select from millrace.job where status = 'processing'`)).length === 0)
    expect(await failed()).toHaveLength(5)
  })

  test('is written down only when it fails, and once when it is well again', async () => {
    await using t = await setup()
    let isDown = false
    const { millrace } = await t.working([
      implement(send, (_, ctx) => ctx.breaker('email-service', () => (isDown ? down() : 'sent'))),
    ])
    const run = async () => {
      const ended = [millrace.events.next('job_completed'), millrace.events.next('job_retry_scheduled')]
      await millrace.enqueue(send, {})
      await Promise.race(ended)
    }
    for (let i = 0; i < 5; i++) await run()
    expect(await breakerRow(t)).toBeUndefined()
    isDown = true
    await run()
    expect(await breakerRow(t)).toMatchObject({ state: 'closed', failure_count: 1 })
    isDown = false
    await run()
    const [reset] = await t.sql('select *, xmin::text from millrace.circuit_breakers')
    expect(reset).toMatchObject({ state: 'closed', failure_count: 0 })
    for (let i = 0; i < 5; i++) await run()
    expect(await t.sql('select *, xmin::text from millrace.circuit_breakers')).toEqual([reset])
  })

  test.each<[string, number, Handler<typeof send>]>([
    [
      'Unrecoverable',
      0,
      (_, ctx) => ctx.breaker('email-service', () => Promise.reject(new Unrecoverable('no such address'))),
    ],
    ['what the service does not count', 0, (_, ctx) => ctx.breaker(picky, down)],
    ['everything else', 1, (_, ctx) => ctx.breaker('email-service', () => Promise.reject('text'))],
  ])('counts errors: %s', async (_, count, handler) => {
    await using t = await setup()
    const { millrace } = await t.working([implement(send, handler)])
    const ended = Promise.race([millrace.events.next('job_died'), millrace.events.next('job_retry_scheduled')])
    await millrace.enqueue(send, {})
    await ended
    expect((await breakerRow(t))?.failure_count ?? 0).toBe(count)
  })

  test('is not to blame for calls that a cancelled job broke off, but for those that took too long', async () => {
    await using t = await setup()
    const hasty = defineJob({ ...base, type: 'hasty', timeout: '100ms' })
    const untilAborted = (_: unknown, ctx: JobContext) =>
      ctx.breaker(
        'email-service',
        () => new Promise((_, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason))),
      )
    const { millrace } = await t.working([implement(send, untilAborted), implement(hasty, untilAborted)])
    const started = millrace.events.next('job_started')
    const { id } = await millrace.enqueue(send, {})
    await started
    await millrace.cancel(id, { by: 'ann' })
    await jobEvent(millrace, 'job_cancelled', id)
    expect(await breakerRow(t)).toBeUndefined()
    const late = millrace.events.next('job_retry_scheduled')
    await millrace.enqueue(hasty, {})
    await late
    expect(await breakerRow(t)).toMatchObject({ failure_count: 1 })
  })
})

const picky = defineService('email-service', { counts: (error) => (error as { status?: number }).status === 503 })

function startProcess(t: Setup, deed: string) {
  const child = fork(new URL('./fixtures/breaker-worker.js', import.meta.url), [t.url, deed], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const exited = once(child, 'exit')
  const kill = async () => {
    child.kill('SIGKILL')
    await exited
  }
  return { calling: () => once(child, 'message'), kill, [Symbol.asyncDispose]: kill }
}

describe('a call while the breaker is open', () => {
  test('makes the job wait until the next probe, and keeps its attempt', async () => {
    await using t = await setup()
    await failTwice(t)
    let thrown: unknown
    let calls = 0
    const { millrace } = await t.working([
      implement(digest, async (_, ctx) => {
        try {
          return await ctx.breaker(service, () => calls++)
        } catch (error) {
          thrown = error
          throw error
        }
      }),
    ])
    const snoozed = millrace.events.next('job_snoozed')
    const { id } = await millrace.enqueue(digest, {})
    const { delayMs } = await snoozed
    expect(calls).toBe(0)
    expect(thrown).toBeInstanceOf(BreakerOpen)
    expect(thrown).toMatchObject({ code: 'breaker_open', service: 'email-service', nextProbeAt: expect.any(Date) })
    const [row] = await t.sql<{ open_until: Date; run_at: Date; attempt: number }>(
      `select open_until, run_at, attempt from millrace.job, millrace.circuit_breakers where id = ${id}`,
    )
    expect(row?.attempt).toBe(0)
    expect(delayMs).toBeLessThanOrEqual(600_000)
    // Not before the probe may run, and not long after.
    const lateMs = (row?.run_at.getTime() ?? 0) - (row?.open_until.getTime() ?? 0)
    expect(lateMs).toBeGreaterThanOrEqual(-50)
    expect(lateMs).toBeLessThan(10_000)
  })

  test('is answered by the fallback', async () => {
    await using t = await setup()
    await failTwice(t)
    const { millrace } = await t.working([
      implement(digest, (_, ctx) =>
        ctx.breaker<object>(service, down, { fallback: (error) => ({ later: error.service }) }),
      ),
    ])
    const { id } = await millrace.enqueue(digest, {})
    await jobEvent(millrace, 'job_completed', id)
    expect(await millrace.job(id)).toMatchObject({ result: { later: 'email-service' } })
  })
})

describe('a probe', () => {
  test('is one run over all workers, and its success lets the others go', async () => {
    await using t = await setup()
    await failTwice(t)
    const release = signal()
    const calls: string[] = []
    const handlers = [
      implement(send, (_, ctx) =>
        ctx.breaker('email-service', async () => {
          calls.push(ctx.jobId)
          await release.promise
        }),
      ),
      implement(other, () => 'done'),
    ]
    const workers = [await t.working(handlers), await t.working(handlers)]
    const [first] = workers.map(({ millrace }) => millrace)
    const halfOpened = Promise.race(
      workers.map(({ millrace }) => millrace.events.next('breaker_half_opened', ({ isOwn }) => isOwn)),
    )
    await first?.enqueueMany(
      send,
      Array.from({ length: 10 }, (_, n) => ({ n })),
    )
    await bringProbe(t)
    await halfOpened
    await eventually(async () => calls.length > 0)
    // Both workers have looked again, and gone on with what they may have.
    for (const { millrace } of workers) {
      await millrace.events.next('idle')
      await millrace.events.next('idle')
    }
    expect(calls).toHaveLength(1)
    expect(await breakerRow(t)).toMatchObject({ state: 'half_open', probe_job_id: calls[0] })
    expect(await t.sql(`select id from millrace.job where status = 'processing'`)).toEqual([{ id: calls[0] }])

    const closed = Promise.all(workers.map(({ millrace }) => millrace.events.next('breaker_closed')))
    release.resolve()
    expect((await closed).map(({ isOwn }) => isOwn).sort()).toEqual([false, true])
    await eventually(async () => (await t.sql('select from millrace.job_archive')).length === 10)
    expect(await breakerRow(t)).toMatchObject({ state: 'closed', failure_count: 0, probe_job_id: null })
  })

  test('that fails opens the breaker again', async () => {
    await using t = await setup()
    await failTwice(t)
    const { millrace } = await t.working([implement(send, (_, ctx) => ctx.breaker('email-service', down))])
    await millrace.enqueueMany(send, [{ n: 1 }, { n: 2 }])
    const opened = millrace.events.next('breaker_opened', ({ isOwn }) => isOwn)
    await bringProbe(t)
    await opened
    const row = await breakerRow(t)
    expect(row).toMatchObject({ state: 'open', probe_job_id: null })
    expect(row?.open_until.getTime()).toBeGreaterThan(Date.now() + 500_000)
    expect(await t.sql('select from millrace.job where attempt = 0')).toHaveLength(1)
  })

  test('of a process that was killed leaks nothing: the next job tries', async () => {
    await using t = await setup()
    await failTwice(t)
    const millrace = t.client(jobs)
    const { id } = await millrace.enqueue(send, {})
    await bringProbe(t)
    await using child = startProcess(t, 'hang')
    await child.calling()
    expect(await breakerRow(t)).toMatchObject({ state: 'half_open', probe_job_id: id })
    await child.kill()
    const { millrace: second } = await t.working([
      implement(send, (_, ctx) => ctx.breaker('email-service', () => 'sent')),
    ])
    await jobEvent(second, 'job_completed', id)
    expect(await breakerRow(t)).toMatchObject({ state: 'closed' })
  })

  test('that is noted under a run that is gone does not keep the next one away', async () => {
    await using t = await setup()
    await failTwice(t)
    await setRow(t, `state = 'half_open', half_opened_at = now(), probe_job_id = 1, probe_run_id = gen_random_uuid()`)
    const { millrace } = await t.working([implement(send, (_, ctx) => ctx.breaker('email-service', () => 'sent'))])
    const { id } = await millrace.enqueue(send, {})
    await jobEvent(millrace, 'job_completed', id)
    expect(await breakerRow(t)).toMatchObject({ state: 'closed' })
  })

  test('that never calls the service proves nothing: the next job is the probe', async () => {
    await using t = await setup()
    await failTwice(t)
    const { millrace } = await t.working([
      implement(send, ({ n }, ctx) => (n === 1 ? 'nothing to send' : ctx.breaker('email-service', () => 'sent'))),
    ])
    const completed = millrace.events.next('job_completed')
    await millrace.enqueue(send, { n: 1 })
    await bringProbe(t)
    await completed
    expect(await breakerRow(t)).toMatchObject({ state: 'half_open' })
    const { id } = await millrace.enqueue(send, { n: 2 })
    await jobEvent(millrace, 'job_completed', id)
    expect(await breakerRow(t)).toMatchObject({ state: 'closed' })
  })

  test('can be a job that crashed before, if nothing else waits', async () => {
    await using t = await setup()
    await failTwice(t)
    const millrace = t.client(jobs)
    const { id } = await millrace.enqueue(send, {})
    await t.sql('update millrace.job set crashes = 1 where id = $1', [id])
    await bringProbe(t)
    const { millrace: working } = await t.working([
      implement(send, (_, ctx) => ctx.breaker('email-service', () => 'sent')),
    ])
    await jobEvent(working, 'job_completed', id)
  })

  test('is taken by the call itself where the type does not depend on the service', async () => {
    await using t = await setup()
    await failTwice(t)
    const release = signal()
    const { millrace } = await t.working([implement(digest, (_, ctx) => ctx.breaker(service, () => release.promise))])
    await bringProbe(t)
    const halfOpened = millrace.events.next('breaker_half_opened')
    const snoozed = millrace.events.next('job_snoozed')
    await millrace.enqueueMany(digest, [{ n: 1 }, { n: 2 }])
    await halfOpened
    expect((await snoozed).delayMs).toBeLessThan(5_000)
    release.resolve()
    await eventually(async () => (await t.sql('select from millrace.job_archive')).length === 2)
  })
})

test('a worker whose types name no service never looks at breakers', async () => {
  await using t = await setup()
  const { millrace } = await t.working([implement(other, () => 'done')], { lease: shortLease })
  const { id } = await millrace.enqueue(other, {})
  await jobEvent(millrace, 'job_completed', id)
  const looks = async () =>
    (
      await t.sql<{ n: number }>(
        `select coalesce(seq_scan, 0)::int + coalesce(idx_scan, 0)::int as n from pg_stat_all_tables where relname = 'circuit_breakers'`,
      )
    )[0]?.n
  await t.sql('select pg_stat_force_next_flush()')
  expect(await looks()).toBe(0)
})

describe('people', () => {
  test('look at breakers, open, configure and reset them, and it is written into the audit log', async () => {
    await using t = await setup()
    const millrace = t.client(jobs)
    expect(await millrace.breakers.list()).toMatchObject([
      {
        service: 'email-service',
        state: 'closed',
        types: ['mail.send'],
        settings: { failures: 2, openForMs: 600_000 },
      },
    ])
    expect(await millrace.breakers.get('unheard-of')).toBeUndefined()
    await expect(millrace.breakers.reset('email-servise', { by: 'ann' })).rejects.toThrow(
      /Did you mean "email-service"/,
    )

    const opened = millrace.events.next('breaker_opened')
    expect(await millrace.breakers.trip('email-service', { by: 'ann' })).toMatchObject({
      state: 'open',
      nextProbeAt: null,
    })
    expect(await opened).toEqual({ service: 'email-service', isOwn: true })
    expect(await millrace.breakers.trip('email-service', { by: 'ann', for: '5m' })).toMatchObject({
      state: 'open',
      nextProbeAt: expect.any(Date),
    })
    expect(await millrace.breakers.configure('email-service', { by: 'bob', failures: 9, openFor: '2m' })).toMatchObject(
      {
        state: 'open',
        settings: { failures: 9, openForMs: 120_000, successes: 1 },
        overrides: { failures: 9, openForMs: 120_000 },
      },
    )
    const closed = millrace.events.next('breaker_closed')
    expect(await millrace.breakers.reset('email-service', { by: 'ann' })).toMatchObject({ state: 'closed' })
    await closed
    expect(await millrace.breakers.configure('email-service', { by: 'bob', failures: null })).toMatchObject({
      settings: { failures: 2, openForMs: 120_000 },
    })
    expect(await t.sql('select actor as by, action, target from millrace.audit_log order by id')).toEqual([
      { by: 'ann', action: 'breaker.trip', target: 'email-service' },
      { by: 'ann', action: 'breaker.trip', target: 'email-service' },
      { by: 'bob', action: 'breaker.configure', target: 'email-service' },
      { by: 'ann', action: 'breaker.reset', target: 'email-service' },
      { by: 'bob', action: 'breaker.configure', target: 'email-service' },
    ])
    await expect(millrace.breakers.reset('email-service', { by: '' })).rejects.toThrow(/`by` is missing/)
    await expect(millrace.breakers.configure('email-service', { by: 'bob', failures: 0 })).rejects.toThrow(/failures 0/)
  })

  test('what was set at run time stands above the code', async () => {
    await using t = await setup()
    const { millrace } = await t.working([implement(send, (_, ctx) => ctx.breaker('email-service', down))])
    await millrace.breakers.configure('email-service', { by: 'ann', failures: 1, openFor: '1h' })
    const opened = millrace.events.next('breaker_opened')
    await millrace.enqueue(send, {})
    await opened
    expect((await millrace.breakers.get('email-service'))?.nextProbeAt?.getTime()).toBeGreaterThan(
      Date.now() + 3_000_000,
    )
  })

  test('are told why a job waits', async () => {
    await using t = await setup()
    const millrace = t.client(jobs)
    const { id } = await millrace.enqueue(send, {})
    const db = new Database({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections: 1 })
    const why = async () =>
      explainBreakers((await millrace.job(id)) as Job, { db, now: null, registry: new Registry(jobs), workers: [] })
    expect(await why()).toBeUndefined()
    const { nextProbeAt, openedAt } = await millrace.breakers.trip('email-service', { by: 'ann', for: '5m' })
    expect(await why()).toEqual([
      {
        mechanism: 'breaker',
        sentence: `The breaker of service "email-service" is open since ${openedAt?.toISOString()}; the next probe is at ${nextProbeAt?.toISOString()}, and jobs that depend on it are not taken meanwhile.`,
        until: nextProbeAt,
        remedy: 'millrace breakers reset email-service',
      },
    ])
    await millrace.breakers.trip('email-service', { by: 'ann' })
    expect(await why()).toMatchObject([{ sentence: expect.stringContaining('until somebody resets it'), until: null }])
    await db.close()
  })
})

describe('a definition', () => {
  test.each([
    [() => defineService('no good'), /Service name "no good"/],
    [() => defineService('x', { failures: 0 }), /failures 0/],
    [() => defineService('x', { openFor: 1 }), /100 ms is the least/],
    [() => defineJob({ ...base, type: 'a', services: ['x', 'x'] }), /names service "x" twice/],
    [
      () => new Registry([send, defineJob({ ...base, type: 'b', services: [picky] })]),
      /define service "email-service"/,
    ],
  ])('that makes no sense is refused: %s', (define, message) => {
    expect(define).toThrow(message)
  })
})
