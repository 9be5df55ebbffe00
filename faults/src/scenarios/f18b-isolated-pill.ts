// F18b: the same poison, isolated. A job ends every process that runs it, by abort, by running out of memory, by a
// segmentation fault; but that process is not the worker. The job uses up its attempts like any other failing job.
import { checkHistory, drain } from '../harness/checker.ts'
import { tasksOf } from '../harness/producer.ts'
import { Supervisor } from '../harness/supervisor.ts'
import { ISOLATED_ATTEMPTS, type Task } from '../harness/tasks.ts'
import { World } from '../harness/world.ts'
import { defineScenario } from '../scenario.ts'

const pills: Task[] = (['abort', 'exhaust', 'segfault'] as const).map((does) => ({ n: `pill-${does}`, does }))
const NEIGHBOURS = 40

export default defineScenario({
  name: 'f18b-isolated-pill',
  title: 'a job that ends every process that runs it, isolated',
  mutations: { 'failures-are-crashes': 'crashes that were counted' },

  async body(options, findings) {
    await using world = await World.open(options)
    const producer = world.startProducer('producer')
    const supervisor = await Supervisor.start(world, { label: 'worker', isApart: true })
    const neighbours = tasksOf('neighbour', NEIGHBOURS, () => ({ does: 'plain', ms: 200 }))
    const isolated = tasksOf('isolated-neighbour', NEIGHBOURS, () => ({ does: 'plain', ms: 20 }))
    await producer.order({ how: 'commit', tasks: neighbours })
    await producer.order({ how: 'commit', type: 'isolated', tasks: [...pills, ...isolated] })
    findings.check('drains', await drain(world, 60_000))
    supervisor.stop()
    findings.equal('workers that it ended', supervisor.crashes.length, 0)
    const letters = await world.query<{ pill: string; reason: string; error: string }>(
      `select original_job->'payload'->>'n' as pill, reason, error_details->>'class' as error from millrace.dead_letter_jobs order by 1`,
    )
    const found = letters.map(({ pill, reason, error }) => `${pill} ${reason} ${error}`)
    findings.equal(
      'the pills are dead letters',
      found.join(),
      pills.map(({ n }) => `${n} exhausted IsolatedCrash`).join(),
    )
    const runs = world.history.runs('started').filter(({ n }) => n.startsWith('pill'))
    findings.equal('runs of the pills', runs.length, pills.length * ISOLATED_ATTEMPTS)
    const marked = await world.count('select from millrace.job_archive where crashes > 0')
    findings.equal('crashes that were counted', marked, 0)
    const kept = await world.count(
      `select from millrace.job_archive where payload->>'n' like '%neighbour%' and status = 'completed' and attempt = 1`,
    )
    findings.equal('neighbours that completed with their first attempt', kept, 2 * NEIGHBOURS)
    await checkHistory(world, findings, (n) => n.startsWith('pill'))
  },
})
