// Whether tenants share a queue as they should, and what that costs: waits beside one with a huge backlog, shares by
// weight, slots that stay idle, and the drain rate of jobs that belong to tenants against those that do not.
import { createMillrace, type Millrace } from 'millrace'
import type { Bench } from '../bench.ts'
import { aimed, atLeast, atMost, type Measurement, type Ratio, type Target } from '../report.ts'
import { type Contestant, interleaveTrials, named, ratio, spread, type Trial } from '../rounds.ts'
import type { Suite } from '../suite.ts'
import { arrival } from '../tenants/arrivals.ts'
import { bossGroups, NO_PEERS } from '../tenants/pg-boss-groups.ts'
import { equalShares, slotSeconds, weightedShares } from '../tenants/shares.ts'
import { fillTenants, tenantJob } from '../tenants/tenant-jobs.ts'
import { drainRate, queues, trivial, untilEmpty } from '../trivial-jobs.ts'

const BACKLOG = 300_000
const ALONE = 'small tenants alone, wait p95'
const BESIDE = 'beside a large one, wait p95'
const TRICKLE_ALONE = 'one at a time, alone, wait p95'
const TRICKLE_BESIDE = 'one at a time, beside it, wait p95'
const EQUAL = 'equal tenants'
const WEIGHTED = 'weights 1, 2, 5, 10'
const PLAIN = 'drain without tenants'
const BOSS_ALONE = 'pg-boss groups, alone'
const BOSS_BESIDE = 'pg-boss groups, beside a large one'
const drainOf = (tenants: number) => `drain of ${tenants.toLocaleString('en')} tenants`
/** By how many tenants the jobs are of: what is left of the drain rate without them. */
const governedToPlain = new Map([
  [50, 0.5],
  [500, 0.5],
  [5_000, 0.35],
])
/** What drain asks of handlers that wait: 95 % of the ideal. Timers that fire late count as work, not as idle. */
const IDLE_SHARE = 0.05

export const fairness: Suite = {
  name: 'fairness',
  summary: 'tenants that share a queue: waits beside a large one, shares, idle slots, and what it costs',
  jobs: 50_000,
  rounds: 3,
  seconds: 5,
  scale: 1,

  async run(bench) {
    const startedAt = new Date().toISOString()
    await using millrace = createMillrace({ database: bench.databaseUrl, jobs: [tenantJob, trivial] })
    const { options, environment, progress, step } = bench
    const backlog = Math.max(1_000, Math.round(BACKLOG * (options.scale ?? 1)))
    const boss = await bossGroups(bench, [
      { name: BOSS_ALONE, backlog: 0 },
      { name: BOSS_BESIDE, backlog },
    ])
    const trials = [...trialsOf(bench, millrace, backlog), ...boss]
    const measurements = await interleaveTrials(trials, { rounds: options.rounds, progress, step })
    const findings = { ...judge(bench, measurements), ...(boss.length === 0 && { notes: [NO_PEERS] }) }
    const { ratios } = findings
    const of = (name: string) => named(ratios as Measurement[], name).median
    return {
      ...findings,
      document: {
        smallTenantWaitRatio: of('wait beside a large tenant / alone'),
        jain: of("Jain's index of equal tenants"),
        worstShareError: of('worst error of a share by weight'),
        idleSlotSeconds: named(findings.measurements, EQUAL, 'idle').median,
        governedToPlain: Object.fromEntries([...governedToPlain.keys()].map((n) => [n, of(`${drainOf(n)} / without`)])),
        pgBossGroups: boss.length === 0 ? null : bossFigures(measurements),
        suite: 'fairness',
        startedAt,
        options,
        environment,
        ...findings,
      },
    }
  },
}

/** The same arrival with half of the slots as each group's bound. Idle: while only the large one has work. */
function bossFigures(all: readonly Measurement[]): {
  smallTenantWaitRatio: number
  waitP95: number
  idleShare: number
} {
  const beside = named(all, BOSS_BESIDE, 'wait p95')
  return {
    smallTenantWaitRatio: ratio('', beside, named(all, BOSS_ALONE, 'wait p95')).median,
    waitP95: beside.median,
    idleShare: named(all, BOSS_BESIDE, 'idle').median,
  }
}

function trialsOf(bench: Bench, millrace: Millrace, backlog: number): Trial[] {
  return [
    trial(arrival(bench, millrace, { name: ALONE, backlog: 0, how: 'burst' })),
    trial(arrival(bench, millrace, { name: BESIDE, backlog, how: 'burst' })),
    trial(arrival(bench, millrace, { name: TRICKLE_ALONE, backlog: 0, how: 'trickle' })),
    trial(arrival(bench, millrace, { name: TRICKLE_BESIDE, backlog, how: 'trickle' })),
    equalShares(bench, millrace, EQUAL),
    weightedShares(bench, millrace, WEIGHTED),
    trial(draining(bench, millrace, PLAIN, 0)),
    ...[...governedToPlain.keys()].map((tenants) => trial(draining(bench, millrace, drainOf(tenants), tenants))),
  ]
}

const trial = ({ name, unit, measure }: Contestant): Trial => ({
  name,
  units: { '': unit },
  measure: async () => ({ '': await measure() }),
})

/** Handlers that do nothing. Every measurement has a worker of its own: it has not seen tenants in this queue before. */
function draining({ pool, options }: Bench, millrace: Millrace, name: string, tenants: number): Contestant {
  const { jobs } = options
  const { bench: queue } = queues
  return {
    name,
    unit: 'jobs/s',
    async measure() {
      const backlog = { type: trivial.type, queue: queue.name, priority: queue.priority }
      await fillTenants(pool, { ...backlog, jobs: spreadOver(jobs, tenants) })
      return drainRate(millrace, { jobs, untilSettled: () => untilEmpty(pool) })
    },
  }
}

function spreadOver(jobs: number, tenants: number): Map<string | null, number> {
  if (tenants === 0) return new Map([[null, jobs]])
  const each = (i: number) => Math.floor(jobs / tenants) + (i < jobs % tenants ? 1 : 0)
  return new Map(Array.from({ length: tenants }, (_, i) => [`tenant ${i}`, each(i)]))
}

function judge(bench: Bench, all: readonly Measurement[]): { measurements: Measurement[]; ratios: Ratio[] } {
  const of = (name: string, key?: string) => named(all, name, key)
  const itself = (name: string, { values }: Measurement, target: Target) => aimed({ name, ...spread(values) }, target)
  const jain = of(EQUAL, 'jain')
  const error = of(WEIGHTED, 'worst error')
  const idle = of(EQUAL, 'idle')
  const mayIdle = atMost(slotSeconds(bench) * IDLE_SHARE)
  return {
    measurements: all
      .filter((each) => each !== jain && each !== error)
      .map((each) => (each === idle ? aimed(idle, mayIdle) : each)),
    ratios: [
      ratio('wait beside a large tenant / alone', of(BESIDE), of(ALONE), atMost(2)),
      itself("Jain's index of equal tenants", jain, atLeast(0.95)),
      itself('worst error of a share by weight', error, atMost(0.1)),
      ...[...governedToPlain].map(([tenants, least]) =>
        ratio(`${drainOf(tenants)} / without`, of(drainOf(tenants)), of(PLAIN), atLeast(least)),
      ),
    ],
  }
}
