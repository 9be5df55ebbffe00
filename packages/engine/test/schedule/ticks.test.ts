import { cron, defineJob, defineQueues, defineSchedule, every, implement, type ScheduleFire, skip } from 'millrace'
import { drain } from 'millrace/testing'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { Housekeeper } from '#src/maintenance/housekeeper'
import { Millrace } from '#src/millrace'
import { by, report, scheduling } from '../support/schedules.ts'
import { silent } from '../support/setup.ts'

const hourly = { name: 'hourly', job: report, when: cron('0 * * * *') }
const times = (rows: readonly { fire_at: Date }[]) => rows.map(({ fire_at }) => fire_at.toISOString().slice(11, 16))

describe('a tick', () => {
  test('is exactly once, however many processes come to it', async () => {
    await using t = await scheduling()
    const schedules = [
      defineSchedule({ ...hourly, payload: { n: 1 } }),
      defineSchedule({ name: 'quarterly', job: report, when: every('15m'), payload: { n: 2 } }),
    ]
    const pods = await Promise.all([1, 2, 3, 4].map(() => t.pod(schedules, { maxConnections: 3 })))
    for (let quarter = 1; quarter <= 8; quarter++) {
      t.clock.advance('15m')
      await Promise.all(pods.flatMap((pod) => [pod.fire(), pod.fire()]))
    }
    expect(times(await t.ticks('hourly'))).toEqual(['01:00', '02:00'])
    expect(await t.ticks('quarterly')).toHaveLength(8)
    expect((await t.jobs()).map(({ payload }) => payload)).toHaveLength(10)
    const told = pods.flatMap(({ ticked }) => ticked)
    expect(told).toHaveLength(10)
    expect(new Set(told.map(({ outcome }) => outcome))).toEqual(new Set(['enqueued']))
  })

  test('knows its fire time and the one before, and how late it was', async () => {
    await using t = await scheduling()
    const fires: ScheduleFire[] = []
    const schedule = defineSchedule({
      ...hourly,
      payload: async (fire) => {
        fires.push(fire)
        return { n: fires.length }
      },
    })
    const pod = await t.pod([schedule])
    t.clock.moveTo('2030-01-01T01:00:07Z')
    await pod.fire()
    t.clock.moveTo('2030-01-01T02:00:00Z')
    await pod.fire()
    expect(fires).toEqual([
      { fireAt: new Date('2030-01-01T01:00:00Z'), previousFireAt: null, tenant: null },
      { fireAt: new Date('2030-01-01T02:00:00Z'), previousFireAt: new Date('2030-01-01T01:00:00Z'), tenant: null },
    ])
    expect((await t.ticks()).map(({ lateness_ms }) => lateness_ms)).toEqual([7_000, 0])
    const [job] = await t.jobs()
    expect(job).toMatchObject({ created_by: 'schedule:hourly', payload: { n: 1 } })
    expect(pod.ticked[0]).toMatchObject({ schedule: 'hourly', origin: 'due', latenessMs: 7_000, jobId: job?.id })
  })

  test('waits for the initial delay of a cron expression, which a later deployment does not begin anew', async () => {
    await using t = await scheduling()
    const delayed = (expression: string) => {
      const when = cron(expression, { initialDelay: '90m' })
      return defineSchedule({ name: 'delayed', job: report, when, payload: { n: 1 } })
    }
    const first = await t.pod([delayed('0 * * * *')])
    t.clock.moveTo('2030-01-01T01:20:00Z')
    await first.fire()
    const second = await t.pod([delayed('30 * * * *')])
    for (const time of ['01:40', '02:00', '02:30']) {
      t.clock.moveTo(`2030-01-01T${time}:00Z`)
      await second.fire()
    }
    expect(times(await t.ticks())).toEqual(['02:30'])
    const third = await t.pod([delayed('45 * * * *')])
    t.clock.moveTo('2030-01-01T02:45:00Z')
    await third.fire()
    expect(times(await t.ticks())).toEqual(['02:30', '02:45'])
  })

  test('gives its job and what that enqueues a correlation id of its own', async () => {
    await using t = await scheduling()
    const schedules = [
      defineSchedule({ ...hourly, payload: { n: 1 } }),
      defineSchedule({
        ...hourly,
        name: 'named',
        payload: { n: 2 },
        correlationId: ({ fireAt }) => `report-${fireAt.getUTCHours()}`,
      }),
      defineSchedule({ ...hourly, name: 'fixed', payload: { n: 3 }, correlationId: 'reports' }),
    ]
    const pod = await t.pod(schedules)
    t.clock.moveTo('2030-01-01T01:00:00Z')
    await pod.fire()
    const child = defineJob({ type: 'child', queue: report.queue, payload: z.object({}) })
    const millrace = t.client([report, child], { clock: t.clock })
    await drain(millrace, [
      implement(report, async () => void (await millrace.enqueue(child, {}))),
      implement(child, () => {}),
    ])
    const typesOf = async (correlationId: string) =>
      (await millrace.jobsByCorrelation(correlationId)).jobs.map(({ type }) => type)
    for (const id of ['schedule-hourly-2030-01-01T01:00:00.000Z', 'report-1', 'reports'])
      expect(await typesOf(id)).toEqual(['report', 'child'])
  })

  test('does not depend on the clocks of the processes', async () => {
    await using t = await scheduling()
    const schedule = defineSchedule({
      name: 'seconds',
      job: report,
      when: every('1h'),
      payload: { n: 1 },
    })
    const clock = { databaseNow: () => null }
    const pods = await Promise.all([1, 2].map(() => t.pod([schedule], { clock })))
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      for (const skewMs of [600_000, -600_000]) {
        vi.setSystemTime(vi.getRealSystemTime() + skewMs)
        await Promise.all(pods.map((pod) => pod.fire()))
      }
      expect(await t.ticks()).toHaveLength(0)
      await t.sql(`update millrace.schedule set next_at = clock_timestamp()`)
      for (const skewMs of [-600_000, 600_000]) {
        vi.setSystemTime(vi.getRealSystemTime() + skewMs)
        await Promise.all(pods.map((pod) => pod.fire()))
      }
    } finally {
      vi.useRealTimers()
    }
    const [tick, ...others] = await t.ticks()
    expect(others).toEqual([])
    expect(tick?.lateness_ms).toBeLessThan(60_000)
    expect(await t.jobs()).toHaveLength(1)
  })

  test('starts its job later by a jitter that is the same for everybody', async () => {
    await using t = await scheduling()
    const pod = await t.pod([
      defineSchedule({ ...hourly, payload: { n: 1 }, jitter: '10m' }),
      defineSchedule({ ...hourly, name: 'other', payload: { n: 1 }, jitter: '10m' }),
    ])
    t.clock.advance('1h')
    await pod.fire()
    const delays = (await t.jobs()).map(({ run_at }) => run_at.getTime() - Date.parse('2030-01-01T01:00:00Z'))
    expect(delays[0]).not.toBe(delays[1])
    for (const delay of delays) {
      expect(delay).toBeGreaterThanOrEqual(0)
      expect(delay).toBeLessThan(600_000)
    }
  })
})

