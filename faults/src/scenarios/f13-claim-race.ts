// F13: many connections claim from one small set of ready jobs, again and again. In each round in which a job is ready,
// exactly one claim may get it.
import { jobClaim } from '../../../packages/engine/dist/store/job-claims.js'
import { claimOf, fillJobs, readyAgain } from '../harness/live-jobs.ts'
import { diceFrom } from '../harness/random.ts'
import { StoreSession } from '../harness/store-session.ts'
import { World } from '../harness/world.ts'
import { defineScenario, type Scale } from '../scenario.ts'

/** A round is one job, ready once. */
const rounds: Record<Scale, number> = { short: 4_000, standard: 20_000, full: 100_000 }
const CLAIMERS = 16
const JOBS = 80
const SUSPECTS = 8

export default defineScenario({
  name: 'f13-claim-race',
  title: 'claim race: many claimers, few jobs',
  mutations: { 'claim-without-guard': 'jobs claimed twice in one ready round' },

  async body(options, findings) {
    await using world = await World.open(options)
    const dice = diceFrom(options.seed)
    await fillJobs(world, JOBS)
    await world.query(
      'update millrace.job set crashes = 1 where id in (select id from millrace.job order by id limit $1)',
      [SUSPECTS],
    )
    const sessions = await StoreSession.many(CLAIMERS, world.url, options.mutation)
    let twice = 0
    let missed = 0
    let claims = 0
    let done = 0
    try {
      for (; done < rounds[options.scale]; done += JOBS) {
        const holders = new Map<string, string>()
        const claimAll = async (session: StoreSession) => {
          for (;;) {
            const request = claimOf(dice.between(1, 4), { byType: dice.next() < 0.5, isSuspectWanted: true })
            const claimed = await jobClaim(session, null, request)
            claims++
            for (const { id } of claimed) {
              if (holders.has(id)) twice++
              holders.set(id, request.runId)
            }
            if (claimed.length === 0) return
          }
        }
        await Promise.all(sessions.map(claimAll))
        missed += JOBS - holders.size
        await readyAgain(world)
        if (done % 10_000 < JOBS && done > 0) options.note(`${done} rounds`)
      }
    } finally {
      await Promise.all(sessions.map((session) => session[Symbol.asyncDispose]()))
    }
    findings.equal('jobs claimed twice in one ready round', twice, 0)
    findings.equal('jobs that nobody got', missed, 0)
    findings.figures({ rounds: done, claims, claimers: CLAIMERS })
  },
})
