import {
  createMillrace,
  cron,
  defineJob,
  defineSchedule,
  every,
  InvalidDefinition,
  InvalidPayload,
  implement,
  UnknownSchedule,
} from 'millrace'
import { describe, expect, test } from 'vitest'
import { graveyard } from '../support/dead-letters.ts'
import { by, report, scheduling } from '../support/schedules.ts'
import { shortLease, silent } from '../support/setup.ts'

const hourly = defineSchedule({
  name: 'hourly',
  job: report,
  when: cron('0 * * * *'),
  payload: ({ fireAt }) => ({ n: fireAt.getUTCHours() }),
})
const yearly = defineSchedule({ name: 'yearly', job: report, when: cron('0 0 1 1 *'), payload: { n: 1 } })
const handlers = [implement(report, async () => {})]
const at = (time: string) => new Date(`2030-01-01T${time}Z`)
const iso = (times: readonly Date[]) => times.map((time) => time.toISOString().slice(11, 16))

describe('a pause', () => {
  test('ends at its time, and what would have fired meanwhile is not made up for', async () => {
    await using t = await scheduling()
    const pods = [await t.pod([hourly]), await t.pod([hourly])] as const
    const { schedules } = pods[0].millrace
    const paused = await schedules.pause('hourly', { reason: 'the source moves', until: at('03:30:00'), ...by })
    expect(paused).toMatchObject({
      status: 'paused',
      nextAt: at('04:00:00'),
      pause: { reason: 'the source moves', by: 'the test', until: at('03:30:00') },
    })
    for (let i = 0; i < 10; i++) {
      await Promise.all(pods.map((pod) => pod.fire()))
      t.clock.advance('30m')
    }
    expect(iso((await t.ticks()).map(({ fire_at }) => fire_at))).toEqual(['04:00'])
    expect(await schedules.list()).toMatchObject([{ status: 'active', missed: 0, pause: null }])
  })

  test('without an end lasts until somebody resumes it', async () => {
    await using t = await scheduling()
    const pod = await t.pod([hourly])
    const { schedules } = pod.millrace
    await schedules.pause('hourly', { reason: 'unclear', ...by })
    t.clock.advance('5h')
    await pod.fire()
    expect(await schedules.resume('hourly', by)).toMatchObject({ status: 'active', nextAt: at('06:00:00') })
    expect(await t.ticks()).toEqual([])
    expect(await t.sql('select actor as by, action, target from millrace.audit_log order by id')).toEqual([
      { by: 'the test', action: 'schedule.pause', target: 'hourly' },
      { by: 'the test', action: 'schedule.resume', target: 'hourly' },
    ])
  })

  test('records what was due before, which nobody had ticked', async () => {
    await using t = await scheduling()
    const pod = await t.pod([hourly])
    t.clock.moveTo(at('03:10:00'))
    await pod.millrace.schedules.pause('hourly', { reason: 'unclear', ...by })
    expect(await t.ticks()).toMatchObject([
      { outcome: 'missed', missed: 3, fire_at: at('01:00:00'), missed_to: at('03:00:00') },
    ])
    expect(pod.missed).toMatchObject([{ schedule: 'hourly', count: 3 }])
    t.clock.moveTo(at('06:10:00'))
    expect(await pod.millrace.schedules.resume('hourly', by)).toMatchObject({ missed: 3, nextAt: at('07:00:00') })
  })

  test('that has ended while nobody could tick is made up for from its end on, also if it is resumed by hand', async () => {
    await using t = await scheduling()
    const pod = await t.pod([hourly])
    await pod.millrace.schedules.pause('hourly', { reason: 'unclear', until: at('02:30:00'), ...by })
    t.clock.moveTo(at('05:10:00'))
    await pod.millrace.schedules.resume('hourly', by)
    await pod.fire()
    const ticks = (await t.ticks()).map(({ outcome, missed, fire_at }) => [outcome, missed, fire_at])
    expect(ticks.sort()).toEqual([
      ['enqueued', 0, at('05:00:00')],
      ['missed', 2, at('03:00:00')],
    ])
  })

  test('that has ended while nobody could tick has missed what came after it, also if it is paused again', async () => {
    await using t = await scheduling()
    const pod = await t.pod([hourly])
    await pod.millrace.schedules.pause('hourly', { reason: 'unclear', until: at('02:30:00'), ...by })
    t.clock.moveTo(at('05:10:00'))
    const paused = await pod.millrace.schedules.pause('hourly', { reason: 'still unclear', ...by })
    expect(paused).toMatchObject({ status: 'paused', missed: 3, pause: { reason: 'still unclear', until: null } })
    expect(await t.ticks()).toMatchObject([
      { outcome: 'missed', missed: 3, fire_at: at('03:00:00'), missed_to: at('05:00:00') },
    ])
    t.clock.moveTo(at('07:10:00'))
    expect(await pod.millrace.schedules.resume('hourly', by)).toMatchObject({ missed: 3, nextAt: at('08:00:00') })
  })

  test('can be what the code begins with', async () => {
    await using t = await scheduling()
    const schedule = { name: 'hourly', job: report, when: cron('0 * * * *'), payload: { n: 1 }, paused: true }
    const pod = await t.pod([defineSchedule(schedule)])
    t.clock.advance('2h')
    await pod.fire()
    expect(await pod.millrace.schedules.list()).toMatchObject([{ status: 'paused', pause: { by: 'code' } }])
    await pod.millrace.schedules.resume('hourly', by)
    await pod.declare()
    expect(await pod.millrace.schedules.list()).toMatchObject([{ status: 'active' }])
  })

  test('wins over a tick that is being prepared', async () => {
    await using t = await scheduling()
    let meanwhile: (() => Promise<unknown>) | undefined
    const pod = await t.pod([
      defineSchedule({
        name: 'slow',
        job: report,
        when: cron('0 * * * *'),
        payload: async () => {
          await meanwhile?.()
          return { n: 1 }
        },
      }),
    ])
    meanwhile = () => pod.millrace.schedules.pause('slow', { reason: 'stop', ...by })
    t.clock.advance('1h')
    await pod.fire()
    expect(await t.jobs()).toEqual([])
  })
})

