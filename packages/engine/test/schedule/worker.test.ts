import { cron, defineSchedule, every, implement } from 'millrace'
import { drain, fakeClock } from 'millrace/testing'
import { expect, test } from 'vitest'
import { by, report, schedulerOf, scheduling } from '../support/schedules.ts'
import { attentive, jobEvent, setup, shortLease } from '../support/setup.ts'

const handlers = [implement(report, async ({ n }) => n)]

test('workers tick in time, once, and the jobs run', async () => {
  await using t = await setup()
  const schedules = [defineSchedule({ name: 'often', job: report, when: every('1s'), payload: { n: 1 } })]
  const clients = [t.client([report], { schedules }), t.client([report], { schedules })]
  await Promise.all(clients.map((millrace) => millrace.work({ handlers, lease: shortLease })))
  const told = clients.map((millrace) => millrace.events)
  const seen: number[] = []
  await new Promise<void>((resolve) => {
    for (const events of told) {
      events.on('schedule_ticked', ({ latenessMs }) => seen.push(latenessMs) === 3 && resolve())
    }
  })
  for (const latenessMs of seen) {
    expect(latenessMs).toBeGreaterThanOrEqual(0)
    expect(latenessMs).toBeLessThan(10_000)
  }
  const [{ ticks }] = (await t.sql<{ ticks: number }>(
    'select count(*)::int as ticks from (select distinct fire_at from millrace.schedule_tick) as each',
  )) as [{ ticks: number }]
  expect(await t.sql('select 1 from millrace.schedule_tick')).toHaveLength(ticks)
})

test('a worker that sleeps is woken by what another process creates', async () => {
  await using t = await setup()
  const working = t.client([report])
  const trusted = working.events.next('listen_trusted')
  await working.work({ handlers, lease: attentive })
  await trusted
  const ticked = working.events.next('schedule_ticked')
  const when = every('1h', { initialDelay: 0 })
  await t.client([report]).schedules.create({ name: 'now', type: 'report', when, payload: { n: 1 }, ...by })
  const { jobId, latenessMs } = await ticked
  await jobEvent(working, 'job_completed', jobId as string)
  expect(latenessMs).toBeLessThan(10_000)
})

test('a fake clock that is moved wakes the scheduler of a worker', async () => {
  await using t = await scheduling(new Date().toISOString())
  const schedules = [defineSchedule({ name: 'daily', job: report, when: every('1d'), payload: { n: 1 } })]
  const millrace = t.client([report], { clock: t.clock, schedules })
  await millrace.work({ handlers, lease: shortLease })
  const ticked = millrace.events.next('schedule_ticked')
  t.clock.advance('1d')
  expect(await ticked).toMatchObject({ schedule: 'daily', latenessMs: 0 })
})

test('drain ticks schedules on its way, each at its time', async () => {
  await using t = await setup()
  const clock = fakeClock('2030-01-01T00:00:00.001Z')
  const schedules = [
    defineSchedule({
      name: 'hourly',
      job: report,
      when: cron('0 * * * *'),
      payload: ({ fireAt }) => ({ n: fireAt.getUTCHours() }),
    }),
  ]
  const millrace = t.client([report], { clock, schedules })
  const at: string[] = []
  const running = [
    implement(report, async ({ n }) => void at.push(`${n} at ${clock.now().toISOString().slice(11, 16)}`)),
  ]
  await drain(millrace, running)
  expect(at).toEqual([])
  await drain(millrace, running, { advance: '3h' })
  expect(at).toEqual(['1 at 01:00', '2 at 02:00', '3 at 03:00'])
})

test('a scheduler asks once a minute, and every five while nothing is scheduled and it would hear of it', async () => {
  await using t = await scheduling()
  const { millrace } = await t.pod([])
  const scheduler = schedulerOf(millrace)
  const result = await scheduler.tick()
  expect(result).toEqual({ begun: 0, nextInMs: null })
  expect(scheduler.delayAfter(result)).toBe(60_000)
  const told = schedulerOf(millrace, { isTold: () => true })
  expect(told.delayAfter(result)).toBe(300_000)
  expect(told.delayAfter({ ...result, nextInMs: 200_000 })).toBe(60_000)
  expect(scheduler.delayAfter({ ...result, nextInMs: 5_000 })).toBeLessThanOrEqual(5_100)
  expect(scheduler.delayAfter({ ...result, nextInMs: 5_000 })).toBeGreaterThanOrEqual(5_000)
})