describe('fire times that passed while nobody could tick', () => {
  test('are made up for by one job, by none, or by one each', async () => {
    await using t = await scheduling()
    const policies = ['once', 'skip', 'all'] as const
    const pod = await t.pod(
      policies.map((missed) => defineSchedule({ ...hourly, name: missed, payload: { n: 1 }, missed })),
    )
    t.clock.moveTo('2030-01-01T05:20:00Z')
    await pod.fire()
    const fired: Record<string, string[]> = {}
    for (const name of policies) fired[name] = times((await t.ticks(name)).filter(({ jobs }) => jobs === 1))
    expect(fired).toEqual({ once: ['05:00'], skip: [], all: ['01:00', '02:00', '03:00', '04:00', '05:00'] })
    expect(await t.jobs()).toHaveLength(6)
    const missed = Object.fromEntries((await pod.millrace.schedules.list()).map((each) => [each.name, each.missed]))
    expect(missed).toEqual({ once: 4, skip: 5, all: 0 })
    expect(pod.missed.map(({ schedule, count }) => [schedule, count]).sort()).toEqual([
      ['once', 4],
      ['skip', 5],
    ])
    await pod.fire()
    expect(await t.jobs()).toHaveLength(6)
  })

  test('are not missed if they are hardly late', async () => {
    await using t = await scheduling()
    const pod = await t.pod([defineSchedule({ ...hourly, payload: { n: 1 }, missed: 'skip' })])
    t.clock.moveTo('2030-01-01T01:00:59Z')
    await pod.fire()
    expect(await t.jobs()).toHaveLength(1)
  })

  test('catch up by a hundred at most, and the rest is recorded', async () => {
    await using t = await scheduling()
    const minutely = defineSchedule({ name: 'm', job: report, when: every('1m'), payload: { n: 1 }, missed: 'all' })
    const pods = [await t.pod([minutely]), await t.pod([minutely])]
    t.clock.advance('5h')
    await Promise.all(pods.map((pod) => pod.fire()))
    expect(await t.jobs()).toHaveLength(100)
    const ticks = await t.ticks()
    expect(ticks.filter(({ outcome }) => outcome === 'missed')).toMatchObject([
      { missed: 200, missed_to: new Date('2030-01-01T03:20:00.001Z') },
    ])
    expect(ticks).toHaveLength(101)
    expect(pods.flatMap(({ missed }) => missed)).toMatchObject([{ schedule: 'm', count: 200 }])
  })
})

