// Compares what the database says this worker runs with what it knows itself, at every heartbeat.
//
// Running there and unknown here for some seconds: a claim or a settlement went astray, give the job back. Running here
// and gone there: somebody took it away, stop. Cancel requested there: stop.
import { monotonicMs } from '../clock.ts'
import { LeaseLost } from '../errors.ts'
import type { RunningRow } from '../store/running-jobs.ts'
import { type Run, runKey } from './run.ts'
import { CancelRequested } from './verdict.ts'

export interface ReconcilerServices {
  runs(): Iterable<Run>
  /** Is the answer to this claim still to come? */
  isOpenClaim(runId: string): boolean
  /** Gives back jobs that nobody here remembers. */
  giveBack(strays: readonly RunningRow[]): Promise<void>
  strayAfterMs: number
}

export class Reconciler {
  readonly #services: ReconcilerServices
  #strays = new Map<string, number>()

  constructor(services: ReconcilerServices) {
    this.#services = services
  }

  /** `askedAtMs`: when the question was sent. Whatever was claimed later is not in the answer. */
  async reconcile(rows: readonly RunningRow[], askedAtMs: number): Promise<void> {
    const known = new Map([...this.#services.runs()].map((run) => [run.key, run]))
    const listed = new Set<string>()
    const strays: RunningRow[] = []
    for (const row of rows) {
      const key = runKey(row.id, row.runId)
      listed.add(key)
      const run = known.get(key)
      if (run === undefined) strays.push(row)
      else if (row.cancelRequested) run.abort(new CancelRequested())
    }
    for (const [key, run] of known) {
      const isMissing = !listed.has(key) && run.claimedAtMs < askedAtMs
      if (isMissing && !run.isSettling && run.inTransaction === undefined) {
        run.abort(new LeaseLost('the database no longer lists it as running here'))
      }
    }
    await this.#giveBackStrays(strays)
  }

  async #giveBackStrays(strays: readonly RunningRow[]): Promise<void> {
    const now = monotonicMs()
    const seen = new Map<string, number>()
    const lost: RunningRow[] = []
    for (const stray of strays) {
      if (this.#services.isOpenClaim(stray.runId)) continue
      const key = runKey(stray.id, stray.runId)
      const since = this.#strays.get(key) ?? now
      seen.set(key, since)
      if (now - since < this.#services.strayAfterMs) continue
      lost.push(stray)
    }
    this.#strays = seen
    if (lost.length > 0) await this.#services.giveBack(lost)
  }
}
