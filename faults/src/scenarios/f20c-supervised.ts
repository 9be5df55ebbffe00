// F20c: the supervisor of `millrace work --processes` replaces its processes again and again, under load, and single ones
// are killed. Leases have their default length, 45 s: whoever recovers sooner owes it to the supervisor, which saw the
// process die and ended its lease.
import { setTimeout as sleep } from 'node:timers/promises'
import { checkHistory, drain } from '../harness/checker.ts'
import { type Fleet, labelOf } from '../harness/fleet.ts'
import type { Fact, RunFact } from '../harness/history.ts'
import { keepLoading } from '../harness/load.ts'
import { percentile } from '../harness/percentile.ts'
import { type Producer, tasksOf } from '../harness/producer.ts'
import type { Deed } from '../harness/tasks.ts'
import { until } from '../harness/until.ts'
import { World } from '../harness/world.ts'
import { defineScenario, type Findings, type Scale, type ScenarioOptions } from '../scenario.ts'

const sizes: Record<Scale, { rolls: number; kills: number }> = {
  short: { rolls: 1, kills: 3 },
  standard: { rolls: 4, kills: 8 },
  full: { rolls: 20, kills: 40 },
}
const GRACE_MS = 800
const FLEET = { label: 'fleet', processes: 3, slots: 6, graceMs: GRACE_MS }
/** The test run shares two cores with other tests. */
const slackMs: Record<Scale, number> = { short: 700, standard: 0, full: 0 }
/** Longer than grace and last call together. */
const LONG_MS = 3_000
const long: readonly Deed[] = ['heed', 'heed', 'ignore', 'ignore-transaction']
/** One sweep of whoever is there, 15 s and its jitter, and some seconds for two cores. */
const RESCUED_WITHIN_MS = 22_000

export default defineScenario({
  name: 'f20c-supervised',
  title: 'rolling restarts and kills under the supervisor',
  mutations: {
    'no-refund': 'rolling: jobs that lost an attempt or count as crashed',
    'leases-not-ended': 'killed: runs cut off and not rescued in time',
    'crashes-uncounted': 'killed: jobs cut off that do not count as crashed',
  },

  async body(options, findings) {
    const { mutation } = options
    if (mutation === undefined || mutation === 'no-refund') await rolling(options, findings.of('rolling'))
    if (mutation !== 'no-refund') await killed(options, findings.of('killed'))
  },
})

async function rolling(options: ScenarioOptions, findings: Findings): Promise<void> {
  const { rolls } = sizes[options.scale]
  const limitMs = GRACE_MS + 1_000 + slackMs[options.scale]
  await using world = await World.open(options)
  const producer = world.startProducer('producer')
  const fleet = await world.startFleet(FLEET)
  const load = keepLoading(producer, { tasks: 10, everyMs: 100 }, () => ({ does: 'plain', ms: 15 }))
  for (let roll = 0; roll < rolls; roll++) {
    await startLongTasks(world, producer, `long-${roll}`)
    await fleet.roll()
    options.note(`${roll + 1} of ${rolls} rolling restarts`)
  }
  await startLongTasks(world, producer, 'last')
  const exit = await fleet.child.terminate(limitMs)
  const made = await load.stop()
  await world.startFleet({ ...FLEET, label: 'next' })
  // A backlog may take its time on a busy machine; what is lost stops moving, and is noticed by that.
  findings.check('drains', await drain(world, 180_000, 15_000))
  const stopped = fleet.events('process_stopped')
  findings.equal('processes that left', stopped.length, FLEET.processes * (rolls + 1))
  findings.equal('processes that left in order', stopped.filter(({ code }) => code === 0).length, stopped.length)
  findings.equal('the supervisor left with code', exit.code ?? -1, 0)
  const leaves = [...fleet.leaveTimes(), exit.tookMs]
  findings.atMost('left after they were asked, at the latest', Math.max(...leaves), limitMs, ' ms')
  findings.equal('processes that died', fleet.events('process_died').length, 0)
  const returned = world.history.events('job_returned')
  findings.check('jobs were given back', returned.length > 0, returned.length)
  const marked = await world.count('select from millrace.job_archive where attempt <> 1 or crashes <> 0')
  findings.equal('jobs that lost an attempt or count as crashed', marked, 0)
  findings.equal('jobs rescued', world.history.events('job_rescued').length, 0)
  findings.figures({ restarts: stopped.length, 'given back': returned.length, 'tasks of the load': made })
  findings.figures({ 'left after p50 ms': percentile(leaves, 0.5), 'left after max ms': Math.max(...leaves) })
  await checkHistory(world, findings)
}

