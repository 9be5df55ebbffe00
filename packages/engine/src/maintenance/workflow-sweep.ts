// Advances workflows that nobody has advanced: the process that ended their jobs died, or does not know them, or something
// stood in the way. And finds jobs that ended without a word to their workflow.
//
// Runs once a minute in every worker process that knows workflows, all at once: the workflow's lock decides. If it dies
// halfway, the next pass, anywhere, does the rest.
import type { Advancer, SweepResult } from '../workflow/advancer.ts'
import type { Ticker } from './loop.ts'

const INTERVAL_MS = 60_000

export class WorkflowSweep implements Ticker<SweepResult> {
  readonly name = 'workflows'
  readonly #advancer: Advancer

  constructor(advancer: Advancer) {
    this.#advancer = advancer
  }

  tick(): Promise<SweepResult> {
    return this.#advancer.sweep()
  }

  delayAfter({ isMore }: SweepResult): number {
    return isMore ? 1_000 : INTERVAL_MS
  }
}
