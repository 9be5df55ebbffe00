// F1b: a worker dies with a full buffer while a backlog lasts. What it held must be run again soon, not when the backlog
// has ended: the oldest work must not become the last.
import { checkHistory, drain } from '../harness/checker.ts'
import { percentile } from '../harness/percentile.ts'
import { tasksOf } from '../harness/producer.ts'
import { World } from '../harness/world.ts'
import { defineScenario, type Scale } from '../scenario.ts'

const backlog: Record<Scale, number> = { short: 5_000, standard: 12_000, full: 40_000 }
const MUTATED = 1_500
const TASK_MS = 10

export default defineScenario({
  name: 'f01b-rescued-under-backlog',
  title: 'a worker dies with a full buffer while a backlog lasts',
  mutations: { 'no-rescue': 'every held job was rescued' },

  async body(options, findings) {
    await using world = await World.open(options)
    const producer = world.startProducer('producer')
    const victim = await world.startWorker({ label: 'victim' })
    await world.startWorker({ label: 'spared' })
    const size = options.mutation === undefined ? backlog[options.scale] : MUTATED
    const tasks = tasksOf('backlog', size, () => ({ does: 'plain', ms: TASK_MS }))
    await producer.order({ how: 'many', tasks })
    const enough = (who: string) => world.history.runs('ended').filter((fact) => fact.who === who).length > 200
    await world.history.until(
      'both workers know how long a task takes',
      30_000,
      () => enough('victim') && enough('spared'),
    )
    await victim.kill()
    const held = await world.count(`select from millrace.job where status = 'processing' and worker_id in
      (select id from millrace.worker where pid = ${victim.process.pid})`)
    findings.check('the victim held jobs', held > 0, held)
    await drain(world, 120_000, 6_000)
    const waits = waitsAfterRescue(world)
    findings.equal('every held job was rescued', waits.length, held)
    findings.atMost('rescued until started again, p99', percentile(waits, 0.99), 3_000, ' ms')
    findings.figures({ held, 'rescued until started p50 ms': percentile(waits, 0.5) })
    await checkHistory(world, findings)
  },
})

/** For each rescued job, how long it waited for its next start; a job that never started again waited for ever. */
function waitsAfterRescue(world: World): number[] {
  return world.history.events('job_rescued').map((rescue) => {
    const next = world.history.runs('started').find((run) => run.id === rescue.id && run.at >= rescue.at)
    return next === undefined ? Number.POSITIVE_INFINITY : next.at - rescue.at
  })
}
