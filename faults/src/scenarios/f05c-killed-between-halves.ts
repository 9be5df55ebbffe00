// F5c: a worker is killed between the halves of its batches: after a claim that it never heard of, before a settlement
// reaches the server, and after the server has committed one, while the next are on their way. What was settled stays
// settled, all the rest runs again, and nothing is completed twice.
import { checkHistory, drain } from '../harness/checker.ts'
import { textsUnder } from '../harness/mutations.ts'
import { tasksOf } from '../harness/producer.ts'
import type { CutRule } from '../harness/proxy.ts'
import { World } from '../harness/world.ts'
import { defineScenario, type Scale } from '../scenario.ts'

const rounds: Record<Scale, number> = { short: 1, standard: 5, full: 30 }
const TASKS = 400
const SLOTS = 100

export default defineScenario({
  name: 'f05c-killed-between-halves',
  title: 'a worker is killed between claim and settlement, and between two settlements',
  mutations: { 'no-rescue': 'lost = 0' },

  async body(options, findings) {
    await using world = await World.open(options)
    const { jobClaim, jobClaimTypes, jobFinish } = textsUnder(options.mutation)
    const isClaim = ({ sql }: { sql: string }) => sql === jobClaim || sql === jobClaimTypes
    const isSettlement = ({ sql }: { sql: string }) => sql === jobFinish
    const moments: [string, CutRule][] = [
      ['after a claim', { when: 'after', matches: isClaim, isWanted: ({ rows }) => rows > 0 }],
      ['before a settlement', { when: 'before', matches: isSettlement }],
      ['after a settlement', { when: 'after', matches: isSettlement, isWanted: ({ rows }) => rows > 0 }],
    ]
    const producer = world.startProducer('producer')
    for (let round = 0; round < rounds[options.scale]; round++) {
      for (const [when, rule] of moments) {
        const cutOff = await killed(world, `${when}-${round}`, rule, () =>
          producer.order({ how: 'many', tasks: tasksOf(`${when}-${round}`, TASKS, () => ({ does: 'plain' })) }),
        )
        findings.check(`killed ${when}, with jobs claimed`, cutOff > 0, cutOff)
      }
    }
    const settled = new Set(
      (await world.query<{ id: string }>('select id from millrace.job_archive')).map(({ id }) => id),
    )
    findings.check('some were settled before the kills', settled.size > 0, settled.size)
    const runsBefore = world.history.runs('started').length
    await world.startWorker({ label: 'heir', slots: SLOTS })
    findings.check('drains', await drain(world, 60_000, 8_000))
    const again = world.history
      .runs('started')
      .slice(runsBefore)
      .filter(({ id }) => settled.has(id))
    findings.equal('settled jobs that ran again', again.length, 0)
    const twice = await world.count('select from millrace.job_archive group by id having count(*) > 1')
    findings.equal('jobs archived more than once', twice, 0)
    findings.figures({ 'settled before the kills': settled.size })
    await checkHistory(world, findings)
  },
})

/** Starts a worker and kills it at the moment that the rule names. How many jobs it had claimed and not settled. */
async function killed(world: World, label: string, rule: CutRule, order: () => Promise<unknown>): Promise<number> {
  const proxy = await world.proxy()
  const victim = await world.startWorker({ label, slots: SLOTS, proxy })
  // Not the first one: between two batches is where it matters.
  let seen = 0
  const strike = (): boolean => {
    if (++seen < 2 || !victim.isRunning) return false
    victim.signal('SIGKILL')
    return true
  }
  proxy.rule =
    rule.when === 'before'
      ? { when: 'before', matches: (request) => rule.matches(request) && strike() }
      : { when: 'after', matches: rule.matches, isWanted: (reply) => rule.isWanted?.(reply) !== false && strike() }
  await order()
  await victim.exited
  return world.count(`select from millrace.job where status = 'processing' and worker_id in
    (select id from millrace.worker where pid = ${victim.process.pid})`)
}
