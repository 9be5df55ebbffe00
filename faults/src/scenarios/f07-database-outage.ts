// F7: Postgres is stopped at once and restarted under load, stays away for longer than a lease, and is out of reach.
// Workers must neither crash nor storm it, must go on soon after it is back, tick schedules included, and must not be
// declared dead for it.
import { setTimeout as sleep } from 'node:timers/promises'
import { checkHistory, drain } from '../harness/checker.ts'
import type { Child } from '../harness/child.ts'
import { keepLoading } from '../harness/load.ts'
import type { FaultProxy } from '../harness/proxy.ts'
import type { ScheduleSpec } from '../harness/schedules.ts'
import { type CrashableServer, openCrashableServer } from '../harness/server.ts'
import { acknowledgeTicks, tickAfter } from '../harness/ticks.ts'
import { World } from '../harness/world.ts'
import { defineScenario, type Findings, type Scale } from '../scenario.ts'

const sizes: Record<Scale, { restarts: number; outageLeases: number }> = {
  short: { restarts: 2, outageLeases: 1.5 },
  standard: { restarts: 3, outageLeases: 3 },
  full: { restarts: 5, outageLeases: 45 },
}
const MUTATED = { restarts: 0, outageLeases: 0.25 }
/** Longer than the pause between two attempts to connect: whoever is back first must not outlive the others' leases. */
const LEASE = { heartbeat: 400, ttl: 4_000, sweep: 400 }
const RESUME_WITHIN_MS = 5_000
const CONNECTS_PER_SECOND = 1
/** A pass of the schedules that failed is repeated after five seconds; then it is the next second. */
const TICKED_WITHIN_MS = 8_000
const SCHEDULES: readonly ScheduleSpec[] = [{ name: 'every-second', when: '* * * * * *' }]

export default defineScenario({
  name: 'f07-database-outage',
  title: 'immediate restarts, an outage longer than the lease, connections refused',
  mutations: { 'rescue-ignores-leases': 'leases of living workers that were ended' },

  async body(options, findings) {
    const { restarts, outageLeases } = options.mutation === undefined ? sizes[options.scale] : MUTATED
    await using server = await openCrashableServer()
    await using world = await World.open({ ...options, server })
    const proxies = [await world.proxy(), await world.proxy()]
    const workers = await Promise.all(
      proxies.map((proxy, i) => world.startWorker({ label: `worker-${i}`, lease: LEASE, proxy, schedules: SCHEDULES })),
    )
    const load = keepLoading(world.startProducer('producer'), { tasks: 4, everyMs: 100 }, (i) => ({
      does: i % 2 === 0 ? 'plain' : 'transaction',
      ms: 20,
    }))
    const stage: Stage = { world, server, proxies, workers, findings, note: options.note }
    await progress(world, Date.now())
    for (let i = 0; i < restarts; i++) await restart(stage, `restart ${i + 1}`, 0)
    await restart(stage, 'outage', outageLeases * LEASE.ttl)
    if (options.mutation === undefined) await refuse(stage, 3_000)
    await load.stop()
    findings.check('drains', await drain(world, 60_000, 15_000))
    findings.equal('worker processes that ended', workers.filter((worker) => !worker.isRunning).length, 0)
    findings.equal('leases of living workers that were ended', world.history.events('lease_lost').length, 0)
    findings.equal('jobs taken from living workers', world.history.events('job_rescued').length, 0)
    await acknowledgeTicks(world)
    await checkHistory(world, findings)
  },
})

interface Stage {
  world: World
  server: CrashableServer
  proxies: FaultProxy[]
  workers: Child[]
  findings: Findings
  note(text: string): void
}

async function restart({ world, server, proxies, findings, note }: Stage, name: string, awayMs: number): Promise<void> {
  await server.crash()
  const wentAt = Date.now()
  await sleep(awayMs)
  const awayUntil = Date.now()
  await server.restart()
  const backAt = Date.now()
  const resumeMs = await progress(world, backAt)
  findings.atMost(`${name}: resumed`, resumeMs, RESUME_WITHIN_MS, ' ms')
  if (awayMs === 0) return note(`${name}: resumed after ${resumeMs} ms`)
  const seconds = (awayUntil - wentAt) / 1_000
  const attempts = proxies.map((proxy) => proxy.connects.filter((at) => at >= wentAt && at <= awayUntil).length)
  // The first attempts of pool and pulse, made when the connections broke, begin the series.
  const perSecond = (Math.max(...attempts) - 2) / seconds
  findings.atMost(`${name}: connects per second and process`, perSecond, CONNECTS_PER_SECOND)
  note(`${name}: ${attempts.join(' and ')} attempts to connect in ${seconds} s, resumed after ${resumeMs} ms`)
  // Only now may anybody rescue: whoever would take the returned for dead does it in this time.
  const [tickMs] = await Promise.all([tickAfter(world, backAt), sleep(LEASE.ttl + 4 * LEASE.sweep)])
  findings.atMost(`${name}: a schedule ticks again`, tickMs, TICKED_WITHIN_MS, ' ms')
}

async function refuse({ world, proxies, findings, note }: Stage, ms: number): Promise<void> {
  await Promise.all(proxies.map((proxy) => proxy.refuse()))
  await sleep(ms)
  await Promise.all(proxies.map((proxy) => proxy.listen()))
  const resumeMs = await progress(world, Date.now())
  findings.atMost('refused: resumed', resumeMs, RESUME_WITHIN_MS, ' ms')
  note(`refused: resumed after ${resumeMs} ms`)
}

/** Milliseconds from `since` until a task ended that also began after it. */
async function progress(world: World, since: number): Promise<number> {
  const isNew = (run: string, id: string) =>
    world.history.runs('started').some((start) => start.run === run && start.id === id && start.at >= since)
  const fact = await world.history.until(
    'work goes on',
    30_000,
    (each) => each.what === 'ended' && each.at >= since && isNew(each.run, each.id),
  )
  return fact.at - since
}
