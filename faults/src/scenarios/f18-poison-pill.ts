// F18: a job ends every process that runs it: by abort, by running out of memory, by a kill. After three crashes it is a
// dead letter; the jobs that happened to run beside it complete and lose no attempt.
import { checkHistory, drain } from '../harness/checker.ts'
import { tasksOf } from '../harness/producer.ts'
import { Supervisor } from '../harness/supervisor.ts'
import type { Deed } from '../harness/tasks.ts'
import { eventually } from '../harness/until.ts'
import { World } from '../harness/world.ts'
import { defineScenario, type Findings, type ScenarioOptions } from '../scenario.ts'

const pills = ['abort', 'exhaust', 'kill'] as const satisfies readonly Deed[]
const WORKERS = 2
const NEIGHBOURS = 60
const MOST_CRASHES = 3
/** Beyond this the pill has won, and nobody waits any longer. */
const GIVE_UP_AFTER = 5

export default defineScenario({
  name: 'f18-poison-pill',
  title: 'a job that ends every process that runs it',
  mutations: { 'crashes-uncounted': 'kill: the pill is a dead letter' },

  async body(options, findings) {
    // Under a mutation one kind is enough to see it.
    const kinds = options.mutation === undefined ? pills : (['kill'] as const)
    await Promise.all(kinds.map((kind) => swallow(kind, options, findings.of(kind))))
  },
})

async function swallow(kind: (typeof pills)[number], options: ScenarioOptions, findings: Findings): Promise<void> {
  await using world = await World.open(options)
  const producer = world.startProducer('producer')
  const labels = Array.from({ length: WORKERS }, (_, i) => `worker-${i}`)
  const start = (label: string) => Supervisor.start(world, { label, execArgv: ['--max-old-space-size=64'] })
  const supervisors = await Promise.all(labels.map(start))
  await producer.order({
    how: 'commit',
    tasks: [{ n: 'pill', does: kind }, ...tasksOf('neighbour', NEIGHBOURS, () => ({ does: 'plain', ms: 300 }))],
  })
  const crashes = () => supervisors.flatMap((each) => each.crashes)
  await eventually(60_000, async () => {
    if (crashes().length > GIVE_UP_AFTER) return true
    return (await world.count(`select from millrace.job_archive where status = 'dead'`)) > 0
  })
  const hasWon = crashes().length > GIVE_UP_AFTER
  if (hasWon) for (const each of supervisors) each.stop()
  const isDrained = await drain(world, hasWon ? 0 : 60_000)
  for (const each of supervisors) each.stop()
  const letters = await world.query<{ reason: string; n: string }>(
    `select reason, original_job->'payload'->>'n' as n from millrace.dead_letter_jobs`,
  )
  findings.equal(
    'the pill is a dead letter',
    letters.map(({ n, reason }) => `${n} ${reason}`).join(),
    'pill crash_loop',
  )
  findings.atMost('processes that it ended', crashes().length, MOST_CRASHES)
  findings.equal('runs of the pill', world.history.runs('started').filter(({ n }) => n === 'pill').length, MOST_CRASHES)
  const kept = await world.count(
    `select from millrace.job_archive where payload->>'n' like 'neighbour%' and status = 'completed' and attempt = 1`,
  )
  findings.equal('neighbours that completed with their first attempt', kept, NEIGHBOURS)
  findings.check('drains', isDrained)
  if (options.mutation !== undefined) return
  const verdict = await checkHistory(world, findings, (n) => n === 'pill')
  findings.figures({ crashes: crashes().length, 'neighbours run twice': verdict.duplicated.length - 1 })
}
