// F16: 24 hours of ticks. Three processes on one host, with clocks ten minutes ahead, ten minutes behind and right, come to
// every tick at once. One freezes after it has planned a tick and before it writes it, and goes on with it hours later;
// one is frozen in the middle of its transaction. Each fire time is ticked once, by the clock of the database.
import { setTimeout as sleep } from 'node:timers/promises'
import { checkHistory, drain } from '../harness/checker.ts'
import type { Child } from '../harness/child.ts'
import { DatabaseClock } from '../harness/database-clock.ts'
import type { ScheduleSpec } from '../harness/schedules.ts'
import { checkTickJobs, checkTicks, type Fires, ticked, watchTicks } from '../harness/ticks.ts'
import { eventually } from '../harness/until.ts'
import { World } from '../harness/world.ts'
import { defineScenario, type Scale } from '../scenario.ts'

const MINUTE_MS = 60_000
const DAY_MINUTES = 1_440
/** The next midnight: the engine forgets ticks of long ago. */
const START = Math.ceil(Date.now() / (DAY_MINUTES * MINUTE_MS)) * DAY_MINUTES * MINUTE_MS
/** Minutes between two ticks of the frequent schedules. */
const everyMinutes: Record<Scale, number> = { short: 15, standard: 5, full: 1 }
const SKEWS = { ahead: 10 * MINUTE_MS, behind: -10 * MINUTE_MS, right: 0 }
/** A tick of nobody frozen; two seconds more if somebody has to lose its transaction first. */
const TICK_WITHIN_MS = 3_000
const FROZEN_TICK_WITHIN_MS = 5_000
/** Longer than that, so that a tick which waits for the thaw is seen. */
const FROZEN_MS = 8_000
/** By the hours of that day. */
const PLANNED_FROM = 4
const PLANNED_TO = 9
const WRITING_FROM = 14
const WRITING_TO = 18

export default defineScenario({
  name: 'f16-frozen-tickers',
  title: '24 hours of ticks, clocks ten minutes wrong, processes frozen in the middle of a tick',
  mutations: {
    'ticks-unguarded': 'fire times ticked twice',
    'ticks-by-anybody': 'fire times said to be missed',
    'ticks-by-own-clock': 'ticks before their time',
    'tick-locks-kept': 'a tick whose process is frozen is made by another',
  },

  async body(options, findings) {
    await using world = await World.open(options)
    const minutes = everyMinutes[options.scale]
    const day: Day = { world, clock: await DatabaseClock.install(world, new Date(START)), slowestMs: 0, frozenMs: 0 }
    await watchTicks(world)
    const schedules = schedulesOf(minutes)
    await Promise.all(Object.entries(SKEWS).map(([label, skewMs]) => world.startWorker({ label, skewMs, schedules })))
    const expected = firesOf(minutes)
    for (let minute = 0; minute <= DAY_MINUTES; minute += minutes) {
      const fires = [...expected].flatMap(([name, times]) =>
        times.filter((at) => at.getTime() === START + minute * MINUTE_MS).map((at): [string, Date] => [name, at]),
      )
      await pass(day, minute, fires)
      if (minute % 360 === 0) options.note(`${minute / 60} hours`)
    }
    await drain(world, 60_000)
    findings.check('somebody was frozen while it wrote a tick', day.writer !== undefined)
    findings.atMost('a tick is made', day.slowestMs, TICK_WITHIN_MS, ' ms')
    findings.atMost('a tick whose process is frozen is made by another', day.frozenMs, FROZEN_TICK_WITHIN_MS, ' ms')
    await checkTicks(world, findings, expected)
    findings.equal('hosts', await world.count('select distinct host from millrace.worker'), 1)
    await checkTickJobs(world, findings, expected)
    await checkHistory(world, findings)
  },
})

const schedulesOf = (minutes: number): ScheduleSpec[] => [
  { name: 'cron', when: `*/${minutes} * * * *` },
  { name: 'interval', when: minutes * MINUTE_MS },
  { name: 'zone', when: '0 * * * *', timeZone: 'Asia/Kolkata' },
]

/** India is five and a half hours ahead: its hours begin at our half hours. */
function firesOf(minutes: number): Fires {
  const times = (first: number, step: number) =>
    Array.from(
      { length: Math.floor((DAY_MINUTES - first) / step) + 1 },
      (_, i) => new Date(START + (first + i * step) * MINUTE_MS),
    )
  return new Map([
    ['cron', times(0, minutes)],
    ['interval', times(minutes, minutes)],
    ['zone', times(30, 60)],
  ])
}

interface Day {
  readonly world: World
  readonly clock: DatabaseClock
  slowestMs: number
  /** How long the tick took during which somebody was frozen. */
  frozenMs: number
  writer?: Child | undefined
}

/** Moves the clock on to this minute of the day, and does to the processes what is due. */
async function pass(day: Day, minute: number, fires: readonly [string, Date][]): Promise<void> {
  const { world, clock } = day
  const at = new Date(START + minute * MINUTE_MS)
  const hour = minute / 60
  if (hour === PLANNED_FROM) await world.openGate('ahead')
  if (hour === PLANNED_TO) await thawPlanner(day)
  if (hour === WRITING_TO) day.writer?.signal('SIGCONT')
  if (Number.isInteger(hour) && hour > 0) {
    await clock.moveTo(new Date(at.getTime() - MINUTE_MS / 2))
    // Whoever believes that the next tick is due makes it in this time.
    await sleep(30)
  }
  if (hour === WRITING_FROM) return freezeWriter(day, at, fires)
  const beganAt = performance.now()
  await clock.moveTo(at)
  if (!(await ticked(world, fires, 20_000))) throw new Error(`Nobody ticks any more: ${at.toISOString()}`)
  day.slowestMs = Math.max(day.slowestMs, performance.now() - beganAt)
}

/** It has planned a tick of long ago, and now tries to write it. */
async function thawPlanner({ world }: Day): Promise<void> {
  if (world.isGateOpen('ahead')) throw new Error('The process that is ahead has planned no tick for hours.')
  world.worker('ahead').signal('SIGCONT')
  await sleep(200)
}

/** Whoever ticks is kept waiting for the jobs' table, frozen there, and the table given free: it holds the schedule. */
async function freezeWriter(day: Day, at: Date, fires: readonly [string, Date][]): Promise<void> {
  const { world, clock } = day
  const door = await world.db.connect()
  try {
    await door.query('begin')
    await door.query('lock table millrace.job in share mode')
    await clock.moveTo(at)
    day.writer = await eventually(5_000, async () => {
      const [row] = await world.query<{ label: string }>(
        `select application_name as label from pg_stat_activity
         where wait_event_type = 'Lock' and datname = current_database() and application_name = any($1)
           and query like '%insert into millrace.job (%'`,
        [Object.keys(SKEWS)],
      )
      return row && world.worker(row.label)
    })
    day.writer?.signal('SIGSTOP')
  } finally {
    await door.query('commit')
    door.release()
  }
  const beganAt = performance.now()
  const isDone = await ticked(world, fires, FROZEN_MS)
  day.frozenMs = performance.now() - beganAt
  if (isDone) return
  day.writer?.signal('SIGCONT')
  await ticked(world, fires, 20_000)
}
