// F3b: a handler blocks its event loop for ever. At the deadline of its run the watchdog ends the process, and the job
// becomes a dead letter: it is stuck, and running it again would only block the next process.
import { checkHistory, drain } from '../harness/checker.ts'
import { tasksOf } from '../harness/producer.ts'
import { Supervisor } from '../harness/supervisor.ts'
import { BRIEF_TIMEOUT_MS } from '../harness/tasks.ts'
import { eventually } from '../harness/until.ts'
import { World } from '../harness/world.ts'
import { defineScenario, type Findings, type ScenarioOptions } from '../scenario.ts'
import { warmUp } from './warm-up.ts'

const STUCK_MS = 2 * BRIEF_TIMEOUT_MS
const STALL_MS = 8_000
/** A loop counts as blocked after a second, which is looked at every 100 ms. */
const KILL_WITHIN_MS = Math.max(STUCK_MS, 1_000) + 2_000

export default defineScenario({
  name: 'f03b-stuck-loop',
  title: 'event loop blocked beyond the deadline of its run',
  mutations: { 'no-burial': 'the stuck task is a dead letter' },

  async body(options, findings) {
    await besideAnother(options, findings)
    if (options.mutation === undefined) await alone(options, findings.of('alone'))
  },
})

async function besideAnother(options: ScenarioOptions, findings: Findings): Promise<void> {
  await using world = await World.open(options)
  const { history } = world
  const producer = world.startProducer('producer')
  const blocker = await world.startWorker({ label: 'blocker', slots: 1 })
  await warmUp(world, producer)
  await producer.order({
    how: 'commit',
    type: 'brief',
    tasks: [{ n: 'stuck', does: 'block', ms: 600_000 }, ...tasksOf('neighbour', 20, () => ({ does: 'plain' }))],
  })
  const start = await history.until(
    'the loop is blocked',
    10_000,
    (fact) => fact.what === 'started' && fact.n === 'stuck',
  )
  await world.startWorker({ label: 'other' })
  const exit = await eventually(20_000, () => blocker.exit)
  findings.equal('the watchdog ends the process with', exit?.signal ?? 'nothing', 'SIGKILL')
  const livedMs = (exit?.at ?? Number.POSITIVE_INFINITY) - start.at
  findings.check('not before the deadline', livedMs > STUCK_MS - 200, `${livedMs} ms`)
  findings.atMost('soon after the deadline', livedMs, KILL_WITHIN_MS, ' ms')
  findings.check('drains', await drain(world, 60_000, STALL_MS))
  await checkStuck(world, findings)
  const neighbours = history.runs('started').filter(({ n }) => n.startsWith('neighbour'))
  findings.equal('runs of neighbours', neighbours.length, 20)
  const crashed = await world.count(
    `select from millrace.job_archive where payload->>'n' like 'neighbour%' and crashes + attempt > 1`,
  )
  findings.equal('neighbours that lost an attempt or count as crashed', crashed, 0)
  findings.figures({
    'killed after ms': livedMs,
    'slowest neighbour ms': Math.max(...neighbours.map(({ at }) => at - start.at)),
  })
  await checkHistory(world, findings, (n) => n === 'stuck')
}

/** The only worker there is, started again by its process manager: it must not be blocked by the same job once more. */
async function alone(options: ScenarioOptions, findings: Findings): Promise<void> {
  await using world = await World.open(options)
  const producer = world.startProducer('producer')
  const supervisor = await Supervisor.start(world, { label: 'only' })
  await producer.each([{ n: 'stuck', does: 'block', ms: 600_000 }], { type: 'brief' })
  findings.check('drains', await drain(world, 60_000, STALL_MS))
  await eventually(KILL_WITHIN_MS, () => supervisor.crashes.length > 0)
  supervisor.stop()
  await checkStuck(world, findings)
  findings.equal('processes that it ended', supervisor.crashes.length, 1)
}

async function checkStuck(world: World, findings: Findings): Promise<void> {
  const letters = await world.query<{ reason: string }>('select reason from millrace.dead_letter_jobs')
  findings.equal('the stuck task is a dead letter', letters.map(({ reason }) => reason).join(), 'stuck')
  const runs = world.history.runs('started').filter(({ n }) => n === 'stuck')
  findings.equal('runs of the stuck task', runs.length, 1)
}
