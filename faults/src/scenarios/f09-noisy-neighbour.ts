// F9: fifty tenants with ten jobs each come to a queue in which one tenant has a huge backlog. They must wait hardly
// longer than without it, and the large one must use whatever they leave.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Fact, RunFact } from '../harness/history.ts'
import { percentile } from '../harness/percentile.ts'
import { type Producer, tasksOf } from '../harness/producer.ts'
import { eventually } from '../harness/until.ts'
import { World } from '../harness/world.ts'
import { defineScenario, type Scale } from '../scenario.ts'
import { warmUp } from './warm-up.ts'

const backlogs: Record<Scale, number> = { short: 20_000, standard: 300_000, full: 300_000 }
const WORKERS = 2
const SLOTS = 10
const TENANTS = 50
const JOBS_EACH = 10
const SMALL_MS = 50
/** Long against a claim on a busy machine, so that a slot which nobody may have shows. */
const LARGE_MS = 200
const LARGE_ALONE_MS = 3_000
/** A p95 below this is as good as any other on a busy machine. */
const FLOOR_MS = 1_500
const PATIENCE_MS = 20_000
/** On a machine with far more processes than cores a claim takes as long as a job; without such company it is a tenth. */
const IDLE_SHARE = 1 / 2
/** The first in every walk. */
const LARGE = 'a large one'

export default defineScenario({
  name: 'f09-noisy-neighbour',
  title: 'fifty small tenants beside one with a huge backlog',
  mutations: {
    'first-tenant-only': 'p95 wait of the small tenants beside the large one',
    'one-job-per-tenant': 'share of the slots that is idle although the large one has work for all',
  },

  async body(options, findings) {
    await using world = await World.open(options)
    const producer = world.startProducer('producer')
    const labels = Array.from({ length: WORKERS }, (_, i) => `worker-${i}`)
    await Promise.all(labels.map((label) => world.startWorker({ label, slots: SLOTS })))
    await warmUp(world, producer)
    const alone = await arrive(world, producer, { round: 'alone', patienceMs: PATIENCE_MS })
    options.note(`alone: p95 ${alone.p95Ms} ms`)
    await enqueueLarge(world, producer, backlogs[options.scale])
    const aloneFromMs = Date.now()
    await sleep(LARGE_ALONE_MS)
    const idle = idleShare(world.history.read(), aloneFromMs, Date.now())
    const patienceMs = Math.max(PATIENCE_MS, 2 * alone.p95Ms + 1_000)
    const beside = await arrive(world, producer, { round: 'beside', patienceMs })
    options.note(`beside: p95 ${beside.p95Ms} ms`)

    const limitMs = Math.max(2 * alone.p95Ms, FLOOR_MS)
    findings.atMost('p95 wait of the small tenants beside the large one', beside.p95Ms, limitMs, ' ms')
    findings.atMost('share of the slots that is idle although the large one has work for all', idle, IDLE_SHARE)
    findings.equal('small jobs that ran', beside.started, TENANTS * JOBS_EACH)
    const left = await world.count(`select from millrace.job where tenant = $1 and status = 'pending'`, [LARGE])
    findings.check('the large tenant has had a backlog all the time', left > 0, `${left} left`)
    findings.figures({ 'alone p95 ms': alone.p95Ms, 'beside p95 ms': beside.p95Ms, 'idle share': idle })
  },
})

interface Arrival {
  started: number
  p95Ms: number
}

/** All small tenants at once. Whoever has not started when patience ends has waited that long. */
async function arrive(
  world: World,
  producer: Producer,
  { round, patienceMs }: { round: string; patienceMs: number },
): Promise<Arrival> {
  const fromMs = Date.now()
  const tenants = Array.from({ length: TENANTS }, (_, i) => `small ${i}`)
  const enqueued = tenants.map((tenant) => {
    const tasks = tasksOf(`${round}/${tenant}`, JOBS_EACH, () => ({ does: 'heed', ms: SMALL_MS }))
    return producer.order({ how: 'many', tasks, tenant })
  })
  const mine = () => world.history.runs('started').filter(({ n }) => n.startsWith(`${round}/`))
  await Promise.all(enqueued)
  await eventually(patienceMs, () => mine().length >= TENANTS * JOBS_EACH)
  const toMs = Date.now()
  const waits = mine().map(({ at }) => at - fromMs)
  const missing = Array.from({ length: TENANTS * JOBS_EACH - waits.length }, () => toMs - fromMs)
  return { started: waits.length, p95Ms: percentile([...waits, ...missing], 0.95) }
}

/** Straight into the table but for the last one, which wakes the workers; resolves when every slot could be busy. */
async function enqueueLarge(world: World, producer: Producer, jobs: number): Promise<void> {
  await world.query(
    `insert into millrace.job (type, queue, tenant, priority, max_attempts, run_at, created_at, updated_at, payload)
     select 'task', 'work', $1, 5, 5, now(), now(), now(),
       jsonb_build_object('n', 'large-' || i, 'does', 'heed', 'ms', $2::int)
     from generate_series(1, $3) as i`,
    [LARGE, LARGE_MS, jobs],
  )
  await producer.each(
    tasksOf('large-last', 1, () => ({ does: 'heed', ms: LARGE_MS })),
    { tenant: LARGE },
  )
  await world.history.until('the large tenant has the slots', 30_000, () => {
    return world.history.runs('ended').filter(({ n }) => n.startsWith('large-')).length >= WORKERS * SLOTS
  })
}

/** By when handlers began and ended, in all processes. */
function idleShare(facts: readonly Fact[], fromMs: number, toMs: number): number {
  const endedAt = new Map<string, number>()
  const keyOf = ({ run, n }: RunFact) => `${run} ${n}`
  for (const fact of facts) if (fact.what === 'ended' || fact.what === 'failed') endedAt.set(keyOf(fact), fact.at)
  let busyMs = 0
  for (const fact of facts) {
    if (fact.what !== 'started') continue
    const end = Math.min(endedAt.get(keyOf(fact)) ?? toMs, toMs)
    busyMs += Math.max(0, end - Math.max(fact.at, fromMs))
  }
  return 1 - busyMs / (WORKERS * SLOTS * (toMs - fromMs))
}
