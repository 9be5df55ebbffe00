import type { BenchOptions, Environment } from './bench.ts'
import { figure, percent } from './figures.ts'

/** What we want the median to be. */
export type Target = { readonly atLeast: number } | { readonly atMost: number }

export const atLeast = (value: number): Target => ({ atLeast: value })
export const atMost = (value: number): Target => ({ atMost: value })

interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
  /** One per round, in order. */
  readonly values: readonly number[]
}

interface Judged extends Spread {
  readonly name: string
  readonly target?: Target
  readonly isMet?: boolean
}

export interface Measurement extends Judged {
  readonly unit: string
}

export type Ratio = Judged

export interface Findings {
  readonly measurements: readonly Measurement[]
  readonly ratios: readonly Ratio[]
  /** What does not fit into a table, such as a course over time. Only in the JSON. */
  readonly details?: Readonly<Record<string, unknown>>
  /** What the reader of the table must know, such as what could not be measured here. */
  readonly notes?: readonly string[]
  /** What --json prints, if it is not the report. */
  readonly document?: object
  /** If the suite's own differs from that of the bench. */
  readonly environment?: Environment
}

/** What --json prints, unless the suite has a document of its own. */
export interface Report extends Findings {
  readonly suite: string
  readonly startedAt: string
  readonly options: BenchOptions
  readonly environment: Environment
}

/** The same with a target, and whether the median meets it. */
export function aimed<Figure extends Spread>(
  found: Figure,
  target: Target,
): Figure & { target: Target; isMet: boolean } {
  const isMet = 'atLeast' in target ? found.median >= target.atLeast : found.median <= target.atMost
  return { ...found, target, isMet }
}

export function asTable({ suite, options, environment, measurements, ratios, notes = [] }: Report): string {
  const { node, cpu, cpus, postgres, settings } = environment
  const rows = [
    ['', 'MEDIAN', 'MIN', 'MAX', 'UNIT'],
    ...measurements.map((each) => [...cells(each, figure), [each.unit, verdict(each, figure)].join('  ')]),
    ...ratios.map((each) => [...cells(each, percent), verdict(each, percent)]),
  ]
  const { rounds, jobs, seconds, scale } = options
  return [
    `${suite}: ${rounds} rounds of ${figure(jobs)} jobs` +
      `${seconds === undefined ? '' : `, ${seconds} s`}${scale === undefined ? '' : `, scale ${scale}`}`,
    `Node ${node}, PostgreSQL ${postgres}, ${cpus} × ${cpu}`,
    Object.entries(settings)
      .map(([name, value]) => `${name} ${value}`)
      .join(', '),
    '',
    aligned(rows) + notes.map((note) => `\n${note}\n`).join(''),
  ].join('\n')
}

type Print = (value: number) => string

const cells = ({ name, median, min, max }: Judged, print: Print): string[] => [name, ...[median, min, max].map(print)]

function verdict({ target, isMet }: Judged, print: Print): string {
  if (target === undefined) return ''
  const wanted = 'atLeast' in target ? `≥ ${print(target.atLeast)}` : `≤ ${print(target.atMost)}`
  return `target ${wanted}, ${isMet ? 'met' : 'missed'}`
}

function aligned(rows: readonly (readonly string[])[]): string {
  const widths = [0, 1, 2, 3].map((i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)))
  const line = ([name = '', ...rest]: readonly string[]) =>
    [name.padEnd(widths[0] ?? 0), ...rest.map((cell, i) => cell.padStart(widths[i + 1] ?? 0))].join('  ').trimEnd()
  return rows.map((row) => `${line(row)}\n`).join('')
}
