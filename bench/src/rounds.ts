import { figure, median } from './figures.ts'
import { aimed, type Measurement, type Ratio, type Target } from './report.ts'

/** One thing that is measured. `measure` prepares, measures and answers with the figure. */
export interface Contestant {
  readonly name: string
  readonly unit: string
  measure(): Promise<number>
}

/** One thing of which a measurement gives several figures. */
export interface Trial<Figure extends string = string> {
  readonly name: string
  /** The unit of each figure, by its name. */
  readonly units: Readonly<Record<Figure, string>>
  measure(): Promise<Readonly<Record<Figure, number>>>
}

export interface RoundsOptions {
  readonly rounds: number
  readonly progress: (message: string) => void
  /** Hears what is being measured. */
  readonly step?: (message: string) => void
  /** One round before the others that is thrown away; it warms caches and compilers. Default true. */
  readonly warmUp?: boolean
}

export async function interleave(contestants: readonly Contestant[], options: RoundsOptions): Promise<Measurement[]> {
  const trials = contestants.map(({ name, unit, measure }) => ({
    name,
    units: { '': unit },
    measure: async () => ({ '': await measure() }),
  }))
  return interleaveTrials(trials, options)
}

/**
 * Measures all in every round, each round beginning with the next one: whatever else the machine does then hits all of
 * them alike. A figure is called by its trial and itself: "polling, p99".
 */
export async function interleaveTrials(trials: readonly Trial[], options: RoundsOptions): Promise<Measurement[]> {
  const found = trials.map((): Record<string, number>[] => [])
  for (let round = options.warmUp === false ? 1 : 0; round <= options.rounds; round++) {
    const label = round === 0 ? 'warm-up' : `round ${round}/${options.rounds}`
    for (let i = 0; i < trials.length; i++) {
      const at = (i + round) % trials.length
      const trial = trials[at] as Trial
      options.step?.(`${label}: ${trial.name}`)
      const figures = await trial.measure()
      if (round > 0) found[at]?.push(figures)
      options.progress(`${label.padEnd(12)} ${trial.name.padEnd(32)} ${printed(trial, figures)}`)
    }
  }
  return trials.flatMap(({ name, units }, i) =>
    Object.entries(units).map(([key, unit]) => ({
      name: figureName(name, key),
      unit,
      ...spread((found[i] as Record<string, number>[]).map((figures) => figures[key] as number)),
    })),
  )
}

const figureName = (trial: string, key: string): string => (key === '' ? trial : `${trial}, ${key}`)

function printed({ units }: Trial, figures: Readonly<Record<string, number>>): string {
  return Object.entries(units)
    .map(([key, unit]) => `${key} ${figure(figures[key] as number)} ${unit}`.trim())
    .join(', ')
}

/** Round by round, so that what slowed down both does not show. */
export function ratio(name: string, part: Measurement, whole: Measurement, target?: Target): Ratio {
  return ratioOf(name, part, (i) => whole.values[i] as number, target)
}

/** Against a figure that nobody has to measure. */
export function share(name: string, part: Measurement, whole: number, target?: Target): Ratio {
  return ratioOf(name, part, () => whole, target)
}

function ratioOf(name: string, part: Measurement, whole: (round: number) => number, target?: Target): Ratio {
  const found = { name, ...spread(part.values.map((value, i) => value / whole(i))) }
  return target === undefined ? found : aimed(found, target)
}

export function spread(values: readonly number[]): { median: number; min: number; max: number; values: number[] } {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values), values: [...values] }
}

/** The measurement of that name: every suite knows which it made. */
export function named(measurements: readonly Measurement[], name: string, key = ''): Measurement {
  const wanted = figureName(name, key)
  const found = measurements.find((measurement) => measurement.name === wanted)
  if (found === undefined) throw new Error(`nothing called "${wanted}" was measured`)
  return found
}
