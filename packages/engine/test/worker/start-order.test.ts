// How the jobs of a claim start: in their order, and without holding up the process, also if no handler ever waits.
import {
  cancel,
  defineJob,
  defineQueues,
  discard,
  implement,
  type Millrace,
  RetryAfter,
  snooze,
  Unrecoverable,
} from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { jobEvent, type Setup, setup, shortLease, signal } from '../support/setup.ts'

const queues = defineQueues({ default: {} })
const task = defineJob({ type: 'task', queue: queues.default, payload: z.number() })
const slow = defineJob({ type: 'slow', queue: queues.default, payload: z.number() })

function completed(millrace: Millrace, count: number): Promise<void> {
  const done = signal()
  let seen = 0
  millrace.events.on('job_completed', () => {
    if (++seen === count) done.resolve()
  })
  return done.promise
}

describe('the jobs of one claim', () => {
  /** Due in the past, at one of three times, with one of four priorities; enqueued in no order. */
  async function enqueueShuffled(t: Setup, millrace: Millrace): Promise<string[]> {
    const jobs = Array.from({ length: 60 }, (_, n) => ({
      n,
      priority: (n * 7) % 4,
      runAt: new Date(Date.UTC(2024, 0, 1, 0, 0, 0, (n * 5) % 3)),
    }))
    for (const { n, ...options } of jobs) await millrace.enqueue(n % 2 === 0 ? task : slow, n, options)
    const rows = await t.sql<{ id: string }>('select id from millrace.job order by priority, run_at, id')
    return rows.map(({ id }) => id)
  }

  test.each<{ what: string; handler: () => unknown; late: () => unknown }>([
    { what: 'none of whose handlers waits', handler: () => {}, late: () => 'done' },
    {
      what: 'all of whose handlers wait',
      handler: async () => {},
      late: () => new Promise((done) => setImmediate(done)),
    },
    { what: 'some of whose handlers wait', handler: () => {}, late: async () => 'done' },
  ])('$what start by priority, then due time, then id', async ({ handler, late }) => {
    await using t = await setup()
    const millrace = t.client([task, slow])
    const wanted = await enqueueShuffled(t, millrace)
    const started: { id: string; runId: string }[] = []
    millrace.events.on('job_started', ({ job }) => started.push(job))
    const all = completed(millrace, wanted.length)
    await millrace.work({
      handlers: [implement(task, handler), implement(slow, late)],
      concurrency: { default: 60 },
      lease: shortLease,
    })
    await all
    expect(started.map(({ id }) => id)).toEqual(wanted)
    expect(new Set(started.map(({ runId }) => runId)).size, 'claims').toBe(1)
  })

  test('keep their order when there is one slot for all of them', async () => {
    await using t = await setup()
    const millrace = t.client([task])
    const results = await millrace.enqueueMany(
      task,
      Array.from({ length: 2_000 }, (_, n) => n),
    )
    const order: string[] = []
    const all = completed(millrace, results.length)
    const handler = implement(task, (_, ctx) => void order.push(ctx.jobId))
    await millrace.work({ handlers: [handler], concurrency: { default: 1 }, lease: shortLease })
    await all
    expect(order).toEqual(results.map(({ id }) => id))
  })
})

describe('thousands of handlers that never wait', () => {
  test('neither overflow the stack nor lose a job', async () => {
    await using t = await setup()
    const millrace = t.client([task])
    await millrace.enqueueMany(
      task,
      Array.from({ length: 6_000 }, (_, n) => n),
    )
    const all = completed(millrace, 6_000)
    await millrace.work({
      handlers: [implement(task, (n) => n)],
      concurrency: { default: 6_000 },
      lease: shortLease,
    })
    await all
    expect(await t.sql('select count(*)::int, sum(result::int)::int from millrace.job_archive')).toEqual([
      { count: 6_000, sum: (6_000 * 5_999) / 2 },
    ])
    expect(await t.sql('select from millrace.job')).toEqual([])
  })

  test('let timers and sockets have their turn in between', async () => {
    await using t = await setup()
    const millrace = t.client([task])
    await millrace.enqueueMany(
      task,
      Array.from({ length: 1_000 }, (_, n) => n),
    )
    let running = 0
    let most = 0
    // Counts handlers from one turn of the loop to the next, not milliseconds: on a busy machine there are fewer.
    const turn = setInterval(() => {
      most = Math.max(most, running)
      running = 0
    }, 0)
    const all = completed(millrace, 1_000)
    const busy = implement(task, () => {
      running++
      const until = performance.now() + 1
      while (performance.now() < until);
    })
    await millrace.work({ handlers: [busy], concurrency: { default: 1_000 }, lease: shortLease })
    await all
    clearInterval(turn)
    expect(most).toBeGreaterThan(0)
    expect(most).toBeLessThan(50)
  })
})

