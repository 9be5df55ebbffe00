import { defineJob, defineQueues, fixed, implement, Unrecoverable } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { MetricRollUp } from '#src/maintenance/metric-roll-up'
import { hands } from '../support/hands.ts'
import { jobEvent, setup, signal } from '../support/setup.ts'

const queues = defineQueues({ default: {}, mail: {} })
const payload = z.object({ n: z.number() })
const task = defineJob({ type: 'task', queue: queues.default, payload, retry: { attempts: 2, backoff: fixed('1h') } })

const count = `
  insert into millrace.metric_minute
  values ($1, $2, $3, $4, $5::int, $5::int * 10, $6, $5::int * 3, array[0, 0, 0, $5::int], $5::int * 12, array[0, 0, 0, 0, 0, 0, 0, $5::int])`

/** Two types over 26 hours: two runs of `task` every ten minutes, one of `send` that failed every hour. */
async function filled(t: Awaited<ReturnType<typeof hands>>) {
  const now = t.clock.now().getTime()
  for (let minutesAgo = 10; minutesAgo <= 26 * 60; minutesAgo += 10) {
    const at = new Date(now - minutesAgo * 60_000)
    await t.sql(count, [at, 'default', 'task', 'completed', 2, '{0,0,0,0,2}'])
    if (minutesAgo % 60 === 10) await t.sql(count, [at, 'mail', 'send', 'failed', 1, '{0,0,0,0,0,0,0,0,0,0,1}'])
  }
}

test('a report adds up minutes and hours without counting any run twice', async () => {
  await using t = await hands([task], '2030-01-03T12:05:00Z')
  await filled(t)
  const { reports } = t.millrace
  const before = await reports.runs({ since: '24h' })
  expect(before.total).toMatchObject({ runs: 312, completed: 288, failed: 24, finished: 288, failureRate: 24 / 312 })
  const series = await reports.series({ since: '24h', step: 'hour' })
  const minutes = await reports.series({ since: '2h', step: 'minute', queue: 'mail' })
  const rollUp = new MetricRollUp(t)
  while (await rollUp.tick());
  expect(await t.sql('select count(*)::int > 40 as is_rolled_up from millrace.metric_hour')).toEqual([
    { is_rolled_up: true },
  ])
  expect(await reports.runs({ since: '24h' })).toEqual(before)
  expect(await reports.series({ since: '24h', step: 'hour' })).toEqual(series)
  expect(await reports.series({ since: '2h', step: 'minute', queue: 'mail' })).toEqual(minutes)
  // Hours answer where minutes are gone.
  await t.sql(`delete from millrace.metric_minute where minute < $1`, [new Date('2030-01-03T12:00:00Z')])
  expect(await reports.series({ since: '24h', step: 'hour' })).toEqual(series)
})

test('percentiles, failure rate and throughput are told by type, by minute, hour and day', async () => {
  await using t = await hands([task], '2030-01-03T12:05:00Z')
  await filled(t)
  const { reports } = t.millrace
  const { types } = await reports.runs({ since: '1h' })
  expect(types).toMatchObject([
    { queue: 'default', type: 'task', completed: 12, failureRate: 0, duration: { meanMs: 10 }, wait: { meanMs: 3 } },
    { queue: 'mail', type: 'send', failed: 1, failureRate: 1, duration: { meanMs: 10 } },
  ])
  for (const [spread, low, high] of [
    [types[0]?.duration, 2, 4],
    [types[1]?.duration, 22, 32],
    [types[0]?.wait, 1.9, 2.9],
    [types[0]?.latency, 8, 11.4],
  ] as const) {
    for (const ms of [spread?.p50Ms, spread?.p95Ms, spread?.p99Ms]) {
      expect(ms).toBeGreaterThan(low)
      expect(ms).toBeLessThanOrEqual(high)
    }
  }
  const hours = await reports.series({ since: '24h', step: 'hour', type: 'send' })
  expect(hours.points).toHaveLength(25)
  expect(hours.points.map(({ failed }) => failed)).toEqual([...new Array(24).fill(1), 0])
  expect(hours.points[0]?.at).toEqual(new Date('2030-01-02T12:00:00Z'))
  const minutes = await reports.series({ since: '30m', step: 'minute' })
  expect(
    minutes.points.filter(({ runs }) => runs > 0).map(({ at, runs }) => [at.toISOString().slice(11, 16), runs]),
  ).toEqual([
    ['11:35', 2],
    ['11:45', 2],
    ['11:55', 3],
  ])
  const days = await reports.series({ since: '3d', step: 'day', queue: 'default' })
  expect(days.points.map(({ completed }) => completed)).toEqual([0, 0, 168, 144])
  expect(days.points[0]).toMatchObject({ runs: 0, failureRate: null, duration: { meanMs: null, p95Ms: null } })
})