describe('while the job of an earlier tick is not done', () => {
  test("'skip' records which job stood in the way, until that has ended", async () => {
    await using t = await scheduling()
    const pod = await t.pod([defineSchedule({ ...hourly, payload: { n: 1 }, overlap: 'skip' })])
    for (let i = 0; i < 2; i++) {
      t.clock.advance('1h')
      await pod.fire()
    }
    const [job] = await t.jobs()
    const [, skipped] = await t.ticks()
    expect(skipped).toMatchObject({
      outcome: 'skipped',
      job_id: job?.id,
      reason: expect.stringContaining(`job ${job?.id}`),
    })
    await t.finishJobs()
    t.clock.advance('1h')
    await pod.fire()
    expect((await t.ticks()).map(({ outcome }) => outcome)).toEqual(['enqueued', 'skipped', 'enqueued'])
  })

  test('a window that is open is not mistaken for a job that is not done', async () => {
    await using t = await scheduling()
    const windowed = defineJob({
      type: 'windowed',
      queue: report.queue,
      payload: z.object({ n: z.number() }),
      dedupe: { key: ({ n }) => String(n), mode: 'window', window: '3h' },
    })
    const schedule = defineSchedule({ name: 'w', job: windowed, when: cron('0 * * * *'), payload: { n: 1 } })
    const pod = await t.pod([schedule], { jobs: [windowed] })
    for (let i = 0; i < 2; i++) {
      t.clock.advance('1h')
      await pod.fire()
      await t.finishJobs()
    }
    expect((await t.ticks()).map(({ outcome }) => outcome)).toEqual(['enqueued', 'skipped'])
    expect((await t.ticks())[1]?.reason).toMatch(
      /^job \d+, enqueued before, holds its dedup key for a window that is open$/,
    )
  })

  test("'allow' enqueues another beside it, 'queue' one that runs behind it", async () => {
    await using t = await scheduling()
    const pod = await t.pod([
      defineSchedule({ ...hourly, name: 'allow', payload: { n: 1 } }),
      defineSchedule({ ...hourly, name: 'queue', payload: { n: 1 }, overlap: 'queue' }),
    ])
    for (let i = 0; i < 2; i++) {
      t.clock.advance('1h')
      await pod.fire()
    }
    const keys = (await t.jobs()).map(({ order_key }) => order_key ?? 'none').sort()
    expect(keys).toEqual(['none', 'none', 'schedule:queue', 'schedule:queue'])
  })
})

