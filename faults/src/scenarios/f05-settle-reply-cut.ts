// F5: the server commits a settlement, and the connection breaks before the worker hears of it: for settlements of
// their own and for those inside ctx.transaction. The worker must find out that it was done, and do nothing twice.
import { checkHistory, drain } from '../harness/checker.ts'
import { textsUnder } from '../harness/mutations.ts'
import { tasksOf } from '../harness/producer.ts'
import type { CutRule } from '../harness/proxy.ts'
import { World } from '../harness/world.ts'
import { defineScenario, type Scale } from '../scenario.ts'

const cuts: Record<Scale, number> = { short: 40, standard: 150, full: 500 }
const SLOTS = 10
const TASKS_PER_CUT = 4
/** Longer than an unlucky series of cuts: what is tested is the reply, not the lease. */
const LEASE = { heartbeat: 500, ttl: 6_000, sweep: 500 }

export default defineScenario({
  name: 'f05-settle-reply-cut',
  title: 'reply to a settlement cut, again and again',
  mutations: { 'blind-read-back': 'fences reported as lost' },

  async body(options, findings) {
    const wanted = cuts[options.scale]
    await using world = await World.open(options)
    const proxy = await world.proxy()
    const { jobFinish } = textsUnder(options.mutation)
    let seen = 0
    const rule: CutRule = {
      when: 'after',
      matches: ({ sql, transaction }) =>
        (sql === jobFinish && transaction.length === 0) || (sql === 'commit' && transaction.includes(jobFinish)),
      // Every second one: a connection must get some work done between two cuts.
      isWanted: () => proxy.cuts.length < wanted && seen++ % 2 === 0,
    }
    const producer = world.startProducer('producer')
    await world.startWorker({ label: 'worker', slots: SLOTS, lease: LEASE, proxy })
    proxy.rule = rule
    const tasks = tasksOf('cut', wanted * TASKS_PER_CUT, (i) => ({
      does: i % 2 === 0 ? 'plain' : 'transaction',
      ms: 5,
    }))
    await producer.order({ how: 'many', tasks })
    findings.check('drains', await drain(world, 30_000 + wanted * 400, 15_000))
    const inTransaction = proxy.cuts.filter(({ sql }) => sql === 'commit').length
    findings.equal('replies cut', proxy.cuts.length, wanted)
    findings.check(
      'of both kinds',
      inTransaction > 0 && inTransaction < wanted,
      `${inTransaction} of ${wanted} were a commit`,
    )
    proxy.rule = undefined
    findings.equal('most runs at once afterwards', await mostAtOnce(world, producer), SLOTS)
    const doubled = await world.count('select from fault.effect group by n having count(*) <> 1')
    findings.equal('tasks with more than one effect', doubled, 0)
    findings.equal('fences reported as lost', world.history.events('job_fence_lost').length, 0)
    findings.equal('jobs given back', world.history.events('job_returned').length, 0)
    const verdict = await checkHistory(world, findings)
    findings.equal('tasks run twice', verdict.duplicated.length, 0)
    findings.figures({ cuts: proxy.cuts.length, 'of a commit': inTransaction })
  },
})

/** A slot that was released twice lets too many run; one that was never released, too few. */
async function mostAtOnce(world: World, producer: ReturnType<World['startProducer']>): Promise<number> {
  await producer.order({ how: 'many', tasks: tasksOf('slots', 4 * SLOTS, () => ({ does: 'plain', ms: 200 })) })
  await drain(world, 20_000)
  const facts = world.history.read().filter((fact) => 'n' in fact && fact.n.startsWith('slots-'))
  let running = 0
  let most = 0
  for (const { what } of facts) {
    if (what === 'started') running++
    if (what === 'ended' || what === 'failed') running--
    most = Math.max(most, running)
  }
  return most
}
