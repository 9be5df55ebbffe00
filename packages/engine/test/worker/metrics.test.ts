import { cancel, defineJob, defineQueues, fixed, implement, snooze, Unrecoverable } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { Registry } from '#src/contract/registry'
import { Events } from '#src/events'
import { MetricFlush } from '#src/maintenance/metric-flush'
import { Rescuer } from '#src/maintenance/rescuer'
import { metricAdd } from '#src/store/metrics'
import { hands } from '../support/hands.ts'
import { jobEvent, setup } from '../support/setup.ts'

const queues = defineQueues({ mail: {} })
const deed = z.enum(['complete', 'cancel', 'snooze', 'fail', 'die'])
const task = defineJob({
  type: 'task',
  queue: queues.mail,
  payload: z.object({ deed }),
  retry: { attempts: 5, backoff: fixed('1h') },
})

const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + count, 0)

test('a worker counts what became of its runs, and adds it when it stops', async () => {
  await using t = await setup()
  const { millrace, worker } = await t.working([
    implement(task, ({ deed: what }) => {
      if (what === 'cancel') return cancel('not wanted')
      if (what === 'snooze') return snooze('1h')
      if (what === 'fail') throw new Error('no luck')
      if (what === 'die') throw new Unrecoverable('no hope')
    }),
  ])
  const ends = {
    complete: 'job_completed',
    cancel: 'job_cancelled',
    snooze: 'job_snoozed',
    fail: 'job_retry_scheduled',
    die: 'job_died',
  } as const
  for (const what of deed.options) {
    const ended = new Promise((resolve) => millrace.events.on(ends[what], resolve))
    await millrace.enqueue(task, { deed: what }, what === 'complete' ? { tenant: 'acme' } : {})
    await ended
  }
  expect(await t.sql('select from millrace.metric_minute')).toEqual([])
  await worker.stop()
  const rows = await t.sql<{ outcome: string; runs: string; durations: number[]; waits: number[] }>(
    'select outcome, sum(runs) as runs, min(durations) as durations, min(waits) as waits from millrace.metric_minute where queue = $1 and type = $2 group by 1 order by 1',
    ['mail', 'task'],
  )
  expect(rows.map(({ outcome, runs }) => [outcome, Number(runs)])).toEqual(
    ['cancelled', 'completed', 'dead', 'failed', 'snoozed'].map((outcome) => [outcome, 1]),
  )
  for (const { durations, waits } of rows) expect([sum(durations), sum(waits)]).toEqual([1, 1])
  expect(await t.sql('select tenant, runs::int from millrace.metric_tenant_minute')).toEqual([
    { tenant: 'acme', runs: 1 },
  ])
})

test('the latency of a job counts from when it was due to the end of its first attempt, and only once', async () => {
  await using t = await setup()
  const millrace = t.client([task])
  const { id } = await millrace.enqueue(task, { deed: 'complete' })
  await t.sql(`update millrace.job set created_at = now() - interval '1 day', run_at = now() - interval '100 seconds'`)
  let runs = 0
  const worker = await millrace.work({
    handlers: [
      implement(task, () => {
        runs++
        if (runs === 1) return snooze(0)
        if (runs === 2) throw new Error('no luck')
      }),
    ],
  })
  await jobEvent(millrace, 'job_retry_scheduled', id)
  await millrace.runNow(id, { by: 'test' })
  await jobEvent(millrace, 'job_completed', id)
  await worker.stop()
  const rows = await t.sql<{ outcome: string; latency_ms: number; latencies: number[] }>(
    'select outcome, latency_ms, latencies from millrace.metric_minute order by outcome',
  )
  expect(rows.map(({ outcome, latencies }) => [outcome, sum(latencies)])).toEqual([
    ['completed', 0],
    ['failed', 1],
    ['snoozed', 0],
  ])
})

test('a run that goes back to its queue is not counted', async () => {
  await using t = await setup()
  const { millrace, worker } = await t.working(
    [implement(task, (_, { signal }) => new Promise<void>((_, reject) => signal.addEventListener('abort', reject)))],
    { gracePeriod: 0 },
  )
  const started = millrace.events.next('job_started')
  await millrace.enqueue(task, { deed: 'complete' })
  await started
  await worker.stop()
  expect(await t.sql('select from millrace.metric_minute')).toEqual([])
  expect(await t.sql('select status, attempt from millrace.job')).toEqual([{ status: 'pending', attempt: 0 }])
})

test('the wait counts from the time at which this attempt was due, not from the enqueue or the first one', async () => {
  await using t = await setup()
  const millrace = t.client([task])
  const { id } = await millrace.enqueue(task, { deed: 'complete' })
  await t.sql(
    `update millrace.job set created_at = now() - interval '2 days', first_due_at = now() - interval '1 day', run_at = now() - interval '100 seconds'`,
  )
  const worker = await millrace.work({ handlers: [implement(task, () => {})] })
  await jobEvent(millrace, 'job_completed', id)
  await worker.stop()
  const [row] = await t.sql<{ wait_ms: number }>('select wait_ms from millrace.metric_minute')
  expect(row?.wait_ms).toBeGreaterThan(99_000)
  expect(row?.wait_ms).toBeLessThan(400_000)
})

