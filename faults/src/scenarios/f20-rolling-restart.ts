// F20: every worker is asked to leave and replaced, one after the other, under load: with quick tasks in its buffer, with
// long ones that heed their abort signal, and with long ones that do not. Nobody's attempt is lost, nobody waits long.
import { checkHistory, drain } from '../harness/checker.ts'
import type { Child } from '../harness/child.ts'
import { keepLoading } from '../harness/load.ts'
import { percentile } from '../harness/percentile.ts'
import { tasksOf } from '../harness/producer.ts'
import type { Deed } from '../harness/tasks.ts'
import { World } from '../harness/world.ts'
import { defineScenario, type Scale } from '../scenario.ts'

const rounds: Record<Scale, number> = { short: 1, standard: 4, full: 20 }
const WORKERS = 3
const GRACE_MS = 800
/** The test run shares two cores with other tests. */
const slackMs: Record<Scale, number> = { short: 700, standard: 0, full: 0 }
/** Longer than grace and last call together. */
const LONG_MS = 3_000
const long: readonly Deed[] = ['heed', 'heed', 'ignore', 'ignore-transaction']

export default defineScenario({
  name: 'f20-rolling-restart',
  title: 'SIGTERM and rolling restart under load',
  mutations: { 'no-refund': 'jobs that lost an attempt or count as crashed' },

  async body(options, findings) {
    const limitMs = GRACE_MS + 1_000 + slackMs[options.scale]
    await using world = await World.open(options)
    const start = (label: string) => world.startWorker({ label, slots: 6, graceMs: GRACE_MS })
    const producer = world.startProducer('producer')
    const workers = await Promise.all(Array.from({ length: WORKERS }, (_, i) => start(`worker-${i}`)))
    const load = keepLoading(producer, { tasks: 20, everyMs: 100 }, () => ({ does: 'plain', ms: 15 }))
    const exits: { tookMs: number; code: number | null }[] = []
    for (let round = 0; round < rounds[options.scale]; round++) {
      for (let i = 0; i < WORKERS; i++) {
        const prefix = `long-${round}-${i}`
        // More than the other workers have slots for, so that this one gets some.
        await producer.each(
          tasksOf(prefix, long.length * 5, (n) => ({ does: long[n % long.length] as Deed, ms: LONG_MS })),
        )
        const worker = workers[i] as Child
        await world.history.until(
          'the worker runs a long task',
          20_000,
          (fact) => fact.what === 'started' && fact.who === worker.label && fact.n.startsWith(prefix),
        )
        exits.push(await worker.terminate(limitMs))
        workers[i] = await start(worker.label)
      }
      options.note(`round ${round + 1} of ${rounds[options.scale]}`)
    }
    const made = await load.stop()
    findings.check('drains', await drain(world, 90_000, 15_000))
    findings.equal('workers that left in order', exits.filter(({ code }) => code === 0).length, exits.length)
    findings.atMost(
      'left after SIGTERM, at the latest',
      percentile(
        exits.map(({ tookMs }) => tookMs),
        1,
      ),
      limitMs,
      ' ms',
    )
    const returned = world.history.events('job_returned')
    findings.check('jobs were given back', returned.length > 0, returned.length)
    const marked = await world.count('select from millrace.job_archive where attempt <> 1 or crashes <> 0')
    findings.equal('jobs that lost an attempt or count as crashed', marked, 0)
    findings.equal('jobs rescued', world.history.events('job_rescued').length, 0)
    findings.figures({ restarts: exits.length, 'given back': returned.length, 'tasks of the load': made })
    findings.figure(
      'left after p50 ms',
      percentile(
        exits.map(({ tookMs }) => tookMs),
        0.5,
      ),
    )
    await checkHistory(world, findings)
  },
})
