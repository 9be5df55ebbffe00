// Advances workflows that nobody has advanced: the process that ended their jobs died, or does not know them, or something
// stood in the way. And finds jobs that ended without a word to their workflow.
//
// Runs once a minute, and when a step that waits for a time is due, in every worker process that knows workflows, all at
// once: the workflow's lock decides. One that knows none looks now and then for chains of listed jobs. If it dies halfway,
// the next pass, anywhere, does the rest.
import { type Advancer, SOONEST_MS, SWEEP_MS, type SweepResult } from '../workflow/advancer.ts'
import type { Ticker } from './loop.ts'

const SELDOM_MS = 300_000

export class WorkflowSweep implements Ticker<SweepResult> {
  readonly name = 'workflows'
  readonly #advancer: Advancer

  constructor(advancer: Advancer) {
    this.#advancer = advancer
  }

  tick(): Promise<SweepResult> {
    return this.#advancer.sweep()
  }

  delayAfter({ isMore, dueInMs }: SweepResult): number {
    if (isMore) return 1_000
    if (!this.#advancer.isNeeded) return SELDOM_MS
    return Math.min(SWEEP_MS, Math.max(dueInMs ?? SWEEP_MS, SOONEST_MS))
  }
}