test('the report over hours has the current state, how runs went by type, and the throughput of each hour', async () => {
  await using t = await hands([task], '2030-01-03T12:05:00Z')
  await filled(t)
  const report = await t.millrace.reports.overHours({ fromHoursAgo: 3, toHoursAgo: 1 })
  expect(report).toMatchObject({
    from: new Date('2030-01-03T09:05:00Z'),
    to: new Date('2030-01-03T11:05:00Z'),
    generatedAt: new Date('2030-01-03T12:05:00Z'),
    currentStats: { pending: { count: 0, oldest: null }, processing: { count: 0 } },
  })
  expect(report.performanceMetrics).toMatchObject([
    { type: 'task', status: 'completed', jobCount: 24, avgDurationMs: 10, avgQueueTimeMs: 3 },
    { type: 'send', status: 'failed', jobCount: 2, avgDurationMs: 10, avgQueueTimeMs: 3 },
  ])
  expect(report.hourlyThroughput.map(({ hour, type, jobCount }) => [hour.getUTCHours(), type, jobCount])).toEqual([
    [9, 'task', 12],
    [9, 'send', 1],
    [10, 'task', 12],
    [10, 'send', 1],
  ])
})

test('spans that cannot be are refused, and the refusal says what can', async () => {
  await using t = await setup()
  const { reports } = t.client([task])
  for (const [from, to] of [
    [0, 0],
    [1, 2],
    [169, 0],
    [2, -1],
    [Number.NaN, 0],
  ] as const)
    await expect(reports.overHours({ fromHoursAgo: from, toHoursAgo: to })).rejects.toThrow(
      /expected 168 ≥ from > to ≥ 0/,
    )
  await expect(reports.series({ since: '2d', step: 'minute' })).rejects.toThrow(
    /too long: by the minute it may be 6 hours/,
  )
  await expect(reports.series({ since: '1h', step: 'week' as 'day' })).rejects.toThrow(/expected minute, hour or day/)
  await expect(reports.runs({ since: new Date(Date.now() + 60_000) })).rejects.toThrow(/must begin before it ends/)
})

test('queue statistics count a job once, with the oldest that is due, runs and is dead', async () => {
  await using t = await setup()
  const release = signal()
  const { millrace } = await t.working([
    implement(task, async ({ n }) => {
      if (n === 1) throw new Error('again')
      if (n === 2) throw new Unrecoverable('never')
      await release.promise
    }),
  ])
  const failed = await millrace.enqueue(task, { n: 1 })
  await jobEvent(millrace, 'job_retry_scheduled', failed.id)
  const dead = await millrace.enqueue(task, { n: 2 })
  await jobEvent(millrace, 'job_died', dead.id)
  const running = await millrace.enqueue(task, { n: 3 })
  await jobEvent(millrace, 'job_started', running.id)
  await millrace.pauses.pause({ queue: 'default' }, { by: 'test', reason: 'a look' })
  await millrace.enqueueMany(task, [{ n: 4 }, { n: 5 }])
  await millrace.enqueue(task, { n: 6 }, { delay: '1h' })
  expect(await millrace.reports.queueStats()).toEqual({
    pending: { count: 3, oldest: expect.any(Date) },
    scheduled: { count: 2 },
    processing: { count: 1, oldest: expect.any(Date) },
    failed: { count: 1 },
    blocked: { count: 0 },
    dead: { count: 1, oldest: expect.any(Date) },
  })
  release.resolve()
})

test('the growth of dead letters is told by day, also after the letters are gone', async () => {
  await using t = await hands([task], '2030-01-01T10:30:00Z')
  const die = async () => {
    await t.millrace.enqueue(task, { n: 0 })
    await t.bury(await t.claimOne())
    await t.sql(count, [t.clock.now(), 'default', 'task', 'dead', 1, '{}'])
  }
  for (let n = 0; n < 3; n++) {
    await die()
    t.clock.advance('1d')
  }
  const [newest] = await t.millrace.deadLetters.list()
  await t.millrace.deadLetters.ignore([newest?.id ?? ''], { by: 'ann' })
  const { reports } = t.millrace
  const expected = {
    growth: 2,
    points: [
      { at: new Date('2030-01-01T00:00:00Z'), born: 1, decided: 0, pending: 1 },
      { at: new Date('2030-01-02T00:00:00Z'), born: 1, decided: 0, pending: 2 },
      { at: new Date('2030-01-03T00:00:00Z'), born: 1, decided: 0, pending: 3 },
      { at: new Date('2030-01-04T00:00:00Z'), born: 0, decided: 1, pending: 2 },
    ],
  }
  expect(await reports.deadLetters({ since: '3d' })).toMatchObject(expected)
  await t.sql(count, [t.clock.now(), 'default', 'task', 'completed', 1, '{1}'])
  t.clock.advance('2h')
  const rollUp = new MetricRollUp(t)
  while (await rollUp.tick());
  await t.sql(`delete from millrace.dead_letter_jobs where status = 'ignored'`)
  expect(await reports.deadLetters({ since: '3d' })).toMatchObject(expected)
  expect((await reports.deadLetters()).points).toHaveLength(31)
  expect((await reports.deadLetters({ since: '1d', step: 'hour', queue: 'mail' })).growth).toBe(0)
})
