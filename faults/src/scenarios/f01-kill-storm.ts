// F1: worker processes are killed at random while jobs keep coming. One worker is spared, so that somebody always holds
// a lease long enough to rescue.
import { setTimeout as sleep } from 'node:timers/promises'
import { checkHistory, drain } from '../harness/checker.ts'
import type { Child } from '../harness/child.ts'
import type { Fact, RunFact } from '../harness/history.ts'
import { percentile } from '../harness/percentile.ts'
import { tasksOf } from '../harness/producer.ts'
import { diceFrom } from '../harness/random.ts'
import { LEASE, recoveryMs, World } from '../harness/world.ts'
import { defineScenario, type Scale } from '../scenario.ts'

const sizes: Record<Scale, { jobs: number; kills: number }> = {
  short: { jobs: 900, kills: 4 },
  standard: { jobs: 5_000, kills: 20 },
  full: { jobs: 20_000, kills: 80 },
}
const MUTATED = { jobs: 300, kills: 2 }
const VICTIMS = 3
const SLOTS = 10
/** Several times what a rescue takes. */
const STALL_MS = 6_000
const BATCH = 50
/** Between two kills, on average. The tasks are long enough to keep every slot busy throughout. */
const PAUSE_MS = 700

export default defineScenario({
  name: 'f01-kill-storm',
  title: 'SIGKILL storm: workers killed at random under load',
  mutations: { 'no-rescue': 'lost = 0' },

  async body(options, findings) {
    const { jobs, kills } = options.mutation === undefined ? sizes[options.scale] : MUTATED
    const dice = diceFrom(options.seed)
    await using world = await World.open(options)
    const producer = world.startProducer('producer')
    await world.startWorker({ label: 'spared' })
    const victims = await Promise.all(
      Array.from({ length: VICTIMS }, (_, i) => world.startWorker({ label: `victim-${i}` })),
    )
    const killed: { label: string; at: number }[] = []
    const longestMs = (2 * kills * PAUSE_MS * (VICTIMS + 1) * SLOTS) / jobs
    const tasks = tasksOf('storm', jobs, (i) => ({
      does: i % 2 === 0 ? 'plain' : 'transaction',
      ms: dice.between(0, longestMs),
    }))
    const enqueued = (async () => {
      for (let from = 0; from < tasks.length; from += BATCH) await producer.each(tasks.slice(from, from + BATCH))
    })()
    for (let kill = 0; kill < kills; kill++) {
      await sleep(dice.between(PAUSE_MS / 2, PAUSE_MS * 1.5))
      const i = dice.between(0, VICTIMS - 1)
      const victim = victims[i] as Child
      killed.push({ label: victim.label, at: Date.now() })
      await victim.kill()
      victims[i] = world.spawnWorker({ label: victim.label })
      if (kill % 10 === 9) options.note(`${kill + 1} of ${kills} killed`)
    }
    await enqueued
    const began = Date.now()
    const isDrained = await drain(world, 120_000, STALL_MS)
    findings.check('drains to the end', isDrained)
    findings.figure('seconds to drain after the last kill', (Date.now() - began) / 1_000)
    // Three crashes make a dead letter, whoever is to blame. The first may have hit it before it started.
    const cutOff = runsCutOff(world)
    await checkHistory(world, findings, (n) => cutOff.filter((run) => run.n === n).length >= 2)
    const recoveries = recoveryTimes(world, killed)
    findings.check('the storm hit running jobs', recoveries.length > 0, `${recoveries.length} runs cut off and rescued`)
    // A second more than the formula: the machine runs six processes on two cores.
    findings.atMost('recovery p99', percentile(recoveries, 0.99), recoveryMs(LEASE) + 1_000, ' ms')
    findings.equal('deadlocks', await deadlocks(world), 0)
    findings.figures({
      kills,
      'rescued runs': recoveries.length,
      'recovery p50 ms': percentile(recoveries, 0.5),
      'recovery p99 ms': percentile(recoveries, 0.99),
    })
  },
})

/** Started, and neither ended nor failed. */
function runsCutOff({ history }: World): (Fact & RunFact)[] {
  const over = new Set([...history.runs('ended'), ...history.runs('failed')].map(({ run, id }) => `${id}/${run}`))
  return history.runs('started').filter(({ run, id }) => !over.has(`${id}/${run}`))
}

/** From each kill to the rescue of the runs that it cut off. */
function recoveryTimes(world: World, killed: readonly { label: string; at: number }[]): number[] {
  return runsCutOff(world).flatMap(({ who, id, at }) => {
    const kill = killed.find((each) => each.label === who && each.at >= at)
    const rescue = world.history.events('job_rescued').find((fact) => fact.id === id && fact.at >= at)
    return kill === undefined || rescue === undefined ? [] : [rescue.at - kill.at]
  })
}

async function deadlocks(world: World): Promise<number> {
  const [row] = await world.query<{ deadlocks: number }>(
    'select deadlocks::int from pg_stat_database where datname = current_database()',
  )
  return row?.deadlocks ?? -1
}
