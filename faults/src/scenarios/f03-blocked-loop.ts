// F3: a handler blocks its event loop for three times the lease. The pulse thread keeps the lease, so nobody takes the
// job; what the process had claimed and not started is given back.
import { checkHistory, drain } from '../harness/checker.ts'
import { tasksOf } from '../harness/producer.ts'
import { LEASE, World } from '../harness/world.ts'
import { defineScenario, type Scale } from '../scenario.ts'
import { warmUp } from './warm-up.ts'

const neighbours: Record<Scale, number> = { short: 20, standard: 20, full: 40 }
/** A loop counts as blocked after a second; then one statement gives the neighbours back. */
const RETURN_WITHIN_MS = 2_500

export default defineScenario({
  name: 'f03-blocked-loop',
  title: 'event loop blocked for three times the lease',
  mutations: { 'rescue-ignores-leases': 'runs of the blocking task' },

  async body(options, findings) {
    await using world = await World.open(options)
    const { history } = world
    const producer = world.startProducer('producer')
    const blocker = await world.startWorker({ label: 'blocker', slots: 1 })
    await warmUp(world, producer)
    const count = neighbours[options.scale]
    // One transaction writes both, so that one claim takes both.
    await producer.order({
      how: 'commit',
      tasks: [
        { n: 'blocking', does: 'block', ms: 3 * LEASE.ttl },
        ...tasksOf('neighbour', count, () => ({ does: 'plain' })),
      ],
    })
    const start = await history.until(
      'the loop is blocked',
      10_000,
      (fact) => fact.what === 'started' && fact.n === 'blocking',
    )
    const hostages = await world.count(
      `select from millrace.job where status = 'processing' and payload->>'n' <> 'blocking'`,
    )
    findings.check('neighbours were claimed with it and not started', hostages > 0, hostages)
    await world.startWorker({ label: 'other' })
    const isDrained = await drain(world, 30_000, 20_000)
    findings.check('drains', isDrained)
    const runs = history.runs('started').filter((fact) => fact.n === 'blocking')
    findings.equal('runs of the blocking task', runs.length, 1)
    findings.check('it blocked for three leases', blockedMs(history.runs('ended'), start.at) >= 3 * LEASE.ttl - 50)
    findings.equal('leases lost', history.events('lease_lost').length, 0)
    findings.equal('jobs rescued', history.events('job_rescued').length, 0)
    const waits = history
      .runs('started')
      .filter((fact) => fact.n.startsWith('neighbour'))
      .map(({ at }) => at - start.at)
    findings.atMost('neighbours run elsewhere', Math.max(...waits), RETURN_WITHIN_MS, ' ms')
    findings.equal('attempts used by neighbours', await attemptsUsed(world), count)
    findings.check('the blocker lives', blocker.isRunning)
    findings.figures({ hostages, 'slowest neighbour ms': Math.max(...waits) })
    await checkHistory(world, findings)
  },
})

function blockedMs(ended: readonly { n: string; at: number }[], since: number): number {
  return (ended.find((fact) => fact.n === 'blocking')?.at ?? since) - since
}

async function attemptsUsed(world: World): Promise<number> {
  const [row] = await world.query<{ sum: number }>(
    `select sum(attempt)::int as sum from millrace.job_archive where payload->>'n' like 'neighbour%'`,
  )
  return row?.sum ?? 0
}
