// F17: schedules where time itself is difficult. Clocks are changed in eight zones; every worker is gone while fire times
// pass; a schedule is edited at the very moment of its tick. What fires is what an oracle says, once each; what is caught up
// is bounded.
import { createMillrace, cron, type Millrace } from 'millrace'
import { checkHistory, drain } from '../harness/checker.ts'
import { DatabaseClock } from '../harness/database-clock.ts'
import type { ScheduleSpec } from '../harness/schedules.ts'
import { FIXED, FREQUENT, fixedFires, frequentFires, type Range, SHIFTS, type Shift, ZONES } from '../harness/shifts.ts'
import { task } from '../harness/tasks.ts'
import { checkTickJobs, checkTicks, outcomeOf, ticked, watchTicks } from '../harness/ticks.ts'
import { until } from '../harness/until.ts'
import { World } from '../harness/world.ts'
import { defineScenario, type Findings, type Scale } from '../scenario.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** Edits of each kind. */
const edits: Record<Scale, number> = { short: 4, standard: 20, full: 100 }
const TICK_WITHIN_MS = 5_000
const BY = { by: 'the scenario' }
const MISSED = ['skip', 'once', 'all'] as const
/** As documented: with 'all' so many are caught up. */
const MOST_CAUGHT_UP = 100
const FIVE_MINUTES_MS = 5 * MINUTE_MS
const OUTAGE_FIRES = 120

const HOURLY = '0 * * * *'
const HALF_HOURLY = '0,30 * * * *'

export default defineScenario({
  name: 'f17-difficult-times',
  title: 'clocks are changed in eight zones, an outage across ticks, a schedule edited at its tick',
  mutations: {
    'zones-ignored': 'zones: fire times that nobody ticked',
    'all-caught-up': "outage: fires with 'once'",
    'ticks-by-anybody': 'edits: fire times that nobody ticked',
  },

  async body(options, findings) {
    await using world = await World.open(options)
    const clock = await DatabaseClock.install(world, new Date('2036-01-01T00:00Z'))
    await watchTicks(world)
    await Promise.all(['first', 'second'].map((label) => world.startWorker({ label, schedules: SCHEDULES })))
    await using millrace = createMillrace({ database: world.url, jobs: [task] })
    const stage: Stage = { world, clock, millrace, findings, expected: new Map() }
    for (const group of together(SHIFTS)) if (!(await changeClocks(stage, group))) break
    options.note('clocks were changed')
    await outage(stage, Date.parse('2036-12-01T00:01Z'))
    options.note('the outage is over')
    await edit(stage, Date.parse('2036-12-02T00:01Z'), edits[options.scale])
    await drain(world, 60_000)
    const { expected } = stage
    const those = (part: string) => new Map([...expected].filter(([name]) => name.startsWith(part)))
    await checkTicks(world, findings.of('zones'), those('zone/'))
    await checkTicks(world, findings.of('edits'), those('edited'))
    await checkTickJobs(world, findings, expected)
    await checkHistory(world, findings)
  },
})

const SCHEDULES: ScheduleSpec[] = [
  ...ZONES.flatMap((timeZone) => [
    { name: `zone/${timeZone}/frequent`, when: FREQUENT, timeZone },
    { name: `zone/${timeZone}/fixed`, when: FIXED, timeZone },
  ]),
  ...MISSED.map((missed) => ({ name: `outage/${missed}`, when: '*/5 * * * *', missed })),
  { name: 'edited', when: HOURLY },
].map((spec) => ({ ...spec, paused: true }))

interface Stage {
  world: World
  clock: DatabaseClock
  millrace: Millrace
  findings: Findings
  /** What must be ticked, as it comes to be known. */
  expected: Map<string, Date[]>
}

interface Group extends Range {
  shifts: Shift[]
}

/** Some hours around every change; those that overlap are gone through together. */
function together(shifts: readonly Shift[]): Group[] {
  const groups: Group[] = []
  for (const shift of shifts.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))) {
    const range = { fromMs: Date.parse(shift.at) - 67 * MINUTE_MS, toMs: Date.parse(shift.at) + 128 * MINUTE_MS }
    const last = groups.at(-1)
    if (last === undefined || range.fromMs > last.toMs) groups.push({ ...range, shifts: [shift] })
    else Object.assign(last, { toMs: range.toMs, shifts: [...last.shifts, shift] })
  }
  return groups
}

/** False: something did not tick that must. */
async function changeClocks(stage: Stage, group: Group): Promise<boolean> {
  const { clock, millrace } = stage
  const fires = new Map(
    group.shifts.flatMap((shift) => [
      [`zone/${shift.timeZone}/frequent`, frequentFires(shift, group)],
      [`zone/${shift.timeZone}/fixed`, fixedFires(shift, group)],
    ]),
  )
  await clock.moveTo(new Date(group.fromMs))
  await Promise.all([...fires.keys()].map((name) => millrace.schedules.resume(name, BY)))
  const isDone = await walk(stage, fires)
  await clock.moveTo(new Date(group.toMs))
  await Promise.all([...fires.keys()].map((name) => millrace.schedules.pause(name, { ...BY, reason: 'another day' })))
  return isDone
}

