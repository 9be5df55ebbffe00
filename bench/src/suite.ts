import type { Bench } from './bench.ts'
import type { Findings } from './report.ts'

/** One benchmark, in a file of its own under suites/, listed in main.ts. */
export interface Suite {
  readonly name: string
  readonly summary: string
  /** Jobs per measurement, unless --jobs says otherwise. */
  readonly jobs: number
  /** Default 5. */
  readonly rounds?: number
  /** How long a measurement takes, unless --seconds says otherwise. Without it the suite has no such option. */
  readonly seconds?: number
  /** The size of what lies around, 1 being the real one, unless --scale says otherwise. As with seconds. */
  readonly scale?: number
  /** What a throw-away server needs beyond the usual. */
  readonly serverSettings?: Readonly<Record<string, string>>
  run(bench: Bench): Promise<Findings>
}

/** What a suite throws that cannot measure here: the message says what to change, and is all that is printed. */
export class CannotMeasure extends Error {}
