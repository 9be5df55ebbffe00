// F20b: what a worker gives back must find an idle worker at once. A worker claims quick tasks behind a slow one and
// gives them back, because they wait too long for its slot or because it was asked to leave; another one has nothing to do.
import { checkHistory, drain } from '../harness/checker.ts'
import { tasksOf } from '../harness/producer.ts'
import { World } from '../harness/world.ts'
import { defineScenario, type Findings, type ScenarioOptions } from '../scenario.ts'
import { warmUp } from './warm-up.ts'

const QUICK = 15
const TAKEN_WITHIN_MS = 2_000
const SLOW_MS = 2_500
/** Long enough to be frozen for a moment without losing it. */
const LEASE = { heartbeat: 500, ttl: 6_000, sweep: 500 }

export default defineScenario({
  name: 'f20b-handed-over',
  title: 'jobs given back are taken by an idle worker at once',
  mutations: { 'no-refund': 'leaving worker: jobs that lost an attempt' },

  async body(options, findings) {
    await handOver(options, findings.of('busy worker'), { isLeaving: false })
    await handOver(options, findings.of('leaving worker'), { isLeaving: true })
  },
})

async function handOver(options: ScenarioOptions, findings: Findings, how: { isLeaving: boolean }): Promise<void> {
  await using world = await World.open(options)
  const { history } = world
  const producer = world.startProducer('producer')
  const giver = await world.startWorker({ label: 'giver', slots: 1, graceMs: 500, lease: LEASE })
  await warmUp(world, producer)
  const taker = await world.startWorker({ label: 'taker', lease: LEASE })
  // Frozen for a moment, so that the giver gets everything and the taker then finds nothing to do.
  taker.signal('SIGSTOP')
  await producer.order({
    how: 'commit',
    tasks: [{ n: 'slow', does: 'plain', ms: SLOW_MS }, ...tasksOf('quick', QUICK, () => ({ does: 'plain' }))],
  })
  await history.until('the slow task runs', 10_000, (fact) => fact.what === 'started' && fact.n === 'slow')
  const held = await world.count(`select from millrace.job where status = 'processing' and payload->>'n' <> 'slow'`)
  taker.signal('SIGCONT')
  if (how.isLeaving) giver.signal('SIGTERM')
  findings.check('drains', await drain(world, 60_000, 40_000))
  const starts = history.runs('started')
  const waits = history.events('job_returned').map(({ id, at }) => {
    const next = starts.find((run) => run.id === id && run.at >= at)
    return next === undefined ? Number.POSITIVE_INFINITY : next.at - at
  })
  findings.check('jobs were held and given back', held > 0 && waits.length > 0, `${held}, ${waits.length}`)
  findings.atMost('given back until started again', Math.max(...waits), TAKEN_WITHIN_MS, ' ms')
  const marked = await world.count('select from millrace.job_archive where attempt <> 1')
  findings.equal('jobs that lost an attempt', marked, 0)
  findings.figures({ held, 'given back': waits.length, 'longest wait ms': Math.max(...waits) })
  await checkHistory(world, findings)
}