describe('a payload function', () => {
  test('may skip a tick, which is recorded and does not count as a fire', async () => {
    await using t = await scheduling()
    const seen: (Date | null)[] = []
    const pod = await t.pod([
      defineSchedule({
        ...hourly,
        payload: ({ fireAt, previousFireAt }) => {
          seen.push(previousFireAt)
          return fireAt.getUTCHours() === 2 ? skip('nothing changed') : { n: fireAt.getUTCHours() }
        },
      }),
    ])
    for (let i = 0; i < 3; i++) {
      t.clock.advance('1h')
      await pod.fire()
    }
    expect((await t.ticks()).map(({ outcome, reason }) => [outcome, reason])).toEqual([
      ['enqueued', null],
      ['skipped', 'nothing changed'],
      ['enqueued', null],
    ])
    expect(seen.map((time) => time?.getUTCHours() ?? null)).toEqual([null, 1, 1])
  })

  test('that throws, or gives what does not fit, is recorded, and the schedule goes on', async () => {
    await using t = await scheduling()
    const bad: Record<string, [payload: () => unknown, reason: RegExp]> = {
      throws: [() => Promise.reject(new Error('the source is down')), /^the source is down$/],
      misfit: [() => ({ n: 'many' }), /n: .*expected number/i],
      nothing: [() => undefined, /payload of job "report"/],
    }
    const logged: unknown[] = []
    const schedules = Object.entries(bad).map(([name, [payload]]) =>
      defineSchedule({ ...hourly, name, payload: payload as () => { n: number } }),
    )
    const pod = await t.pod(schedules, { logger: { ...silent, warn: (facts) => logged.push(facts) } })
    for (let i = 0; i < 3; i++) {
      t.clock.advance('1h')
      await pod.fire()
    }
    expect(await t.jobs()).toEqual([])
    for (const [name, [, reason]] of Object.entries(bad)) {
      const ticks = await t.ticks(name)
      expect(ticks.map(({ outcome }) => outcome)).toEqual(['failed', 'failed', 'failed'])
      expect(ticks[0]?.reason).toMatch(reason)
    }
    const trouble = { failures: 3, lastFireAt: null, status: 'active' }
    expect(await pod.millrace.schedules.list()).toMatchObject([trouble, trouble, trouble])
    expect(pod.ticked.map(({ outcome }) => outcome)).toEqual(Array(9).fill('failed'))
    expect(logged).toHaveLength(9)
  })

  test('that a contract refuses in its own code is a failed tick, not a loop', async () => {
    await using t = await scheduling()
    const { main } = defineQueues({ main: {} })
    const keyed = defineJob({
      type: 'keyed',
      queue: main,
      payload: z.object({}),
      dedupe: {
        key: () => {
          throw new Error('no key today')
        },
      },
    })
    const pod = await t.pod([defineSchedule({ name: 'k', job: keyed, when: every('1h'), payload: {} })], {
      jobs: [keyed],
    })
    t.clock.advance('1h')
    await pod.fire()
    expect(await t.ticks()).toMatchObject([{ outcome: 'failed', reason: 'no key today' }])
  })
})

test('what is thrown about a sensitive job is not stored, and its payload is not kept by a schedule', async () => {
  await using t = await scheduling()
  const { main } = defineQueues({ main: {} })
  const payload = z.object({ pin: z.string() })
  const card = defineJob({ type: 'card', queue: main, payload, sensitive: ['pin'] })
  const schedule = defineSchedule({
    name: 'cards',
    job: card,
    when: every('1h'),
    payload: () => {
      throw new TypeError('no card with pin 4711')
    },
  })
  const { fire, millrace } = await t.pod([schedule], { jobs: [card] })
  t.clock.advance('1h')
  await fire()
  expect(await t.ticks()).toMatchObject([
    { outcome: 'failed', reason: expect.stringMatching(/^TypeError; .*sensitive/) },
  ])
  const created = millrace.schedules.create({
    name: 'c',
    type: 'card',
    when: every('1h'),
    payload: { pin: '1' },
    ...by,
  })
  await expect(created).rejects.toThrow(/stored in plain text/)
})

test('a tenant that is suspended is skipped, and told so', async () => {
  await using t = await scheduling()
  const pod = await t.pod([defineSchedule({ ...hourly, payload: { n: 1 }, tenant: 'acme' })])
  await pod.millrace.tenants.suspend('acme', { by: 'the test', reason: 'unpaid' })
  t.clock.advance('1h')
  await pod.fire()
  expect(await t.ticks()).toMatchObject([{ outcome: 'skipped', reason: expect.stringContaining('acme') }])
  await pod.millrace.tenants.resume('acme', { by: 'the test' })
  t.clock.advance('1h')
  await pod.fire()
  expect(await t.jobs()).toMatchObject([{ tenant: 'acme' }])
})