test('run now is a tick of its own, also of a paused one, and when it is next stays as it was', async () => {
  await using t = await scheduling()
  const { millrace } = await t.pod([hourly])
  await millrace.schedules.pause('hourly', { reason: 'unclear', ...by })
  t.clock.moveTo(at('00:30:00'))
  const first = await millrace.schedules.run('hourly', by)
  const second = await millrace.schedules.run('hourly', by)
  expect(first).toMatchObject({ outcome: 'enqueued', jobs: 1 })
  expect(second.jobId).not.toBe(first.jobId)
  await millrace.schedules.resume('hourly', by)
  expect(await millrace.schedules.get('hourly')).toMatchObject({
    nextAt: at('01:00:00'),
    lastFireAt: null,
    ticks: [
      { origin: 'manual', by: 'the test', jobId: second.jobId },
      { origin: 'manual', by: 'the test', jobId: first.jobId },
    ],
  })
})

describe('a backfill', () => {
  test('ticks what was missed and what lies before, once, and leaves alone what was ticked', async () => {
    await using t = await scheduling()
    const pod = await t.pod([hourly])
    t.clock.moveTo(at('05:20:00'))
    await pod.fire()
    const range = { from: new Date('2029-12-31T23:00:00Z'), to: at('05:00:00'), ...by }
    const clients = [pod, await t.pod([hourly])]
    const results = await Promise.all(clients.map(({ millrace }) => millrace.schedules.backfill('hourly', range)))
    expect(results.map(({ fires }) => fires)).toEqual([7, 7])
    expect(results.reduce((sum, { enqueued }) => sum + enqueued, 0)).toBe(6)
    expect((await t.jobs()).map(({ payload }) => (payload as { n: number }).n).sort((a, b) => a - b)).toEqual([
      0, 1, 2, 3, 4, 5, 23,
    ])
    expect(await pod.millrace.schedules.backfill('hourly', range)).toEqual({
      fires: 7,
      before: 7,
      enqueued: 0,
      skipped: 0,
      failed: 0,
    })
  })

  test('tries failed ticks again', async () => {
    await using t = await scheduling()
    let isDown = true
    const pod = await t.pod([
      defineSchedule({
        name: 'shaky',
        job: report,
        when: cron('0 * * * *'),
        overlap: 'skip',
        payload: () => {
          if (isDown) throw new Error('down')
          return { n: 1 }
        },
      }),
    ])
    for (let i = 0; i < 2; i++) {
      t.clock.advance('1h')
      await pod.fire()
    }
    isDown = false
    const range = { from: at('00:30:00'), to: at('02:00:00'), ...by }
    expect(await pod.millrace.schedules.backfill('shaky', range)).toMatchObject({ enqueued: 2, failed: 0 })
    expect((await t.ticks()).map(({ origin, outcome }) => [origin, outcome])).toEqual([
      ['backfill', 'enqueued'],
      ['backfill', 'enqueued'],
    ])
  })

  test('of a tick that is just due leaves nothing for the tick', async () => {
    await using t = await scheduling()
    const pod = await t.pod([hourly])
    t.clock.moveTo(at('01:00:00'))
    await pod.millrace.schedules.backfill('hourly', { from: at('00:30:00'), to: at('01:00:00'), ...by })
    await pod.fire()
    expect(await t.jobs()).toHaveLength(1)
    expect(await pod.millrace.schedules.list()).toMatchObject([{ nextAt: at('02:00:00') }])
  })

  test('of what is so old that it is forgotten whether it was ticked has to be forced', async () => {
    await using t = await scheduling()
    const { millrace } = await t.pod([hourly])
    const before = { from: new Date('2029-12-31T22:00:00Z'), to: at('00:00:00'), ...by }
    const range = { from: at('00:30:00'), to: at('02:00:00'), ...by }
    t.clock.moveTo('2030-02-01T00:00:00Z')
    await expect(millrace.schedules.backfill('hourly', range)).rejects.toThrow(/forgotten which of them were ticked/)
    expect(await t.jobs()).toEqual([])
    expect(await millrace.schedules.backfill('hourly', before)).toMatchObject({ enqueued: 3 })
    expect(await millrace.schedules.backfill('hourly', { ...range, force: true })).toMatchObject({ enqueued: 2 })
  })

  test('of the future, backwards, or of too much is refused', async () => {
    await using t = await scheduling()
    const { millrace } = await t.pod([hourly])
    const backfill = (from: Date, to: Date) => millrace.schedules.backfill('hourly', { from, to, ...by })
    await expect(backfill(at('00:00:00'), at('01:00:00'))).rejects.toThrow(/range in the past/)
    await expect(backfill(at('00:00:00'), new Date('2029-01-01'))).rejects.toThrow(/range in the past/)
    await expect(backfill(new Date('2028-01-01'), at('00:00:00'))).rejects.toThrow(/more than 1000 fire times/)
  })
})

