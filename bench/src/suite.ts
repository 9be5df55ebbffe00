import type { Bench } from './bench.ts'
import type { Measurement, Ratio } from './report.ts'

/** One benchmark, in a file of its own under suites/, listed in main.ts. */
export interface Suite {
  readonly name: string
  readonly summary: string
  /** Jobs per measurement, unless --jobs says otherwise. */
  readonly jobs: number
  run(bench: Bench): Promise<Findings>
}

interface Findings {
  readonly measurements: readonly Measurement[]
  readonly ratios: readonly Ratio[]
}
