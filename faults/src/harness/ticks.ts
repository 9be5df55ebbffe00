// Which ticks there were, noted by the database itself, and whether they are those that a timing names.
import type { Findings } from '../scenario.ts'
import { recorder } from './history.ts'
import { taskOf } from './schedules.ts'
import { eventually, until } from './until.ts'
import type { World } from './world.ts'

/** Fire times by schedule, as somebody else than the engine has found them. */
export type Fires = ReadonlyMap<string, readonly Date[]>

/** Everything that is written as a tick, with the clock of the database at that moment. */
export async function watchTicks(world: World): Promise<void> {
  await world.query(`
    create table fault.tick (schedule text not null, fire_at timestamptz not null, missed int not null, at timestamptz not null);
    create function fault.note_tick() returns trigger language plpgsql as $$
    begin
      insert into fault.tick values (new.schedule, new.fire_at, new.missed, clock_timestamp());
      return null;
    end $$;
    create trigger note_tick after insert on millrace.schedule_tick for each row execute function fault.note_tick()`)
}

/** Waits until every one of these was ticked; false: not in this time. */
export async function ticked(world: World, fires: readonly [string, Date][], withinMs: number): Promise<boolean> {
  const [names, times] = [fires.map(([name]) => name), fires.map(([, at]) => at)]
  const left = `select from unnest($1::text[], $2::timestamptz[]) as wanted (schedule, fire_at)
    where not exists (
      select from fault.tick where tick.schedule = wanted.schedule and tick.fire_at = wanted.fire_at and missed = 0)`
  const isDone = async () => (await world.count(left, [names, times])) === 0
  return (await eventually(withinMs, isDone)) === true
}

interface Tick {
  schedule: string
  fire_at: Date
  missed: number
  is_early: boolean
}

const ticksOf = (world: World, names: readonly string[]): Promise<Tick[]> =>
  world.query<Tick>(
    'select schedule, fire_at, missed, at < fire_at as is_early from fault.tick where schedule = any($1) order by fire_at',
    [names],
  )

/** What was ticked of a schedule, and how many fire times were said to be missed. */
export async function outcomeOf(world: World, schedule: string): Promise<{ fires: Date[]; missed: number }> {
  const ticks = await ticksOf(world, [schedule])
  const fires = ticks.filter(({ missed }) => missed === 0).map(({ fire_at }) => fire_at)
  return { fires, missed: ticks.reduce((sum, { missed }) => sum + missed, 0) }
}

/** Each fire time exactly once, none before its time, none given up. */
export async function checkTicks(world: World, findings: Findings, expected: Fires): Promise<void> {
  const ticks = await ticksOf(world, [...expected.keys()])
  const fired = ticks.filter(({ missed }) => missed === 0).map(({ schedule, fire_at }) => taskOf(schedule, fire_at))
  const wanted = tasksOf(expected)
  const [found, named] = [new Set(fired), new Set(wanted)]
  const none = (name: string, tasks: readonly string[]) =>
    findings.check(name, tasks.length === 0, [tasks.length, ...tasks.slice(0, 5)].join(' '))
  none(
    'fire times ticked twice',
    fired.filter((task, i) => fired.indexOf(task) !== i),
  )
  none(
    'fire times that nobody ticked',
    wanted.filter((task) => !found.has(task)),
  )
  none(
    'ticks that no timing names',
    [...found].filter((task) => !named.has(task)),
  )
  const early = ticks.filter((tick) => tick.is_early)
  none(
    'ticks before their time',
    early.map(({ schedule, fire_at }) => taskOf(schedule, fire_at)),
  )
  const missed = ticks.reduce((sum, tick) => sum + tick.missed, 0)
  findings.equal('fire times said to be missed', missed, 0)
  findings.figure('ticks', fired.length)
}

const tasksOf = (fires: Fires): string[] =>
  [...fires].flatMap(([schedule, times]) => times.map((at) => taskOf(schedule, at)))

/** Milliseconds from `since` until a schedule ticked that enqueued something. */
export function tickAfter(world: World, since: number): Promise<number> {
  const first = `select min(at) as at from millrace.schedule_tick where outcome = 'enqueued' and at > $1`
  return until('a schedule ticks', 30_000, async () => {
    const [tick] = await world.query<{ at: Date | null }>(first, [new Date(since)])
    return tick?.at ? tick.at.getTime() - since : undefined
  })
}

/** Promises the history a task for every tick that says it has enqueued one. */
export async function acknowledgeTicks(world: World): Promise<void> {
  const record = recorder(world.history.file, 'ticks')
  const ticks = await world.query<{ schedule: string; fire_at: Date }>(
    `select schedule, fire_at from millrace.schedule_tick where outcome = 'enqueued'`,
  )
  for (const { schedule, fire_at } of ticks) record({ what: 'acknowledged', n: taskOf(schedule, fire_at) })
}

/** Promises the history a task for each of these, and looks whether a tick has made several. */
export async function checkTickJobs(world: World, findings: Findings, expected: Fires): Promise<void> {
  const record = recorder(world.history.file, 'timings')
  for (const n of tasksOf(expected)) record({ what: 'acknowledged', n })
  const jobs = `select payload->>'n' as n from millrace.job union all select payload->>'n' from millrace.job_archive`
  const several = await world.query<{ n: string }>(`select n from (${jobs}) as job group by n having count(*) > 1`)
  findings.check('ticks with more than one job', several.length === 0, several.length)
}
