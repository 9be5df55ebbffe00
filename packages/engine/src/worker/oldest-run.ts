// From when on a heartbeat looks for what this worker runs. The index keeps dead entries of runs that have ended for as long
// as somebody keeps a transaction open, and a worker may have had millions.
//
// All in the database's time, and only from what it said: nothing is assumed about clocks. While nothing runs, nothing is
// known, and the look begins at the last start that was seen.
import type { RunningRow } from '../store/running-jobs.ts'

/** A claim may have started this long before a look that could not see it yet, unless it took long to be answered. */
const UNSEEN_S = 10
/** More than a statement may take, twice. */
const LONG_UNSEEN_S = 60
const LONG_LOOK_EVERY = 6
/** Looks that begin at the beginning all the same, in case of anything that was not thought of. */
const WHOLE_LOOK_EVERY = 60

export class OldestRun {
  #starts: { oldestS: number; newestS: number } | null = null
  #looks = 0

  /** Null: look at everything. */
  sinceS(): number | null {
    const look = this.#looks++
    if (look % WHOLE_LOOK_EVERY === 0 || this.#starts === null) return null
    const { oldestS, newestS } = this.#starts
    // What started a while before the newest has been seen by now, or is the oldest.
    return Math.min(oldestS, newestS - (look % LONG_LOOK_EVERY === 0 ? LONG_UNSEEN_S : UNSEEN_S))
  }

  saw(rows: readonly Pick<RunningRow, 'startedAtS'>[]): void {
    if (rows.length === 0) return
    const starts = rows.map((row) => row.startedAtS)
    this.#starts = { oldestS: Math.min(...starts), newestS: Math.max(...starts) }
  }
}
