import type { Measurement, Ratio } from './report.ts'

/** One thing that is measured. `measure` prepares, measures and answers with the figure. */
export interface Contestant {
  readonly name: string
  readonly unit: string
  measure(): Promise<number>
}

export interface RoundsOptions {
  readonly rounds: number
  readonly progress: (message: string) => void
}

/**
 * Measures all contestants in every round, each round beginning with the next one: whatever else the machine does
 * then hits all of them alike. One round before that is thrown away; it warms caches and compilers.
 */
export async function interleave(contestants: readonly Contestant[], options: RoundsOptions): Promise<Measurement[]> {
  const values = contestants.map((): number[] => [])
  for (let round = 0; round <= options.rounds; round++) {
    for (let i = 0; i < contestants.length; i++) {
      const at = (i + round) % contestants.length
      const { name, unit, measure } = contestants[at] as Contestant
      const value = await measure()
      if (round > 0) values[at]?.push(value)
      const label = round === 0 ? 'warm-up' : `round ${round}/${options.rounds}`
      options.progress(`${label.padEnd(12)} ${name.padEnd(32)} ${Math.round(value).toLocaleString('en')} ${unit}`)
    }
  }
  return contestants.map(({ name, unit }, i) => ({ name, unit, ...spread(values[i] as number[]) }))
}

/** Round by round, so that what slowed down both does not show. */
export function ratio(name: string, part: Measurement, whole: Measurement, target?: number): Ratio {
  const values = part.values.map((value, i) => value / (whole.values[i] as number))
  return { name, ...(target === undefined ? {} : { target }), ...spread(values) }
}

function spread(values: readonly number[]): { median: number; min: number; max: number; values: number[] } {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  const median = sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
  return { median, min: sorted[0] ?? Number.NaN, max: sorted.at(-1) ?? Number.NaN, values: [...values] }
}

/** The measurement of that name: every suite knows which it made. */
export function named(measurements: readonly Measurement[], name: string): Measurement {
  const found = measurements.find((measurement) => measurement.name === name)
  if (found === undefined) throw new Error(`nothing called "${name}" was measured`)
  return found
}
