// Millrace with its defaults beside graphile-worker, pg-boss and BullMQ, each at its best documented settings and at its
// defaults: everybody in processes of its own, on one server and the same Node, in one run.
import type { Bench } from '../bench.ts'
import { figure } from '../figures.ts'
import { OURS } from '../peers/contestants.ts'
import {
  type Description,
  documentOf,
  labelOf,
  type Measure,
  type Measured,
  measures,
  type PeersReport,
  ratiosOf,
  unitOf,
} from '../peers/document.ts'
import { type Entrant, type Kind, kinds } from '../peers/entrant.ts'
import { Field } from '../peers/field.ts'
import type { Measurement } from '../report.ts'
import { spread } from '../rounds.ts'
import type { Suite } from '../suite.ts'

const WARM_UP = 0.1

export const peers: Suite = {
  name: 'peers',
  summary: 'drain, enqueue and latency, against graphile-worker, pg-boss and BullMQ',
  jobs: 40_000,

  async run(bench) {
    const { options, progress } = bench
    await using field = await Field.open(bench)
    const { entrants, redisVersion } = field
    const skipped = field.skipped.map(({ name, reason }) => `SKIPPED: ${name}, because ${reason}`)
    for (const line of skipped) progress(line)
    const startedAt = new Date().toISOString()
    const contestants: Record<string, Description> = {}
    for (const entrant of entrants) contestants[entrant.contestant.name] = await entrant.install()
    const measured = await measureAll(bench, entrants)
    for (const line of skipped) progress(line)
    const { node: installedNode, postgres } = bench.environment
    const node = contestants[OURS]?.node ?? 'unknown'
    const environment = { ...bench.environment, node }
    const document: PeersReport = {
      ...documentOf(measured, { node, installedNode, postgres }),
      startedAt,
      options,
      environment: { ...environment, redis: redisVersion },
      contestants,
      skipped: field.skipped,
      rounds: Object.fromEntries(measured.map(({ name, values }) => [name, values])),
    }
    const notes = Object.entries(contestants).map(
      ([name, each]) => `${name} ${each.version}: Node ${each.node}${each.note ? `; ${each.note}` : ''}`,
    )
    return {
      document,
      environment,
      measurements: measured.flatMap(measurementsOf),
      ratios: ratiosOf(measured).map((ratio) => ({ ...ratio, name: labelOf(ratio.name) })),
      notes: [notes.join('\n'), ...skipped],
    }
  },
}

/** Every round measures one thing after another on everybody, each round beginning with the next one. */
async function measureAll({ options, progress, step }: Bench, entrants: readonly Entrant[]): Promise<Measured[]> {
  const values = entrants.map((): Partial<Record<Measure, number[]>> => ({}))
  for (let round = 0; round <= options.rounds; round++) {
    const label = round === 0 ? 'warm-up' : `round ${round}/${options.rounds}`
    for (const [kind, at] of turns(entrants, round)) {
      const entrant = entrants[at] as Entrant
      const { name } = entrant.contestant
      step(`${label}: ${kind}, ${name}`)
      const figures = await entrant.measure(kind, round === 0 ? WARM_UP : 1)
      for (const [measure, value] of Object.entries(figures) as [Measure, number][]) {
        progress(`${label.padEnd(12)} ${measure.padEnd(10)} ${name.padEnd(28)} ${figure(value)} ${unitOf(measure)}`)
        if (round > 0) (values[at] as Record<Measure, number[]>)[measure] = [...(values[at]?.[measure] ?? []), value]
      }
    }
  }
  return entrants.map(({ contestant: { name, role, store } }, i) => ({ name, role, store, values: values[i] ?? {} }))
}

/** Who does what next, by position. */
function turns(entrants: readonly Entrant[], round: number): [Kind, number][] {
  const order = entrants.map((_, i) => (i + round) % entrants.length)
  return kinds.flatMap((kind) =>
    order
      .filter((at) => kind === 'drain' || entrants[at]?.contestant.role !== 'raw')
      .map((at): [Kind, number] => [kind, at]),
  )
}

function measurementsOf({ name, values }: Measured): Measurement[] {
  return measures.flatMap((measure) => {
    const found = values[measure]
    return found ? [{ name: `${measure}, ${name}`, unit: unitOf(measure), ...spread(found) }] : []
  })
}
