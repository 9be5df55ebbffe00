// F5b: the server commits a claim, and the connection breaks before the worker hears which jobs it has. It made up the
// run_id itself, so it gives them back by that, long before any lease or deadline would.
import { checkHistory, drain } from '../harness/checker.ts'
import { textsUnder } from '../harness/mutations.ts'
import { percentile } from '../harness/percentile.ts'
import { tasksOf } from '../harness/producer.ts'
import { World } from '../harness/world.ts'
import { defineScenario, type Scale } from '../scenario.ts'

const cuts: Record<Scale, number> = { short: 5, standard: 30, full: 200 }
const TASKS = 3
const LEASE = { heartbeat: 1_500, ttl: 12_000, sweep: 1_000 }
const SLACK_MS = 500

export default defineScenario({
  name: 'f05b-claim-reply-cut',
  title: 'reply to a claim cut',
  mutations: { 'no-release': 'back in work after the cut, at the latest' },

  async body(options, findings) {
    await using world = await World.open(options)
    const { history } = world
    const proxy = await world.proxy()
    const { jobClaim, jobClaimTypes } = textsUnder(options.mutation)
    const producer = world.startProducer('producer')
    await world.startWorker({ label: 'worker', lease: LEASE, proxy })
    const waits: number[] = []
    for (let round = 0; round < cuts[options.scale]; round++) {
      proxy.rule = {
        when: 'after',
        matches: ({ sql }) => sql === jobClaim || sql === jobClaimTypes,
        isWanted: ({ rows }) => rows > 0 && proxy.cuts.length === round,
      }
      const prefix = `claim-${round}-`
      const runs = (what: 'started' | 'ended') => history.runs(what).filter(({ n }) => n.startsWith(prefix))
      await producer.order({ how: 'many', tasks: tasksOf(`claim-${round}`, TASKS, () => ({ does: 'plain' })) })
      await history.until('all tasks of the round end', 30_000, () => runs('ended').length === TASKS)
      const cutAt = proxy.cuts[round]?.at ?? Number.NEGATIVE_INFINITY
      waits.push(...runs('started').map(({ at }) => at - cutAt))
      if (percentile(waits, 1) > LEASE.heartbeat + SLACK_MS) break
    }
    findings.check('drains', await drain(world, 10_000))
    findings.check('replies were cut', proxy.cuts.length > 0, proxy.cuts.length)
    findings.atMost(
      'back in work after the cut, at the latest',
      percentile(waits, 1),
      LEASE.heartbeat + SLACK_MS,
      ' ms',
    )
    const marked = await world.count('select from millrace.job_archive where attempt <> 1 or crashes <> 0')
    findings.equal('jobs that lost an attempt or count as crashed', marked, 0)
    findings.equal('jobs rescued', history.events('job_rescued').length, 0)
    findings.figures({ 'back p50 ms': percentile(waits, 0.5), 'back max ms': percentile(waits, 1) })
    const verdict = await checkHistory(world, findings)
    findings.equal('tasks run twice', verdict.duplicated.length, 0)
  },
})