test('counts of several processes add up in one row, whichever histogram is longer', async () => {
  await using t = await hands([task])
  const kind = { queue: 'mail', type: 'task', outcome: 'completed' } as const
  const tenants = [{ queue: 'mail', tenant: 'acme', runs: 1, waitMs: 1, waits: [1] }]
  const add = (durations: number[], waits: number[]) =>
    metricAdd(
      t.db,
      t.clock.databaseNow(),
      [{ ...kind, runs: 2, durationMs: 5, durations, waitMs: 7, waits, latencyMs: 9, latencies: waits }],
      tenants,
    )
  await Promise.all([add([2], [0, 2]), add([1, 0, 1], [1, 1]), add([], [2])])
  expect(
    await t.sql(
      'select runs::int, duration_ms, durations, wait_ms, waits, latency_ms, latencies from millrace.metric_minute',
    ),
  ).toEqual([
    {
      ...{ runs: 6, duration_ms: 15, durations: [3, 0, 1], wait_ms: 21, waits: [3, 3] },
      ...{ latency_ms: 27, latencies: [3, 3] },
    },
  ])
  expect(await t.sql('select runs::int, waits from millrace.metric_tenant_minute')).toEqual([{ runs: 3, waits: [3] }])
})

test('processes that flush the same rows at once do not deadlock', async () => {
  await using t = await hands([task])
  const types = Array.from({ length: 1_500 }, (_, n) => `type-${n}`)
  const flushes = Array.from({ length: 8 }, (_, process) => {
    const flush = new MetricFlush(t)
    const order = process % 2 === 0 ? types : [...types].reverse()
    for (const type of order)
      flush.count({ queue: 'mail', type, tenant: null, outcome: 'completed', durationMs: 3, waitMs: 2, latencyMs: 5 })
    return flush
  })
  await Promise.all(flushes.map((flush) => flush.tick()))
  expect(await t.sql('select count(*)::int, min(runs)::int, max(runs)::int from millrace.metric_minute')).toEqual([
    { count: 1_500, min: 8, max: 8 },
  ])
})

test('a flush that failed is made up for by the next one', async () => {
  await using t = await hands([task])
  const flush = new MetricFlush(t)
  const count = () =>
    flush.count({
      queue: 'mail',
      type: 'task',
      tenant: 'acme',
      outcome: 'completed',
      durationMs: 3,
      waitMs: 2,
      latencyMs: 5,
    })
  count()
  await t.sql('alter table millrace.metric_minute rename to away')
  await expect(flush.tick()).rejects.toThrow()
  count()
  await t.sql('alter table millrace.away rename to metric_minute')
  await flush.tick()
  await flush.tick()
  expect(await t.sql('select runs::int, durations from millrace.metric_minute')).toEqual([
    { runs: 2, durations: [0, 0, 0, 0, 2].slice(0, 5) },
  ])
})

test('a process writes rows of 200 tenants in a minute at most, however often it flushes', async () => {
  await using t = await hands([task])
  const flush = new MetricFlush(t)
  const count = (from: number, to: number) => {
    for (let n = from; n < to; n++)
      flush.count({
        queue: 'mail',
        type: 'task',
        tenant: `t-${n}`,
        outcome: 'completed',
        durationMs: 3,
        waitMs: 2,
        latencyMs: 5,
      })
  }
  for (let n = 0; n < 4; n++) {
    count(n * 150, (n + 1) * 150)
    count(0, 1)
    await flush.tick()
    t.clock.advance('10s')
  }
  const perMinute =
    'select count(*)::int, max(runs)::int from millrace.metric_tenant_minute group by minute order by minute'
  expect(await t.sql(perMinute)).toEqual([{ count: 200, max: 5 }])
  t.clock.advance('1m')
  count(1_000, 1_100)
  await flush.tick()
  count(2_000, 2_300)
  await flush.tick()
  // Until the first flush of a minute, those of the minute before hold their places.
  expect(await t.sql(perMinute)).toEqual([
    { count: 200, max: 5 },
    { count: 200, max: 1 },
  ])
})

test('a run whose process died is counted by the worker that rescues its job', async () => {
  const deadly = defineJob({ type: 'deadly', queue: defineQueues({ default: {} }).default, payload: z.object({}) })
  await using t = await hands([deadly])
  const metrics = new MetricFlush(t)
  const rescuer = new Rescuer({
    ...{ db: t.db, clock: t.clock, registry: new Registry([deadly]), events: new Events(), metrics, intervalMs: 1_000 },
    ...{ mayJudge: () => true, wake: () => {}, onBlocked: () => {}, onStepsEnded: () => {} },
  })
  await t.millrace.enqueue(deadly, {})
  for (let crash = 1; crash <= 3; crash++) {
    // The worker of these runs has no lease.
    expect(await t.claim()).toHaveLength(1)
    await rescuer.tick()
  }
  await metrics.tick()
  expect(await t.sql('select outcome, runs::int, durations from millrace.metric_minute order by outcome')).toEqual([
    { outcome: 'crashed', runs: 2, durations: [] },
    { outcome: 'dead', runs: 1, durations: [] },
  ])
})
