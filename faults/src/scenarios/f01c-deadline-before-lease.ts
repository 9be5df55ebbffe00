// F1c: a worker is killed while it runs jobs whose deadline comes before the end of its lease. Their process died; they
// are not stuck. They must run again, as the jobs with long deadlines do.
import { setTimeout as sleep } from 'node:timers/promises'
import { checkHistory, drain } from '../harness/checker.ts'
import { tasksOf } from '../harness/producer.ts'
import { BRIEF_TIMEOUT_MS } from '../harness/tasks.ts'
import { World } from '../harness/world.ts'
import { defineScenario } from '../scenario.ts'

const TASKS = 8
const LEASE = { heartbeat: 300, ttl: 4 * BRIEF_TIMEOUT_MS, sweep: 200 }

export default defineScenario({
  name: 'f01c-deadline-before-lease',
  title: 'a worker is killed while it runs jobs with a deadline shorter than its lease',
  mutations: { 'no-rescue': 'lost = 0' },

  async body(options, findings) {
    await using world = await World.open(options)
    const { history } = world
    const producer = world.startProducer('producer')
    await world.startWorker({ label: 'heir', slots: 1, lease: LEASE })
    // From now on the heir may rescue.
    await sleep(LEASE.ttl + 2 * LEASE.sweep)
    const victim = await world.startWorker({ label: 'victim', lease: LEASE })
    await producer.each(
      tasksOf('brief', TASKS, () => ({ does: 'plain', ms: BRIEF_TIMEOUT_MS / 2 })),
      { type: 'brief' },
    )
    const ofVictim = (what: 'started' | 'ended') => history.runs(what).filter(({ who }) => who === victim.label).length
    await history.until('the victim runs some', 10_000, () => ofVictim('started') >= TASKS / 2)
    await victim.kill()
    const cutOff = ofVictim('started') - ofVictim('ended')
    findings.check('the kill hit running jobs', cutOff > 0, cutOff)
    findings.check('drains', await drain(world, 60_000, 8_000))
    const letters = await world.query<{ reason: string }>('select reason from millrace.dead_letter_jobs')
    findings.equal('dead letters', letters.map(({ reason }) => reason).join() || 'none', 'none')
    findings.equal('runs', history.runs('started').length, TASKS + cutOff)
    await checkHistory(world, findings)
  },
})
