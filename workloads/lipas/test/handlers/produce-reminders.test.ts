// The handler of `produce-reminders` and its schedule: once a day, one mail for each open reminder, whatever dies on the way.
import { type Implementation, implement, type JobContext } from 'millrace'
import { drain, fakeClock } from 'millrace/testing'
import { expect, test } from 'vitest'
import { Uptime } from '#src/uptime'
import { type Lipas, setup } from '../support/lipas.ts'

/** Reminders that belong to no place: due a day ago. */
const dueReminders = (t: Lipas, count: number, dueAt: Date) =>
  t.sql(
    `insert into lipas.reminder (email, event_date)
     select 'owner' || n || '@example.com', $2::timestamptz - interval '1 day' from generate_series(1, $1) n`,
    [count, dueAt],
  )

const mailsPerReminder = (t: Lipas) =>
  t.sql<{ jobs: number; reminders: number }>(
    `select jobs::int, count(*)::int as reminders
     from (select payload->>'reminder-id', count(*) as jobs from millrace.jobs where type = 'email' group by 1) as counted
     group by jobs`,
  )

test('every due reminder is queued with one mail, also if the run dies between two pages', async () => {
  await using t = await setup()
  await dueReminders(t, 450, new Date())
  await t.sql(`insert into lipas.reminder (email, event_date) values ('later@example.com', now() + interval '1 day')`)
  const real = t.handler('produce-reminders')
  let hasDied = false
  const dying = implement(real.contract, (payload, ctx) => {
    const progress = (done: number) => {
      if (hasDied) return ctx.progress(done)
      hasDied = true
      throw new Error('killed after the first page')
    }
    // ctx is a class with private fields: only what is replaced may differ.
    const mortal = new Proxy(ctx, {
      get: (target, key) => {
        if (key === 'progress') return progress
        const value = Reflect.get(target, key, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    return (real.handler as (payload: unknown, ctx: JobContext) => object)(payload, mortal)
  }) as Implementation
  const { id } = await t.millrace.enqueueByType('produce-reminders', {})
  const [first] = await drain(t.millrace, [dying])
  expect(first).toMatchObject({ outcome: 'retry', failure: { message: 'killed after the first page' } })
  expect(await mailsPerReminder(t)).toEqual([{ jobs: 1, reminders: 200 }])
  await t.millrace.runNow(id, { by: 'test' })
  const [second] = await drain(t.millrace, [dying])
  expect(second).toMatchObject({ outcome: 'completed', result: { produced: 250 } })
  expect(await mailsPerReminder(t)).toEqual([{ jobs: 1, reminders: 450 }])
  expect(await t.sql('select status, count(*)::int from lipas.reminder group by 1 order by 1')).toEqual([
    { status: 'pending', count: 1 },
    { status: 'queued', count: 450 },
  ])
  const [mail] = await t.sql('select payload, parent_job_id from millrace.jobs where type = $1 limit 1', ['email'])
  expect(mail).toMatchObject({ payload: { type: 'reminder' }, parent_job_id: id })
})

test.each([
  ['summer', '2026-07-01T04:59:00Z', '2026-07-01T05:00:00.000Z'],
  ['winter', '2026-12-01T05:59:00Z', '2026-12-01T06:00:00.000Z'],
])('in %s time it comes at 08:00 in Helsinki, once', async (_, start, at) => {
  const clock = fakeClock(start)
  const uptime = new Uptime(() => clock.now().getTime())
  await using t = await setup({ clock, hasSchedules: true, times: { uptime } })
  const reminders = async (advance: '30s' | '2m' | '1d') => {
    const runs = await drain(t.millrace, t.workload.handlers, { advance })
    return runs.filter(({ job }) => job.type === 'produce-reminders')
  }
  expect(await reminders('30s')).toEqual([])
  const runs = await reminders('2m')
  expect(runs.at(-1)).toMatchObject({ outcome: 'completed', result: { produced: 0 } })
  const jobs = await t.sql<{ scheduled: Date }>(
    `select created_at as scheduled from millrace.jobs where type = 'produce-reminders'`,
  )
  expect(jobs.map(({ scheduled }) => scheduled.toISOString())).toEqual([at])
})

test('a worker that started at 07:59:30 runs it at 08:00:30, and uses no attempt for the wait', async () => {
  const clock = fakeClock('2026-07-01T04:59:30Z')
  const uptime = new Uptime(() => clock.now().getTime())
  await using t = await setup({ clock, hasSchedules: true, times: { uptime } })
  const runs = await drain(t.millrace, [t.handler('produce-reminders')], { advance: '2m' })
  expect(runs.map(({ outcome }) => outcome)).toEqual(['snoozed', 'completed'])
  const [job] = await t.sql<{ started: Date; attempts: number }>(
    `select started_at as started, attempts from millrace.jobs where type = 'produce-reminders'`,
  )
  expect(job?.attempts).toBe(1)
  expect(job?.started.toISOString()).toMatch(/^2026-07-01T05:00:30/)
})

test('cleanup-jobs does not run in the first five minutes of a worker, and then comes daily', async () => {
  const clock = fakeClock('2026-07-01T12:00:00Z')
  const uptime = new Uptime(() => clock.now().getTime())
  await using t = await setup({ clock, hasSchedules: true, times: { uptime } })
  const handlers = [t.handler('cleanup-jobs')]
  expect(await drain(t.millrace, handlers, { advance: '4m' })).toEqual([])
  const first = await drain(t.millrace, handlers, { advance: '2m' })
  expect(first.at(-1)).toMatchObject({ outcome: 'completed' })
  // It would come 2,880 times.
  await t.millrace.schedules.pause('monitor-queue-health', { by: 'test', reason: 'not in this test' })
  const nextDays = await drain(t.millrace, handlers, { advance: '2d' })
  expect(nextDays.filter(({ outcome }) => outcome === 'completed')).toHaveLength(2)
})
