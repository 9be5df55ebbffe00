// A schedule in trouble is its own trouble: the others are ticked in time.
import { cron, defineSchedule, type ScheduleOptions } from 'millrace'
import pg from 'pg'
import { expect, test } from 'vitest'
import { report, schedulerOf, scheduling } from '../support/schedules.ts'
import { signal } from '../support/setup.ts'

const minutely = (name: string, options: ScheduleOptions = {}) =>
  defineSchedule({ name, job: report, when: cron('* * * * *'), payload: { n: 1 }, ...options, perTenant: false })

test('schedules that throw again and again neither delay nor starve the others', async () => {
  await using t = await scheduling()
  const { millrace } = await t.pod([minutely('fine')])
  const broken = { kind: 'cron', expression: '* * * * *', timeZone: 'Mars/Olympus' }
  await t.sql(
    `insert into millrace.schedule (name, job_type, source, cadence, timing, options, payload, next_at, created_at, updated_at, updated_by)
     select 'broken-' || g, 'report', 'runtime', $1, $1, options, '{"n":1}', '2029-12-31', now(), now(), 'test'
     from millrace.schedule, generate_series(1, 120) as g`,
    [broken],
  )
  const errors: string[] = []
  const onError = (during: string, error: unknown) => void errors.push(`${during}: ${(error as Error).message}`)
  const scheduler = schedulerOf(millrace, { onError })
  t.clock.moveTo('2030-01-01T00:01:00Z')
  await scheduler.tick()
  await scheduler.idle()
  expect(await t.jobs()).toEqual([])
  await scheduler.tick()
  await scheduler.idle()
  expect(await t.jobs()).toHaveLength(1)
  expect(errors).toHaveLength(120)
  expect(errors[0]).toMatch(/^schedule broken-\d+: There is no time zone "Mars\/Olympus"/)

  t.clock.moveTo('2030-01-01T00:01:59Z')
  const result = await scheduler.tick()
  expect(result).toEqual({ begun: 0, nextInMs: 1_000 })
  expect(scheduler.delayAfter(result)).toBeLessThanOrEqual(1_100)
  expect(scheduler.delayAfter({ begun: 0, nextInMs: null })).toBeLessThanOrEqual(5_000)
})

test('a payload function that hangs holds up nobody but its own schedule', async () => {
  await using t = await scheduling()
  const released = signal<{ n: number }>()
  const slow = ['slow-1', 'slow-2', 'slow-3'].map((name) =>
    defineSchedule({ name, job: report, when: cron('* * * * *'), payload: () => released.promise }),
  )
  const { millrace, ticked } = await t.pod([
    ...slow,
    minutely('value'),
    { ...minutely('function'), payload: () => ({ n: 2 }) },
  ])
  const late = signal()
  const scheduler = schedulerOf(millrace, { onLate: () => late.resolve() })
  for (const minute of [1, 2]) {
    t.clock.moveTo(`2030-01-01T00:0${minute}:00Z`)
    while (ticked.length < 2 * minute) await scheduler.tick()
  }
  expect((await t.ticks()).map(({ schedule }) => schedule).sort()).toEqual(['function', 'function', 'value', 'value'])
  released.resolve({ n: 3 })
  await late.promise
  await scheduler.idle()
  expect(await t.ticks('slow-1')).toMatchObject([{ fire_at: new Date('2030-01-01T00:01:00Z'), outcome: 'enqueued' }])
  expect((await scheduler.tick()).begun).toBe(3)
  expect(await t.ticks('slow-3')).toHaveLength(2)
})

test('a key that somebody holds keeps only its own schedule waiting', async () => {
  await using t = await scheduling()
  const held = ['held-1', 'held-2', 'held-3'].map((name) => minutely(name, { overlap: 'skip' }))
  const { millrace } = await t.pod([...held, minutely('fine')])
  const client = new pg.Client(t.url)
  await client.connect()
  await client.query('begin')
  for (const { name } of held) await millrace.enqueue(report, { n: 0 }, { dedupKey: `schedule:${name}`, tx: client })
  const scheduler = schedulerOf(millrace)
  t.clock.moveTo('2030-01-01T00:01:00Z')
  await scheduler.tick()
  await scheduler.idle()
  expect((await t.ticks()).map(({ schedule }) => schedule)).toEqual(['fine'])
  await client.query('rollback')
  await client.end()
  const other = schedulerOf(millrace)
  await other.tick()
  await other.idle()
  expect(await t.jobs()).toHaveLength(4)
})
