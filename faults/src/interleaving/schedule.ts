// Runs the steps of several actors in an order that dice decide. A step that waits for somebody's lock is left waiting,
// and the others go on.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Dice } from '../harness/random.ts'
import type { World } from '../harness/world.ts'
import type { Actor } from './actors.ts'

interface Playing {
  actor: Actor
  /** The step under way, while it waits. */
  waiting: Promise<void> | undefined
  isDone: boolean
}

const SCHEDULE_DEADLINE_MS = 20_000

/** Answers with the order of the steps, for whoever has to understand a failure. */
export async function play(world: World, actors: readonly Actor[], dice: Dice): Promise<string[]> {
  const all: Playing[] = actors.map((actor) => ({ actor, waiting: undefined, isDone: false }))
  const order: string[] = []
  const deadline = performance.now() + SCHEDULE_DEADLINE_MS
  for (;;) {
    const open = all.filter((each) => each.actor.steps.length > 0 || each.waiting !== undefined)
    if (open.length === 0) return order
    if (performance.now() > deadline) throw new Error(`A schedule does not end: ${order.join(', ')}`)
    const free = open.filter((each) => each.waiting === undefined)
    if (free.length === 0) {
      await Promise.race(open.map((each) => each.waiting))
      continue
    }
    const next = dice.pick(free)
    order.push(next.actor.name)
    await start(world, next)
  }
}

/** Returns when the step is done, or waits for a lock. */
async function start(world: World, playing: Playing): Promise<void> {
  const step = playing.actor.steps.shift() as () => Promise<void>
  let isDone = false
  playing.waiting = step().finally(() => {
    isDone = true
    playing.waiting = undefined
  })
  // An error is the schedule's: it is awaited below, or in the race of those that wait.
  playing.waiting.catch(() => {})
  const { waiting } = playing
  while (!isDone) {
    if (await isBlocked(world, playing.actor.session.pid)) return
    await Promise.race([waiting, sleep(2)])
  }
  await waiting
}

async function isBlocked(world: World, pid: number): Promise<boolean> {
  const [row] = await world.query<{ blocked: boolean }>('select cardinality(pg_blocking_pids($1)) > 0 as blocked', [
    pid,
  ])
  return row?.blocked === true
}