/** Moves the clock from one fire time to the next, as soon as all schedules have ticked that must; false: they do not. */
async function walk({ world, clock, expected }: Stage, fires: ReadonlyMap<string, readonly Date[]>): Promise<boolean> {
  for (const [name, times] of fires) expected.set(name, [...(expected.get(name) ?? []), ...times])
  const moments = new Map<number, string[]>()
  for (const [name, times] of fires)
    for (const at of times) moments.set(at.getTime(), [...(moments.get(at.getTime()) ?? []), name])
  for (const [ms, names] of [...moments].toSorted(([a], [b]) => a - b)) {
    const at = new Date(ms)
    await clock.moveTo(at)
    const due = names.map((name): [string, Date] => [name, at])
    if (!(await ticked(world, due, TICK_WITHIN_MS))) return false
  }
  return true
}

/** All workers are killed, fire times pass, and one comes back two minutes after the last of them. */
async function outage(stage: Stage, fromMs: number): Promise<void> {
  const { world, clock, millrace, findings, expected } = stage
  const names = MISSED.map((missed) => `outage/${missed}`)
  await clock.moveTo(new Date(fromMs))
  await Promise.all(names.map((name) => millrace.schedules.resume(name, BY)))
  const firstMs = Math.ceil(fromMs / FIVE_MINUTES_MS) * FIVE_MINUTES_MS
  const times = Array.from({ length: OUTAGE_FIRES + 1 }, (_, i) => new Date(firstMs + i * FIVE_MINUTES_MS))
  await walk(stage, new Map(names.map((name) => [name, times.slice(0, 1)])))
  await Promise.all(['first', 'second'].map((label) => world.worker(label).kill()))
  const backAt = new Date((times.at(-1) as Date).getTime() + 2 * MINUTE_MS)
  await clock.moveTo(backAt)
  await world.startWorker({ label: 'first', schedules: SCHEDULES })
  await until('the outage is made up for', 20_000, async () => {
    const behind = 'select from millrace.schedule where name = any($1) and next_at <= $2'
    return (await world.count(behind, [names, backAt])) === 0
  })
  const caughtUp = { skip: 0, once: 1, all: MOST_CAUGHT_UP }
  for (const missed of MISSED) {
    const name = `outage/${missed}`
    const wanted = [...times.slice(0, 1), ...times.slice(times.length - caughtUp[missed])]
    expected.set(name, wanted)
    const { fires, missed: given } = await outcomeOf(world, name)
    findings.equal(`outage: fires with '${missed}'`, text(fires), text(wanted))
    findings.equal(`outage: missed with '${missed}'`, given, OUTAGE_FIRES - caughtUp[missed])
  }
  await Promise.all(names.map((name) => millrace.schedules.pause(name, { ...BY, reason: 'another day' })))
}

const text = (times: readonly Date[]): string =>
  `${times.length}: ${times.length === 0 ? '' : `${times[0]?.toISOString()} … ${times.at(-1)?.toISOString()}`}`

/**
 * At full hours the schedule is edited: to half-hourly, back, and so on. First one worker, which freezes when it has planned
 * that tick by the old timing, and goes on after the edit; then two, and whoever is first.
 */
async function edit(stage: Stage, fromMs: number, count: number): Promise<void> {
  const { world, clock, millrace } = stage
  const first = world.worker('first')
  await clock.moveTo(new Date(fromMs))
  await millrace.schedules.resume('edited', BY)
  const change = (i: number) =>
    millrace.schedules.edit('edited', { ...BY, when: cron(i % 2 === 0 ? HALF_HOURLY : HOURLY) })
  const startMs = Math.ceil(fromMs / HOUR_MS) * HOUR_MS
  for (let i = 0; i < 2 * count; i++) {
    const at = new Date(startMs + i * HOUR_MS)
    if (i === count) await world.startWorker({ label: 'second', schedules: SCHEDULES })
    if (i < count) {
      await world.openGate('first')
      await clock.moveTo(at)
      await until('a tick is planned', 10_000, () => !world.isGateOpen('first'))
      await change(i)
      first.signal('SIGCONT')
    } else {
      // The timing of the edit has no other fire time between here and there.
      await clock.moveTo(new Date(at.getTime() - MINUTE_MS))
      await Promise.all([clock.moveTo(at), change(i)])
    }
    const half = i % 2 === 0 ? [new Date(at.getTime() + 30 * MINUTE_MS)] : []
    if (!(await walk(stage, new Map([['edited', [at, ...half]]])))) return
  }
}
