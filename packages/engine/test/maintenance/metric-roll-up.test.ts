import { defineJob, defineQueues } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { Registry } from '#src/contract/registry'
import { Housekeeper } from '#src/maintenance/housekeeper'
import { MetricRollUp } from '#src/maintenance/metric-roll-up'
import { hands } from '../support/hands.ts'

const task = defineJob({ type: 'task', queue: defineQueues({ default: {} }).default, payload: z.object({}) })

const minute = `
  insert into millrace.metric_minute
  values ($1, 'a', $2, 'completed', $3, 10, $4, 20, '{1,0,2}', 30, '{0,3}')`
const hours = `
  select to_char(hour at time zone 'UTC', 'DD HH24:MI') as hour, type, runs::int, duration_ms, durations, waits, latency_ms, latencies
  from millrace.metric_hour order by metric_hour.hour, type`

test('the minutes of an hour that is over become one row, however often and by how many processes it is done', async () => {
  await using t = await hands([task], '2030-01-01T12:00:30Z')
  // Half past, in a zone whose hours do not begin with those of UTC.
  await t.sql(`alter database ${new URL(t.url).pathname.slice(1)} set timezone = 'Asia/Kolkata'`)
  for (const at of ['10:59', '11:00', '11:59', '12:00'])
    await t.sql(minute, [`2030-01-01T${at}:00Z`, 'task', 2, at === '11:59' ? '{1,0,0,4}' : '{2}'])
  await t.sql(minute, ['2030-01-01T11:30:00Z', 'other', 7, '{}'])
  const rollUp = new MetricRollUp(t)
  await rollUp.tick()
  // The hour from 11 is over, but the last flush into it may not be committed yet.
  expect(await t.sql(hours)).toMatchObject([{ hour: '01 10:00', runs: 2, durations: [2] }])
  t.clock.advance('1m')
  await Promise.all([rollUp.tick(), new MetricRollUp(t).tick(), new MetricRollUp(t).tick()])
  const sums = await t.sql(hours)
  expect(sums.slice(1)).toEqual([
    { hour: '01 11:00', type: 'other', ...{ runs: 7, duration_ms: 10, durations: [] }, ...rest(1) },
    { hour: '01 11:00', type: 'task', ...{ runs: 4, duration_ms: 20, durations: [3, 0, 0, 4] }, ...rest(2) },
  ])
  await rollUp.tick()
  expect(await t.sql(hours)).toEqual(sums)
})

const rest = (n: number) => ({ waits: [n, 0, 2 * n], latency_ms: 30 * n, latencies: [0, 3 * n] })

test('a flush that is committed late is still counted in its hour', async () => {
  await using t = await hands([task], '2030-01-01T12:05:00Z')
  const rollUp = new MetricRollUp(t)
  await t.sql(minute, ['2030-01-01T11:58:00Z', 'task', 2, '{2}'])
  await rollUp.tick()
  await t.sql(minute, ['2030-01-01T11:59:00Z', 'task', 3, '{3}'])
  await rollUp.tick()
  expect(await t.sql(hours)).toMatchObject([{ hour: '01 11:00', runs: 5, durations: [5] }])
})

test('weeks without a roll-up are made up for a day at a time, and idle days stop nothing', async () => {
  await using t = await hands([task], '2030-01-31T12:05:00Z')
  const rollUp = new MetricRollUp(t)
  for (const day of ['01', '02', '09', '31']) await t.sql(minute, [`2030-01-${day}T10:00:00Z`, 'task', 1, '{1}'])
  const passes: boolean[] = []
  do passes.push(await rollUp.tick())
  while (passes.at(-1))
  expect(passes.length).toBeGreaterThan(1)
  expect([rollUp.delayAfter(true), rollUp.delayAfter(false)]).toEqual([0, 300_000])
  expect((await t.sql(hours)).map(({ hour }) => hour)).toEqual(['01 10:00', '02 10:00', '09 10:00', '31 10:00'])
})

test('dead letters are counted in the hour of their birth and in the hour of the decision, and stay counted when they are pruned', async () => {
  await using t = await hands([task], '2030-01-01T10:30:00Z')
  const letters =
    'select extract(hour from hour at time zone $$UTC$$)::int as hour, born, decided from millrace.metric_letter_hour order by 1'
  for (let n = 0; n < 2; n++) {
    await t.millrace.enqueue(task, {})
    await t.bury(await t.claimOne())
  }
  await t.sql(minute, ['2030-01-01T10:30:00Z', 'task', 2, '{2}'])
  t.clock.advance('2h')
  const [letter] = await t.millrace.deadLetters.list()
  await t.millrace.deadLetters.resolve([letter?.id ?? ''], { by: 'ann' })
  await t.sql(minute, ['2030-01-01T12:30:00Z', 'task', 1, '{1}'])
  const rollUp = new MetricRollUp(t)
  t.clock.advance('1h')
  while (await rollUp.tick());
  const counted = [
    { hour: 10, born: 2, decided: 0 },
    { hour: 12, born: 0, decided: 1 },
  ]
  expect(await t.sql(letters)).toEqual(counted)
  await t.sql('delete from millrace.dead_letter_jobs')
  await rollUp.tick()
  expect(await t.sql(letters)).toEqual(counted)
})

test('minutes that are 30 days old stay until their hour is stored', async () => {
  await using t = await hands([task], '2030-03-01T12:05:00Z')
  await t.sql(minute, ['2030-01-01T10:00:00Z', 'task', 1, '{1}'])
  await t.sql(minute, ['2030-03-01T10:00:00Z', 'task', 1, '{1}'])
  const housekeeper = new Housekeeper({ db: t.db, clock: t.clock, registry: new Registry([task]) })
  expect(await housekeeper.tick()).toMatchObject({ metricsForgotten: 0 })
  const rollUp = new MetricRollUp(t)
  while (await rollUp.tick());
  expect(await housekeeper.tick()).toMatchObject({ metricsForgotten: 1 })
  expect(await t.sql('select count(*)::int from millrace.metric_hour')).toEqual([{ count: 2 }])
  t.clock.advance('390d')
  expect(await housekeeper.tick()).toMatchObject({ metricsForgotten: 1 })
})
