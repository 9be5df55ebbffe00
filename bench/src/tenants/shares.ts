// Who gets how much of the slots while everybody has a backlog, and how much of them nobody gets.
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Millrace } from 'millrace'
import type { Bench } from '../bench.ts'
import type { Trial } from '../rounds.ts'
import { fillShared, HANDLER_MS, type RunTimes, SLOTS, timedHandler } from './tenant-jobs.ts'

const EQUAL_TENANTS = 20
const WEIGHTS = [1, 2, 5, 10]
/** More than the slots can do meanwhile, so that nobody runs out. */
const SPARE = 1.5
/** The worker has not yet learnt how long its jobs take. */
const SETTLING_MS = 500

/** Runs for that long with everybody's backlog; answers with what ran within. */
async function follow(
  { pool }: Bench,
  millrace: Millrace,
  { weights, ms }: { weights: ReadonlyMap<string, number>; ms: number },
): Promise<{ runs: RunTimes[]; fromMs: number; toMs: number }> {
  const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0)
  const most = ((ms + SETTLING_MS) / HANDLER_MS) * SLOTS * SPARE
  await fillShared(pool, new Map([...weights].map(([tenant, weight]) => [tenant, Math.ceil((most * weight) / total)])))
  for (const [tenant, weight] of weights) await millrace.tenants.set(tenant, { weight }, { by: 'bench' })
  const runs: RunTimes[] = []
  await using _worker = await millrace.work({ handlers: [timedHandler((run) => void runs.push(run))] })
  await sleep(SETTLING_MS)
  const fromMs = performance.now()
  await sleep(ms)
  return { runs, fromMs, toMs: performance.now() }
}

/** Jain's index of equal tenants: 1 if all get the same, 1/n if one gets everything; and the slots' idle time. */
export function equalShares(bench: Bench, millrace: Millrace, name: string): Trial<'jain' | 'idle'> {
  const weights = new Map(Array.from({ length: EQUAL_TENANTS }, (_, i) => [`equal ${i}`, 1]))
  return {
    name,
    units: { jain: '', idle: 'slot-seconds' },
    async measure() {
      const { runs, fromMs, toMs } = await follow(bench, millrace, { weights, ms: msOf(bench) })
      return { jain: jainOf([...started(runs, weights, fromMs, toMs).values()]), idle: idleOf(runs, fromMs, toMs) }
    },
  }
}

/** The largest deviation of a tenant's share from that of its weight, relative to the latter. */
export function weightedShares(bench: Bench, millrace: Millrace, name: string): Trial<'worst error'> {
  const weights = new Map(WEIGHTS.map((weight) => [`weight ${weight}`, weight]))
  const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0)
  return {
    name,
    units: { 'worst error': '' },
    async measure() {
      const { runs, fromMs, toMs } = await follow(bench, millrace, { weights, ms: msOf(bench) })
      const counts = started(runs, weights, fromMs, toMs)
      const all = [...counts.values()].reduce((sum, count) => sum + count, 0)
      const errors = [...weights].map(([tenant, weight]) =>
        Math.abs((counts.get(tenant) as number) / all / (weight / total) - 1),
      )
      return { 'worst error': Math.max(...errors) }
    },
  }
}

/** What the slots could have done in a run, in slot-seconds. */
export const slotSeconds = (bench: Bench): number => (SLOTS * msOf(bench)) / 1_000

const msOf = ({ options }: Bench): number => (options.seconds ?? 1) * 1_000

function started(
  runs: readonly RunTimes[],
  weights: ReadonlyMap<string, number>,
  fromMs: number,
  toMs: number,
): Map<string, number> {
  const counts = new Map([...weights.keys()].map((tenant) => [tenant, 0]))
  for (const { tenant, startedMs } of runs)
    if (startedMs >= fromMs && startedMs < toMs) counts.set(tenant, (counts.get(tenant) ?? 0) + 1)
  return counts
}

export function jainOf(values: readonly number[]): number {
  const sum = values.reduce((total, value) => total + value, 0)
  const squares = values.reduce((total, value) => total + value * value, 0)
  return (sum * sum) / (values.length * squares)
}

/** Exact: what all slots together could have worked, less what handlers did within that time. */
export function idleOf(runs: readonly Pick<RunTimes, 'startedMs' | 'endedMs'>[], fromMs: number, toMs: number): number {
  const within = ({ startedMs, endedMs }: Pick<RunTimes, 'startedMs' | 'endedMs'>) =>
    Math.max(0, Math.min(endedMs, toMs) - Math.max(startedMs, fromMs))
  const busyMs = runs.reduce((sum, run) => sum + within(run), 0)
  return (SLOTS * (toMs - fromMs) - busyMs) / 1_000
}
