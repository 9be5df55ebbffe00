// F12: the planner is made to choose the worst plans it knows, with many claimers at once. A claim may become slow; it
// must never take more jobs than it asked for.
import { jobClaim } from '../../../packages/engine/dist/store/job-claims.js'
import { claimOf, fillJobs, readyAgain } from '../harness/live-jobs.ts'
import { diceFrom } from '../harness/random.ts'
import { StoreSession } from '../harness/store-session.ts'
import { World } from '../harness/world.ts'
import { defineScenario, type Scale, type ScenarioOptions } from '../scenario.ts'

const sizes: Record<Scale, { jobs: number; rounds: number }> = {
  short: { jobs: 300, rounds: 2 },
  standard: { jobs: 600, rounds: 10 },
  full: { jobs: 2_000, rounds: 40 },
}
const CLAIMERS = 16

const off = (...names: string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [`enable_${name}`, 'off']))

const plans: Record<string, Record<string, string>> = {
  'no index at all': off('indexscan', 'indexonlyscan', 'bitmapscan'),
  'nested loops over everything': off(
    'hashjoin',
    'mergejoin',
    'material',
    'memoize',
    'hashagg',
    'sort',
    'indexscan',
    'bitmapscan',
  ),
  'no nested loop': off('nestloop', 'indexscan', 'indexonlyscan'),
  'generic plan': { plan_cache_mode: 'force_generic_plan' },
  'indexes are free, sorting is not': { random_page_cost: '0', cpu_index_tuple_cost: '0', ...off('sort', 'seqscan') },
}

export default defineScenario({
  name: 'f12-forced-bad-plan',
  title: 'claims under forced bad plans and false statistics',
  mutations: { 'claim-with-subselect': 'claims that took more than their limit' },

  async body(options, findings) {
    await using world = await World.open(options)
    // Nobody corrects the statistics of the empty table that it has been given.
    await world.query('alter table millrace.job set (autovacuum_enabled = false)')
    await world.query('analyze millrace.job')
    const total = { claims: 0, jobs: 0, over: 0, twice: 0, worst: 0 }
    for (const [name, settings] of Object.entries(plans)) {
      const result = await raceUnder(world, settings, options)
      options.note(`${name}: ${result.claims} claims took ${result.jobs} jobs, ${result.over} of them too many`)
      total.claims += result.claims
      total.jobs += result.jobs
      total.over += result.over
      total.twice += result.twice
      total.worst = Math.max(total.worst, result.worst)
    }
    findings.equal('claims that took more than their limit', total.over, 0)
    findings.equal('jobs claimed twice in one ready round', total.twice, 0)
    findings.check(
      'everything was claimed',
      total.jobs === sizes[options.scale].jobs * sizes[options.scale].rounds * Object.keys(plans).length,
    )
    findings.figures({ claims: total.claims, 'jobs claimed': total.jobs, 'most beyond a limit': total.worst })
  },
})

interface Race {
  claims: number
  jobs: number
  over: number
  twice: number
  worst: number
}

async function raceUnder(world: World, settings: Record<string, string>, options: ScenarioOptions): Promise<Race> {
  const [{ name } = { name: '' }] = await world.query<{ name: string }>(
    'select quote_ident(current_database()) as name',
  )
  await world.query(`alter database ${name} reset all`)
  for (const [setting, value] of Object.entries(settings))
    await world.query(`alter database ${name} set ${setting} = ${value}`)
  const { jobs, rounds } = sizes[options.scale]
  const dice = diceFrom(options.seed)
  await fillJobs(world, jobs)
  const race: Race = { claims: 0, jobs: 0, over: 0, twice: 0, worst: 0 }
  const sessions = await StoreSession.many(CLAIMERS, world.url, options.mutation)
  try {
    for (let round = 0; round < rounds; round++) {
      const taken = new Set<string>()
      const claimAll = async (session: StoreSession, i: number) => {
        for (;;) {
          const limit = dice.between(1, 7)
          const claimed = await jobClaim(session, null, claimOf(limit, { byType: i % 2 === 0, isSuspectWanted: false }))
          race.claims++
          race.jobs += claimed.length
          if (claimed.length > limit) race.over++
          race.worst = Math.max(race.worst, claimed.length - limit)
          for (const { id } of claimed) taken.has(id) ? race.twice++ : taken.add(id)
          if (claimed.length === 0) return
        }
      }
      await Promise.all(sessions.map(claimAll))
      await readyAgain(world)
    }
  } finally {
    await Promise.all(sessions.map((session) => session[Symbol.asyncDispose]()))
  }
  return race
}