describe('a handler that never waits', () => {
  const endings = [
    [
      'throws',
      () => {
        throw new TypeError('no route')
      },
      'job_retry_scheduled',
      { failure: { class: 'TypeError', message: 'no route' } },
    ],
    [
      'throws nothing at all',
      () => {
        throw undefined
      },
      'job_retry_scheduled',
      { failure: { class: 'NonError' } },
    ],
    [
      'throws RetryAfter',
      () => {
        throw new RetryAfter('1h')
      },
      'job_snoozed',
      { delayMs: 3_600_000 },
    ],
    [
      'throws Unrecoverable',
      () => {
        throw new Unrecoverable('gone')
      },
      'job_died',
      { reason: 'unrecoverable' },
    ],
    ['snoozes', () => snooze('2h'), 'job_snoozed', { delayMs: 7_200_000 }],
    ['cancels', () => cancel('not needed'), 'job_cancelled', { reason: 'not needed' }],
    ['discards', () => discard('no such customer'), 'job_died', { reason: 'discarded' }],
    ['returns what cannot be stored', () => 10n, 'job_died', { reason: 'unrecoverable' }],
    ['returns a result', () => ({ ok: true }), 'job_completed', {}],
  ] as const

  test('ends as one that waits does, among neighbours that all end otherwise', async () => {
    await using t = await setup()
    const millrace = t.client([task])
    const results = await millrace.enqueueMany(
      task,
      endings.map((_, n) => n),
    )
    const ended = results.map(({ id }, n) => jobEvent(millrace, (endings[n] as (typeof endings)[number])[2], id))
    const handler = implement(task, (n) => (endings[n] as (typeof endings)[number])[1]())
    await millrace.work({ handlers: [handler], concurrency: { default: 20 }, lease: shortLease })
    const events = await Promise.all(ended)
    endings.forEach(([what, , , event], n) => {
      expect(events[n], what).toMatchObject(event)
    })
  })

  /** What query builders return: it has a then, and is no promise. */
  const thenable = (settle: (resolve: (value: unknown) => void, reject: (error: unknown) => void) => void) => ({
    // biome-ignore lint/suspicious/noThenProperty: that is what is tested
    then: settle,
  })
  const thenables = [
    ['answers later', thenable((resolve) => void setImmediate(resolve, 'later')), 'job_completed', 'later'],
    ['answers at once', thenable((resolve) => resolve('at once')), 'job_completed', 'at once'],
    ['answers with an outcome', thenable((resolve) => resolve(cancel('enough'))), 'job_cancelled', undefined],
    ['refuses', thenable((_, reject) => reject(new Error('refused'))), 'job_retry_scheduled', undefined],
    [
      'throws',
      thenable(() => {
        throw new Error('thrown')
      }),
      'job_retry_scheduled',
      undefined,
    ],
    [
      'answers twice',
      thenable((resolve, reject) => {
        resolve('first')
        reject(new Error('second'))
      }),
      'job_completed',
      'first',
    ],
  ] as const

  test.each(thenables)('but returns something with a then that %s is waited for', async (_, value, event, result) => {
    await using t = await setup()
    const { millrace } = await t.working([implement(task, () => value)])
    const { id } = await millrace.enqueue(task, 1)
    await jobEvent(millrace, event, id)
    expect((await millrace.job(id))?.result ?? undefined).toEqual(result)
  })
})
