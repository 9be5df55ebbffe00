// How the queues stood: noted with the reading of the alerts, rolled up, reported, forgotten.
import { defineJob, defineQueues } from 'millrace'
import { fakeClock } from 'millrace/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { Registry } from '#src/contract/registry'
import { Housekeeper } from '#src/maintenance/housekeeper'
import { MetricRollUp } from '#src/maintenance/metric-roll-up'
import { alerting } from '../support/alerts.ts'
import { hands } from '../support/hands.ts'

const queues = defineQueues({ mail: {}, bulk: {} })
const payload = z.object({})
const send = defineJob({ type: 'send', queue: queues.mail, payload })
const pack = defineJob({ type: 'pack', queue: queues.bulk, payload })

const sample = `
  insert into millrace.queue_sample (minute, queues, waiting, due, running, oldest_due_ms)
  values ($1, $2, $3, $3, $3, $4)`

test('each minute is noted once, an empty queue is left out, and a minute in which no worker looked is unknown', async () => {
  const clock = fakeClock(new Date('2030-01-01T12:00:10Z'))
  await using t = await alerting([send, pack], {}, { clock })
  const { millrace } = t
  await t.evaluate()
  clock.advance('1m')
  await millrace.enqueue(send, {}, { delay: '5s' })
  await millrace.enqueue(send, {}, { delay: '1h' })
  clock.advance('20s')
  await t.evaluate()
  await millrace.enqueue(pack, {})
  await t.evaluate()
  clock.advance('2m')
  await t.evaluate()
  const { from, points } = await millrace.reports.queues({ since: '3m', step: 'minute' })
  expect(from).toEqual(new Date('2030-01-01T12:00:00Z'))
  const mail = { queue: 'mail', waiting: 2, due: 1, running: 0 }
  expect(points.map(({ queues }) => queues)).toEqual([
    [],
    [{ ...mail, oldestDueMs: 15_000 }],
    null,
    [
      { queue: 'bulk', waiting: 1, due: 1, running: 0, oldestDueMs: 120_000 },
      { ...mail, oldestDueMs: 135_000 },
    ],
  ])
  const ofOne = await millrace.reports.queues({ since: '3m', step: 'minute', queue: 'bulk' })
  expect(ofOne.points.map(({ queues }) => queues?.length)).toEqual([0, 0, undefined, 1])
})

test('hours and days tell the highest figures of each queue, however often they are rolled up', async () => {
  await using t = await hands([send], '2030-01-02T12:10:00Z')
  // Half past, in a zone whose hours do not begin with those of UTC.
  await t.sql(`alter database ${new URL(t.url).pathname.slice(1)} set timezone = 'Asia/Kolkata'`)
  await t.sql(sample, ['2030-01-01T09:30:00Z', '{bulk}', '{7}', '{NULL}'])
  await t.sql(sample, ['2030-01-02T10:59:00Z', '{bulk,mail}', '{1,5}', '{NULL,90}'])
  await t.sql(sample, ['2030-01-02T10:00:00Z', '{mail}', '{6}', '{40}'])
  await t.sql(sample, ['2030-01-02T11:20:00Z', '{}', '{}', '{}'])
  await t.sql(sample, ['2030-01-02T12:05:00Z', '{mail}', '{2}', '{20}'])
  const rollUp = new MetricRollUp(t)
  await Promise.all([rollUp.tick(), new MetricRollUp(t).tick()])
  await rollUp.tick()
  expect(await t.sql('select count(*)::int from millrace.queue_sample_hour')).toEqual([{ count: 3 }])
  const of = (queue: string, n: number, oldestDueMs: number | null) => ({
    ...{ queue, waiting: n, due: n, running: n, oldestDueMs },
  })
  const hours = async () => (await t.millrace.reports.queues({ since: '2h', step: 'hour' })).points
  expect((await hours()).map(({ queues }) => queues)).toEqual([
    [of('bulk', 1, null), of('mail', 6, 90)],
    [],
    [of('mail', 2, 20)],
  ])
  // A sample that was committed late.
  await t.sql(sample, ['2030-01-02T11:40:00Z', '{mail}', '{9}', '{NULL}'])
  await rollUp.tick()
  expect((await hours())[1]?.queues).toEqual([of('mail', 9, null)])
  const days = await t.millrace.reports.queues({ since: '1d', step: 'day' })
  expect(days.points.map(({ queues }) => queues)).toEqual([
    [of('bulk', 7, null)],
    [of('bulk', 1, null), of('mail', 9, 90)],
  ])
  await expect(t.millrace.reports.queues({ since: '7h', step: 'minute' })).rejects.toThrow('6 hours')
  await expect(t.millrace.reports.queues({ since: '1h', step: 'week' as 'day' })).rejects.toThrow('minute, hour or day')
})

test('minutes are forgotten after 30 days, but not before their hour is stored', async () => {
  await using t = await hands([send])
  const ago = (days: number) => new Date((t.clock.databaseNow() ?? new Date()).getTime() - days * 24 * 3_600_000)
  for (const days of [1, 29, 31, 500]) await t.sql(sample, [ago(days), '{mail}', '{1}', '{1}'])
  const housekeeper = new Housekeeper({ db: t.db, clock: t.clock, registry: new Registry([send]) })
  expect(await housekeeper.tick()).toMatchObject({ queueSamplesForgotten: 0 })
  await new MetricRollUp(t).tick()
  expect(await housekeeper.tick()).toMatchObject({ queueSamplesForgotten: 2 })
  const [left] = await t.sql(
    'select (select count(*)::int from millrace.queue_sample) as minutes, (select count(*)::int from millrace.queue_sample_hour) as hours',
  )
  // The hour of 500 days ago went with its minute.
  expect(left).toEqual({ minutes: 2, hours: 3 })
})

test('alerts are evaluated even where the history cannot be written', async () => {
  await using t = await alerting([send], { settings: { dead_letters: { threshold: 1 } } })
  await t.sql('alter table millrace.queue_sample rename to elsewhere')
  await t.evaluate()
  expect(t.errors.map(({ during }) => during)).toEqual(['note how the queues stand'])
  expect(await t.millrace.alerts.list()).toEqual([])
})