describe('a schedule that was created at run time', () => {
  const weekly = { name: 'weekly', type: 'report', when: every('7d', { initialDelay: '1h' }), payload: { n: 7 }, ...by }

  test('is ticked by whoever knows the contract, edited and removed', async () => {
    await using t = await scheduling()
    const pod = await t.pod([])
    const stranger = await t.pod([], { jobs: [] })
    const { schedules } = pod.millrace
    expect(await schedules.create({ ...weekly, overlap: 'skip' })).toMatchObject({
      source: 'runtime',
      nextAt: at('01:00:00.001'),
    })
    t.clock.advance('1h')
    await stranger.fire()
    expect(await t.jobs()).toEqual([])
    await pod.fire()
    expect(await t.jobs()).toMatchObject([{ payload: { n: 7 }, dedup_key: 'schedule:weekly' }])
    const edited = await schedules.edit('weekly', {
      when: cron('30 1 * * *'),
      payload: { n: 8 },
      overlap: 'allow',
      priority: 2,
      ...by,
    })
    expect(edited).toMatchObject({
      nextAt: at('01:30:00'),
      payload: { n: 8 },
      options: { overlap: 'allow', priority: 2 },
    })
    t.clock.moveTo(at('01:30:00'))
    await pod.fire()
    expect((await t.jobs())[1]).toMatchObject({ payload: { n: 8 }, priority: 2 })
    await schedules.remove('weekly', by)
    expect(await schedules.list()).toEqual([])
    expect(await t.ticks()).toEqual([])
    const actions = await t.sql<{ action: string }>('select action from millrace.audit_log order by id')
    expect(actions.map(({ action }) => action)).toEqual(['schedule.create', 'schedule.edit', 'schedule.remove'])
  })

  test('is orphaned while the workers that live know its type but do not run it: they do not tick it', async () => {
    await using t = await scheduling()
    const other = defineJob({ type: 'other', queue: report.queue, payload: report.payload })
    const millrace = t.client([report, other])
    await millrace.work({ handlers: [implement(other, async () => {})], lease: shortLease })
    const now = { ...weekly, when: every('7d', { initialDelay: 0 }) }
    expect(await millrace.schedules.create(now)).toMatchObject({ status: 'orphaned' })
    const ticked = millrace.events.next('schedule_ticked')
    await millrace.schedules.create({ ...now, name: 'theirs', type: 'other' })
    expect(await ticked).toMatchObject({ schedule: 'theirs' })
    expect(await t.ticks('weekly')).toEqual([])
    const running = millrace.events.next('schedule_ticked')
    await millrace.work({ handlers, lease: shortLease })
    expect(await running).toMatchObject({ schedule: 'weekly' })
    expect(await millrace.schedules.get('weekly')).toMatchObject({ status: 'active' })
  })

  test('is checked as an enqueue is, and its name is its own', async () => {
    await using t = await scheduling()
    const { schedules } = (await t.pod([hourly])).millrace
    await expect(schedules.create({ ...weekly, payload: { n: 'x' } })).rejects.toThrow(InvalidPayload)
    await expect(schedules.create({ ...weekly, type: 'reprot' })).rejects.toThrow(/Did you mean "report"/)
    await expect(schedules.create({ ...weekly, name: 'hourly' })).rejects.toThrow(/There is a schedule "hourly"/)
    await expect(schedules.create({ ...weekly, by: '' })).rejects.toThrow(/say who decides/)
    await expect(schedules.create({ ...weekly, overlaps: 'skip' } as never)).rejects.toThrow(/Did you mean "overlap"/)
    await schedules.create(weekly)
    await expect(schedules.create(weekly)).rejects.toThrow(/There is a schedule "weekly"/)
    await expect(schedules.edit('weekly', { payload: { n: null }, ...by })).rejects.toThrow(InvalidPayload)
    await expect(schedules.edit('weekly', { when: null, ...by })).rejects.toThrow(/is in no code/)
    const clash = defineSchedule({ name: 'weekly', job: report, when: every('1h'), payload: { n: 1 } })
    const errors: unknown[] = []
    const logger = { ...silent, error: (facts: unknown) => void errors.push(facts) }
    const millrace = t.client([report], { schedules: [clash, hourly], logger })
    await millrace.work({ handlers })
    expect(errors).toMatchObject([{ schedule: 'weekly' }])
    expect(await millrace.schedules.list()).toMatchObject([
      { name: 'hourly', hidesCode: false },
      { name: 'weekly', source: 'runtime', status: 'active', hidesCode: true, declaredAt: null },
    ])
  })
})

