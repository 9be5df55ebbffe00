import type { BenchOptions, Environment } from './bench.ts'

interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
  /** One per round, in order. */
  readonly values: readonly number[]
}

export interface Measurement extends Spread {
  readonly name: string
  readonly unit: string
}

export interface Ratio extends Spread {
  readonly name: string
  /** What we want it to be at least. */
  readonly target?: number
}

/** What --json prints. */
export interface Report {
  readonly suite: string
  readonly startedAt: string
  readonly options: BenchOptions
  readonly environment: Environment
  readonly measurements: readonly Measurement[]
  readonly ratios: readonly Ratio[]
}

export function asTable({ suite, options, environment, measurements, ratios }: Report): string {
  const { node, cpu, cpus, postgres, settings } = environment
  const rows = [
    ['', 'MEDIAN', 'MIN', 'MAX', 'UNIT'],
    ...measurements.map(({ name, unit, median, min, max }) => [name, ...[median, min, max].map(whole), unit]),
    ...ratios.map(({ name, median, min, max, target }) => [
      name,
      ...[median, min, max].map(percent),
      target === undefined ? '' : `target ${percent(target)}${median >= target ? '' : ', missed'}`,
    ]),
  ]
  return [
    `${suite}: ${options.rounds} rounds of ${whole(options.jobs)} jobs`,
    `Node ${node}, PostgreSQL ${postgres}, ${cpus} × ${cpu}`,
    Object.entries(settings)
      .map(([name, value]) => `${name} ${value}`)
      .join(', '),
    '',
    aligned(rows),
  ].join('\n')
}

const whole = (value: number): string => Math.round(value).toLocaleString('en')
const percent = (value: number): string => `${(value * 100).toFixed(value < 0.1 ? 1 : 0)} %`

function aligned(rows: readonly (readonly string[])[]): string {
  const widths = [0, 1, 2, 3].map((i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)))
  const line = ([name = '', ...rest]: readonly string[]) =>
    [name.padEnd(widths[0] ?? 0), ...rest.map((cell, i) => cell.padStart(widths[i + 1] ?? 0))].join('  ').trimEnd()
  return rows.map((row) => `${line(row)}\n`).join('')
}