async function killed(options: ScenarioOptions, findings: Findings): Promise<void> {
  const { kills } = sizes[options.scale]
  await using world = await World.open(options)
  const producer = world.startProducer('producer')
  const fleet = await world.startFleet(FLEET)
  const load = keepLoading(producer, { tasks: 10, everyMs: 200 }, () => ({ does: 'plain', ms: 200 }))
  /** By its label in the history: when it was killed. */
  const killedAt = new Map<string, number>()
  for (let kill = 0; kill < kills; kill++) {
    // Not waited for: the kill comes at some moment of it.
    fleet.child.signal('SIGHUP')
    await sleep((kill % 4) * 250)
    const pid = await busyProcess(world, fleet, killedAt)
    killedAt.set(labelOf(pid), Date.now())
    process.kill(pid, 'SIGKILL')
    options.note(`${kill + 1} of ${kills} killed`)
  }
  await load.stop()
  findings.check('drains', await drain(world, 120_000, RESCUED_WITHIN_MS))
  // One that was leaving already has stopped, though not in order.
  const ends = [...fleet.events('process_died'), ...fleet.events('process_stopped')].filter(({ code }) => code !== 0)
  findings.equal('processes that were seen to die', ends.length, kills)
  const cutOff = openRuns(world, ({ who }) => killedAt.has(who))
  findings.check('the kills hit running jobs', cutOff.length > 0, cutOff.length)
  const rescues = world.history.events('job_rescued')
  const recoveries = cutOff.map(({ id, who }) => {
    const at = killedAt.get(who) as number
    return (rescues.find((rescue) => rescue.id === id && rescue.at >= at)?.at ?? Number.POSITIVE_INFINITY) - at
  })
  const late = recoveries.filter((ms) => ms > RESCUED_WITHIN_MS).length
  findings.equal('runs cut off and not rescued in time', late, 0)
  const marked = await world.query<{ id: string; attempt: number }>(
    'select id, attempt from millrace.job_archive where attempt <> 1 or crashes <> 0',
  )
  const isCounted = ({ id }: { id: string }) => marked.some((job) => job.id === id)
  findings.equal('jobs cut off that do not count as crashed', cutOff.filter((run) => !isCounted(run)).length, 0)
  findings.equal('jobs that lost an attempt', marked.filter(({ attempt }) => attempt !== 1).length, 0)
  findings.figures({ kills, 'runs cut off': cutOff.length, 'rescued after p50 ms': percentile(recoveries, 0.5) })
  findings.figure('rescued after max ms', Math.max(...recoveries))
  // Three crashes make a dead letter, whoever is to blame.
  await checkHistory(world, findings, (n) => cutOff.filter((run) => run.n === n).length >= 2)
}

/** More of them than there are slots, so that every process gets some. */
async function startLongTasks(world: World, producer: Producer, prefix: string): Promise<void> {
  const count = FLEET.processes * FLEET.slots + long.length
  const tasks = tasksOf(prefix, count, (n) => ({ does: long[n % long.length] as Deed, ms: LONG_MS }))
  // Ahead of the load, however far a busy machine is behind with it.
  await producer.each(tasks, { priority: 0 })
  await world.history.until(
    'a long task runs',
    20_000,
    (fact) => fact.what === 'started' && fact.n.startsWith(`${prefix}-`),
  )
}

/** The pid of a process that runs a task right now. */
function busyProcess(world: World, fleet: Fleet, killed: ReadonlyMap<string, number>): Promise<number> {
  return until('a process runs a task', 20_000, () => {
    const busy = new Set(openRuns(world, ({ who }) => !killed.has(who)).map(({ who }) => who))
    return fleet.pids().find((pid) => busy.has(labelOf(pid)))
  })
}

/** Started, and neither ended nor failed. */
function openRuns({ history }: World, isMeant: (run: Fact) => boolean): (Fact & RunFact)[] {
  const over = new Set([...history.runs('ended'), ...history.runs('failed')].map(({ run, id }) => `${id}/${run}`))
  return history.runs('started').filter((fact) => isMeant(fact) && !over.has(`${fact.id}/${fact.run}`))
}