describe('a schedule of the code', () => {
  test('can be given another timing at run time, which outlives restarts and can be taken back', async () => {
    await using t = await scheduling()
    const pod = await t.pod([hourly])
    const { schedules } = pod.millrace
    expect(await schedules.edit('hourly', { when: cron('15 * * * *'), ...by })).toMatchObject({
      isEdited: true,
      nextAt: at('00:15:00'),
    })
    await pod.declare()
    expect(await schedules.get('hourly')).toMatchObject({ isEdited: true, nextAt: at('00:15:00') })
    expect(iso(await schedules.preview('hourly', { count: 2 }))).toEqual(['00:15', '01:15'])
    expect(await schedules.edit('hourly', { when: null, ...by })).toMatchObject({
      isEdited: false,
      nextAt: at('01:00:00'),
    })
    await expect(schedules.edit('hourly', { overlap: 'skip', ...by })).rejects.toThrow(/only `when` can be edited/)
  })

  test('is orphaned when no living worker declares it any more: it is shown, does not fire, and can be removed', async () => {
    await using t = await scheduling()
    const program = (schedules: (typeof yearly)[]) => t.client([report], { schedules })
    const old = await program([yearly]).work({ handlers })
    const millrace = program([])
    expect(await millrace.schedules.list()).toMatchObject([{ status: 'active' }])
    await expect(millrace.schedules.remove('yearly', by)).rejects.toThrow(/Take it out of the code/)
    await millrace.work({ handlers })
    await old.stop()
    expect(await millrace.schedules.list()).toMatchObject([{ name: 'yearly', status: 'orphaned' }])
    await t.sql(`update millrace.schedule set next_at = now() - interval '1 hour'`)
    const pod = await t.pod([], { clock: { databaseNow: () => null } })
    await pod.fire()
    expect(await t.ticks()).toEqual([])
    await expect(millrace.schedules.run('yearly', by)).rejects.toThrow(/code that this program does not have/)
    await millrace.schedules.remove('yearly', by)
    expect(await millrace.schedules.list()).toEqual([])
  })
})

