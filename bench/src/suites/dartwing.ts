// How long small organizations wait beside a large one in Dartwing: alone, beside its backlog, and in a control where the same jobs
// all belong to one organization, so that nothing keeps them apart.
import { waitsIn } from '../dartwing/neighbours.ts'
import { interleaveTrials, named, ratio } from '../rounds.ts'
import type { Suite } from '../suite.ts'

const UNITS = { 'fax p50': 'ms', 'fax p95': 'ms', 'change p50': 'ms', 'change p95': 'ms' }
const SECONDS = 10

export const dartwing: Suite = {
  name: 'dartwing',
  summary: 'waits of small organizations in Dartwing: alone, beside a large one, and without isolation',
  // The large one's changes; it has a tenth as many faxes.
  jobs: 20_000,
  rounds: 3,
  seconds: SECONDS,

  async run(bench) {
    const { options, progress, step } = bench
    const scenes = ['alone', 'beside', 'control'] as const
    const trials = scenes.map((name) => ({
      name,
      units: UNITS,
      measure: () => waitsIn(bench, { scene: name, seconds: options.seconds ?? SECONDS, backlog: options.jobs }),
    }))
    const measurements = await interleaveTrials(trials, { ...options, progress, step, warmUp: false })
    const of = (scene: string, key: string) => named(measurements, scene, key)
    return {
      measurements,
      ratios: ['fax p95', 'change p95'].flatMap((key) => [
        ratio(`${key}: beside / alone`, of('beside', key), of('alone', key)),
        ratio(`${key}: control / beside`, of('control', key), of('beside', key)),
      ]),
    }
  },
}
