// The JSON of peers, made from what was measured.
import type { BenchOptions, Environment } from '../bench.ts'
import { median } from '../figures.ts'
import type { Ratio } from '../report.ts'
import { spread } from '../rounds.ts'
import type { Contestant } from './contestants.ts'

export const measures = ['drain', 'bulk', 'single16', 'latencyP50', 'latencyP99'] as const
export type Measure = (typeof measures)[number]
export type Figures = Readonly<Record<Measure, number>>

export interface Measured extends Pick<Contestant, 'name' | 'role' | 'store'> {
  /** One value per round, in order. */
  readonly values: Readonly<Partial<Record<Measure, readonly number[]>>>
}

/** Which figures of ours are compared, and with the better of which peers. */
const comparisons = {
  drain: { measure: 'drain', against: 'best peer' },
  drainRaw: { measure: 'drain', against: 'raw SQL loop' },
  bulk: { measure: 'bulk', against: 'best peer' },
  single16PostgresPeers: { measure: 'single16', against: 'best Postgres peer' },
  single16: { measure: 'single16', against: 'best peer' },
  latencyP50: { measure: 'latencyP50', against: 'best Postgres peer' },
} as const satisfies Record<string, { measure: Measure; against: string }>

export type RatioName = keyof typeof comparisons

export interface PeersDocument {
  /** On which everybody ran. */
  readonly node: string
  readonly postgres: string
  readonly ours: Figures
  /** Not in the ratios: it shows what the newer Node is worth. */
  readonly oursOnInstalledNode: Figures & { readonly node: string }
  readonly peers: Readonly<Record<string, Figures>>
  readonly raw: Pick<Figures, 'drain'>
  readonly ratios: Readonly<Record<RatioName, number>>
}

/** What --json prints: the figures, and what one must know to believe them. */
export interface PeersReport extends PeersDocument {
  readonly startedAt: string
  readonly options: BenchOptions
  readonly environment: Environment & { readonly redis: string | undefined }
  readonly contestants: Readonly<Record<string, Description>>
  readonly skipped: readonly Skipped[]
  /** One value per round, in order. */
  readonly rounds: Readonly<Record<string, Measured['values']>>
}

export interface Description {
  readonly version: string
  readonly node: string
  readonly settings: object
  readonly note?: string
}

export interface Skipped {
  readonly name: string
  readonly reason: string
}

interface Versions {
  readonly node: string
  readonly installedNode: string
  readonly postgres: string
}

export function documentOf(measured: readonly Measured[], versions: Versions): PeersDocument {
  const peers = measured.filter(({ role }) => role === 'peer')
  const { node, installedNode, postgres } = versions
  return {
    node,
    postgres,
    ours: figuresOf(theOne(measured, 'ours')),
    oursOnInstalledNode: { node: installedNode, ...figuresOf(theOne(measured, 'oursOnInstalledNode')) },
    peers: Object.fromEntries(peers.map((peer) => [peer.name, figuresOf(peer)])),
    raw: { drain: medianOf(theOne(measured, 'raw'), 'drain') },
    ratios: Object.fromEntries(
      ratiosOf(measured).map(({ name, median }) => [name, tidy(median)]),
    ) as PeersDocument['ratios'],
  }
}

/** Round by round against whoever was best in that round: what slowed the machine down for a while hit both. */
export function ratiosOf(measured: readonly Measured[]): (Ratio & { name: RatioName })[] {
  const ours = theOne(measured, 'ours')
  return Object.entries(comparisons).map(([name, { measure, against }]) => {
    const rivals = measured.filter(({ role, store }) =>
      against === 'raw SQL loop'
        ? role === 'raw'
        : role === 'peer' && (against === 'best peer' || store === 'postgres'),
    )
    const best = measure.startsWith('latency') ? Math.min : Math.max
    const ratios = valuesOf(ours, measure).map(
      (value, round) => value / best(...rivals.map((rival) => valuesOf(rival, measure)[round] as number)),
    )
    return { name: name as RatioName, ...spread(ratios) }
  })
}

export function labelOf(ratio: RatioName): string {
  const { measure, against } = comparisons[ratio]
  return `${measure}, Millrace / ${against}`
}

function figuresOf(measured: Measured): Figures {
  return Object.fromEntries(measures.map((measure) => [measure, medianOf(measured, measure)])) as unknown as Figures
}

const medianOf = (measured: Measured, measure: Measure): number => tidy(median(valuesOf(measured, measure)))

function valuesOf({ name, values }: Measured, measure: Measure): readonly number[] {
  const found = values[measure]
  if (found === undefined) throw new Error(`${measure} of ${name} was not measured`)
  return found
}

function theOne(measured: readonly Measured[], role: Contestant['role']): Measured {
  const found = measured.find((each) => each.role === role)
  if (found === undefined) throw new Error(`${role} was not measured`)
  return found
}

/** Four digits are more than a benchmark knows. */
const tidy = (value: number): number => Number(value.toPrecision(4))

export const unitOf = (measure: Measure): string => (measure.startsWith('latency') ? 'ms' : 'jobs/s')