test('what nobody ticks is shown as overdue, unless it is paused', async () => {
  await using t = await scheduling()
  const { schedules } = (await t.pod([hourly])).millrace
  expect(await schedules.list()).toMatchObject([{ overdueMs: 0 }])
  t.clock.moveTo(at('03:10:00'))
  expect(await schedules.get('hourly')).toMatchObject({ status: 'active', overdueMs: 130 * 60_000 })
  await schedules.pause('hourly', { reason: 'unclear', for: '1h', ...by })
  expect(await schedules.list()).toMatchObject([{ overdueMs: 0 }])
  t.clock.moveTo(at('05:30:00'))
  expect(await schedules.list()).toMatchObject([{ nextAt: at('05:00:00'), overdueMs: 30 * 60_000 }])
})

test('jobs that keep dying are shown by the list', async () => {
  await using t = await graveyard()
  const millrace = t.client([report], { schedules: [yearly] })
  await (await millrace.work({ handlers })).stop()
  const ids: string[] = []
  for (let i = 0; i < 3; i++) ids.push((await millrace.schedules.run('yearly', by)).jobId as string)
  await t.kill(ids.slice(0, 2))
  expect(await millrace.schedules.list()).toMatchObject([
    {
      deadInARow: 2,
      lastJobs: [
        { id: ids[2], status: 'live' },
        { id: ids[1], status: 'dead' },
        { id: ids[0], status: 'dead' },
      ],
    },
  ])
})

test('what is unknown, and what has no author, is refused', async () => {
  await using t = await scheduling()
  const { schedules } = (await t.pod([hourly])).millrace
  await expect(schedules.get('hourli')).rejects.toThrow(UnknownSchedule)
  await expect(schedules.pause('hourli', { reason: 'x', ...by })).rejects.toThrow(/Did you mean "hourly"/)
  await expect(schedules.pause('hourly', { reason: '', ...by })).rejects.toThrow(/needs a reason/)
  await expect(schedules.pause('hourly', { reason: 'x', until: at('00:00:00'), ...by })).rejects.toThrow(
    /in the future/,
  )
  await expect(schedules.run('hourly', { by: '' })).rejects.toThrow(InvalidDefinition)
  expect(await t.sql('select 1 from millrace.audit_log')).toEqual([])
  const jobs = { database: t.url, jobs: [], logger: silent }
  expect(() => createMillrace({ ...jobs, schedules: [hourly] })).toThrow(/There is no job type "report"|"report"/)
  expect(() => createMillrace({ ...jobs, jobs: [report], schedules: [hourly, hourly] })).toThrow(/Two schedules/)
})
