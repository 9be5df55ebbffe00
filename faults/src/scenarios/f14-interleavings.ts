// F14: rescue, completion, failure, cancellation, "run now", deadline and a new claim meet at one job, step by step in
// orders that dice decide. Whatever the order, the answers and the end must be those of some serial order.
import { randomUUID } from 'node:crypto'
import { QUEUE } from '../harness/live-jobs.ts'
import { type Dice, diceFrom } from '../harness/random.ts'
import { StoreSession } from '../harness/store-session.ts'
import { World } from '../harness/world.ts'
import { actorOf, type PartName, parts, type Subject } from '../interleaving/actors.ts'
import { type FoundState, hasSerialOrder, type JobState } from '../interleaving/model.ts'
import { play } from '../interleaving/schedule.ts'
import { defineScenario, type Scale } from '../scenario.ts'

const schedules: Record<Scale, number> = { short: 200, standard: 1_000, full: 10_000 }
const MOST_ACTORS = 6

export default defineScenario({
  name: 'f14-interleavings',
  title: 'rescue, complete, cancel, retry, claim and deadline interleaved on one job',
  mutations: {
    'unfenced-settle': 'histories without a serial order',
    'settle-ignores-run-id': 'histories without a serial order',
  },

  async body(options, findings) {
    await using world = await World.open(options)
    const dice = diceFrom(options.seed)
    const livingWorker = await newWorker(world, 'infinity')
    const sessions = await StoreSession.many(MOST_ACTORS, world.url, options.mutation)
    const ends = new Map<string, number>()
    const broken: string[] = []
    let misplaced = 0
    try {
      for (let i = 0; i < schedules[options.scale]; i++) {
        const subject = await newSubject(world, livingWorker)
        const actors = sessions
          .slice(0, dice.between(2, MOST_ACTORS))
          .map((session) => actorOf(partFor(dice), session, subject))
        const order = await play(world, actors, dice)
        const { state, places } = await stateOf(world, subject)
        ends.set(state.status, (ends.get(state.status) ?? 0) + 1)
        if (places !== 1) misplaced++
        const committed = actors.filter((actor) => !actor.isUndone).map((actor) => actor.observed)
        if (!hasSerialOrder(committed, state)) broken.push(`${order.join(' ')} → ${JSON.stringify(state)}`)
        await world.query(
          'with gone as (delete from millrace.job) delete from millrace.worker where expires_at < now()',
        )
      }
    } finally {
      await Promise.all(sessions.map((session) => session[Symbol.asyncDispose]()))
    }
    findings.check('histories without a serial order', broken.length === 0, broken.slice(0, 3).join(' | ') || 0)
    findings.equal('jobs in no place, or in two', misplaced, 0)
    for (const end of ['pending', 'completed', 'cancelled', 'dead'])
      findings.check(`some ended ${end}`, (ends.get(end) ?? 0) > 0, ends.get(end) ?? 0)
    findings.figures({ schedules: schedules[options.scale], ...Object.fromEntries(ends) })
  },
})

function partFor(dice: Dice): PartName {
  return dice.pick(Object.keys(parts) as PartName[])
}

async function newWorker(world: World, expiresAt: string): Promise<string> {
  const id = randomUUID()
  await world.query(
    `insert into millrace.worker (id, host, pid, version, lanes, started_at, heartbeat_at, expires_at)
     values ($1, 'race', 1, '0', '{}', now(), now(), $2)`,
    [id, expiresAt],
  )
  return id
}

async function newSubject(world: World, livingWorker: string): Promise<Subject> {
  const runs = { first: randomUUID(), second: randomUUID() }
  const silentWorker = await newWorker(world, '-infinity')
  const [row] = await world.query<{ id: string }>(
    `insert into millrace.job (type, queue, priority, status, attempt, max_attempts, run_id, worker_id, started_at, deadline_at,
       run_at, created_at, updated_at, correlation_id, payload)
     values ('race', $1, 5, 'processing', 1, 5, $2, $3, now(), now() - interval '1 second', now(), now(), now(), 'race', '{}')
     returning id`,
    [QUEUE, runs.first, silentWorker],
  )
  return { id: row?.id ?? '', runs, livingWorker }
}

interface StoredRow {
  status: JobState['status']
  run_id: string | null
  attempt: number
  crashes: number
  cancel: boolean | null
}

/** What became of the job, and in how many places it is. A dead one has to have its letter. */
async function stateOf(world: World, subject: Subject): Promise<{ state: FoundState; places: number }> {
  const rows = await world.query<StoredRow>(
    `select status, run_id, attempt, crashes, cancel_requested_at is not null as cancel from millrace.job where id = $1
     union all
     select status, run_id, attempt, crashes, null from millrace.job_archive where id = $1`,
    [subject.id],
  )
  const letters = await world.count('select from millrace.dead_letter_jobs where job_id = $1', [subject.id])
  const [row] = rows
  if (row === undefined) throw new Error(`Job ${subject.id} is nowhere.`)
  const run = row.run_id === null ? null : row.run_id === subject.runs.first ? 'first' : 'second'
  const { status, attempt, crashes } = row
  const places = letters === (status === 'dead' ? 1 : 0) ? rows.length : 2
  return { state: { status, run, attempt, crashes, isCancelRequested: row.cancel }, places }
}
