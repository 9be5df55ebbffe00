// Whether more worker processes on one queue get in each other's way: the drain rate of 1, 2 and 4, and how many of
// their claims come back with nothing although there is work.
import { performance } from 'node:perf_hooks'
import { createMillrace, type Millrace } from 'millrace'
import type { Bench } from '../bench.ts'
import { Child } from '../child.ts'
import { untilHandled } from '../child-work.ts'
import { type ClaimSummary, summarise } from '../claim-log.ts'
import { aimed, atLeast, atMost } from '../report.ts'
import { interleaveTrials, named, ratio, type Trial } from '../rounds.ts'
import { monotonicUs } from '../spaced-jobs.ts'
import type { Suite } from '../suite.ts'
import { fill, queues, trivial, untilEmpty } from '../trivial-jobs.ts'

const PROCESSES = [1, 2, 4]
const target = { queue: queues.bench.name }
const by = { by: 'bench' }
const nameOf = (processes: number): string => (processes === 1 ? '1 process' : `${processes} processes`)

export const scale: Suite = {
  name: 'scale',
  summary: 'the drain rate of 2 and 4 worker processes on one queue, against one',
  jobs: 200_000,
  rounds: 3,

  async run(bench) {
    const { options, progress, step } = bench
    await using millrace = createMillrace({ database: bench.databaseUrl, jobs: [trivial] })
    await using children = processesOf(Math.max(...PROCESSES))
    const claims: Record<string, ClaimSummary[]> = {}
    const trials = PROCESSES.map((processes) =>
      drainedBy(bench, millrace, children.all.slice(0, processes), (summary) => {
        claims[nameOf(processes)] = [...(claims[nameOf(processes)] ?? []), summary]
      }),
    )
    const measurements = await interleaveTrials(trials, { ...options, progress, step })
    const rateOf = (processes: number) => named(measurements, nameOf(processes), 'drain')
    return {
      measurements: measurements.map((each) => (each.unit === '%' ? aimed(each, atMost(1)) : each)),
      ratios: [
        ratio('2 processes / 1 process', rateOf(2), rateOf(1)),
        ratio('4 processes / 1 process', rateOf(4), rateOf(1), atLeast(1)),
      ],
      details: { claims },
    }
  },
}

function drainedBy(
  { pool, databaseUrl, options }: Bench,
  millrace: Millrace,
  children: readonly Child[],
  onClaims: (summary: ClaimSummary) => void,
): Trial {
  return {
    name: nameOf(children.length),
    units: { drain: 'jobs/s', 'empty claims': '%' },
    async measure() {
      await fill(pool, millrace, options.jobs)
      await millrace.pauses.pause(target, { ...by, reason: 'until all workers have started' })
      await Promise.all(children.map((child) => child.call('startWorker', { databaseUrl, untilTrusted: true })))
      const [startedAt, startedAtUs] = [performance.now(), monotonicUs()]
      await millrace.pauses.resume(target, by)
      await untilHandled(children, options.jobs)
      await untilEmpty(pool)
      const tookMs = performance.now() - startedAt
      const claims = await Promise.all(children.map((child) => child.call('stopWorker')))
      const summary = summarise(claims.flat().filter(({ sentAtUs }) => sentAtUs > startedAtUs))
      onClaims(summary)
      return {
        drain: (options.jobs * 1_000) / tookMs,
        'empty claims': (100 * summary.emptyClaims) / (summary.claims + summary.emptyClaims),
      }
    },
  }
}

/** They live through all rounds, as workers do: what they have compiled they keep. */
function processesOf(count: number): AsyncDisposable & { readonly all: readonly Child[] } {
  const all = Array.from({ length: count }, () => new Child())
  const dispose = async () => void (await Promise.all(all.map((child) => child[Symbol.asyncDispose]())))
  return { all, [Symbol.asyncDispose]: dispose }
}
