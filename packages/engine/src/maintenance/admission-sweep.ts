// Admits keyed jobs that nobody has admitted: their enqueuer died, or their time has come.
//
// Runs every second in every worker process, all at once: the lock on a key decides. While no blocked jobs are known of
// it asks nothing; the rescuer's look, this process's own keyed work and wake-ups say when there are some. If it dies
// halfway, the next pass, anywhere, goes on.
import type { Admitter, SweepResult } from '../governance/admitter.ts'
import type { Ticker } from './loop.ts'

const INTERVAL_MS = 1_000
/** More keys wait than one pass looks at. */
const MORE_MS = 200
const NOTHING: SweepResult = { admitted: 0, isEmpty: true, isMore: false }

export class AdmissionSweep implements Ticker<SweepResult> {
  readonly name = 'admission'
  readonly #admitter: Admitter

  constructor(admitter: Admitter) {
    this.#admitter = admitter
  }

  async tick(): Promise<SweepResult> {
    return this.#admitter.isSweepNeeded ? this.#admitter.sweep() : NOTHING
  }

  delayAfter({ isMore }: SweepResult): number {
    return isMore ? MORE_MS : INTERVAL_MS
  }
}
