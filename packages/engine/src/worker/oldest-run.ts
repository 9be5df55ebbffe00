// From when on a heartbeat looks for what this worker runs. The index keeps dead entries of runs that have ended for as long
// as somebody keeps a transaction open, and a worker may have had millions.
//
// All in the database's time, and only from what it said: nothing is assumed about clocks. While nothing runs, nothing is
// known, and the look begins at the last start that was seen.
import type { RunningRow } from '../store/running-jobs.ts'

/** A claim may have started this long before a look that could not see it yet: more than a statement may take, twice. */
const UNSEEN_S = 60
/** Looks that begin at the beginning all the same, in case of anything that was not thought of. */
const WHOLE_LOOK_EVERY = 60

export class OldestRun {
  #sinceS: number | null = null
  #looks = 0

  /** Null: look at everything. */
  sinceS(): number | null {
    return this.#looks++ % WHOLE_LOOK_EVERY === 0 ? null : this.#sinceS
  }

  saw(rows: readonly Pick<RunningRow, 'startedAtS'>[]): void {
    if (rows.length === 0) return
    const starts = rows.map((row) => row.startedAtS)
    // What started a while before the newest of these has been seen by now, or is among them.
    this.#sinceS = Math.min(Math.max(...starts) - UNSEEN_S, ...starts)
  }
}