describe('an edit of the code', () => {
  test('counts from the next start on, and neither doubles nor loses the tick that is due', async () => {
    await using t = await scheduling()
    const pod = await t.pod([defineSchedule({ ...hourly, payload: { n: 1 } })])
    t.clock.advance('1h')
    const edited = defineSchedule({ ...hourly, when: cron('*/30 * * * *'), payload: { n: 2 } })
    const newer = await t.pod([edited])
    await Promise.all([pod.fire(), newer.fire(), newer.declare(), pod.fire()])
    expect(times(await t.ticks())).toEqual(['01:00'])
    t.clock.advance('30m')
    await Promise.all([pod.fire(), newer.fire()])
    expect(times(await t.ticks())).toEqual(['01:00', '01:30'])
  })

  test('after an outage makes up for what was due by the old timing, and not for times that were never in it', async () => {
    await using t = await scheduling()
    const declared = { name: 'h', job: report, payload: { n: 1 }, missed: 'all' as const }
    await t.pod([defineSchedule({ ...declared, when: cron('0 * * * *') })])
    t.clock.moveTo('2030-01-01T03:10:00Z')
    const newer = await t.pod([defineSchedule({ ...declared, when: cron('* * * * *') })])
    t.clock.moveTo('2030-01-01T03:11:00Z')
    await newer.millrace.schedules.edit('h', { when: cron('30 * * * *'), ...by })
    t.clock.moveTo('2030-01-01T03:30:00Z')
    await newer.millrace.schedules.edit('h', { when: null, ...by })
    t.clock.moveTo('2030-01-01T03:31:00Z')
    await newer.fire()
    expect(times(await t.ticks())).toEqual(['01:00', '02:00', '03:00', '03:11', '03:30', '03:31'])
    expect(await newer.millrace.schedules.get('h')).toMatchObject({
      timing: { kind: 'cron', expression: '* * * * *' },
      isEdited: false,
      missed: 0,
    })
  })

  test('that changes nothing leaves an interval where it began', async () => {
    await using t = await scheduling()
    const schedule = defineSchedule({ name: 'i', job: report, when: every('40m'), payload: { n: 1 } })
    const pod = await t.pod([schedule])
    for (let i = 0; i < 6; i++) {
      t.clock.advance('20m')
      await pod.declare()
      await pod.fire()
    }
    expect(times(await t.ticks())).toEqual(['00:40', '01:20', '02:00'])
  })

  test('of an interval goes on from where it began, so that versions that take turns do not put it off', async () => {
    await using t = await scheduling()
    const version = (interval: '60m' | '90m') =>
      defineSchedule({ name: 'i', job: report, when: every(interval), payload: { n: 1 } })
    const pods = [await t.pod([version('60m')]), await t.pod([version('90m')])]
    for (let i = 0; i < 18; i++) {
      t.clock.advance('20m')
      await pods[i % 2]?.declare()
      await pods[i % 2]?.fire()
    }
    // Whole intervals after 01:00, of the version that was the last to start.
    expect(times(await t.ticks())).toEqual(['01:00', '02:00', '04:00', '05:30', '06:00'])
  })

  test('of the time zone, on the night when clocks are changed, fires each local time once', async () => {
    await using t = await scheduling('2030-10-26T20:00:00Z')
    const nightly = (timeZone: string) =>
      defineSchedule({ name: 'nightly', job: report, when: cron('30 2 * * *', { timeZone }), payload: { n: 1 } })
    const pod = await t.pod([nightly('Europe/Helsinki')])
    // 02:30 of the 27th in Helsinki, where clocks go back at 04:00.
    t.clock.moveTo('2030-10-26T23:30:00Z')
    await pod.fire()
    const berlin = await t.pod([nightly('Europe/Berlin')])
    for (let i = 0; i < 10; i++) {
      await Promise.all([pod.fire(), berlin.fire()])
      t.clock.advance('30m')
    }
    // Berlin has 02:30 twice that night, at 00:30 and 01:30 UTC.
    expect((await t.ticks()).map(({ fire_at }) => fire_at.toISOString())).toEqual([
      '2030-10-26T23:30:00.000Z',
      '2030-10-27T00:30:00.000Z',
    ])
  })

  test('races with a tick that was prepared before: what was prepared comes to nothing', async () => {
    await using t = await scheduling()
    let edit: (() => Promise<unknown>) | undefined
    const pod = await t.pod([
      defineSchedule({
        ...hourly,
        payload: async () => {
          await edit?.()
          edit = undefined
          return { n: 1 }
        },
      }),
    ])
    t.clock.advance('1h')
    edit = () => pod.millrace.schedules.edit('hourly', { when: cron('*/20 * * * *'), ...by })
    await pod.fire()
    expect(times(await t.ticks())).toEqual(['01:00'])
    const [state] = await pod.millrace.schedules.list()
    expect(state?.nextAt).toEqual(new Date('2030-01-01T01:20:00Z'))
  })
})

test('ticks are forgotten after 30 days', async () => {
  await using t = await scheduling()
  const pod = await t.pod([defineSchedule({ ...hourly, payload: { n: 1 } })])
  t.clock.advance('1h')
  await pod.fire()
  const housekeeper = new Housekeeper(Millrace.servicesOf(pod.millrace))
  t.clock.advance('29d')
  expect(await housekeeper.tick()).toMatchObject({ ticksForgotten: 0 })
  t.clock.advance('2d')
  expect(await housekeeper.tick()).toMatchObject({ ticksForgotten: 1 })
})
