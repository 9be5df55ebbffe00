// Sums up the counts of runs by the hour, and counts the dead letters of each hour.
//
// Runs every five minutes in every worker process. A pass is one statement that sums up whole hours, so a pass that was cut off
// leaves nothing, and a second one changes nothing. Minutes are forgotten only after their hour is stored.
import type { Clock } from '../clock.ts'
import type { Database } from '../store/db.ts'
import { metricRollUp } from '../store/metrics.ts'
import type { Ticker } from './loop.ts'

const INTERVAL_MS = 300_000
/** An hour counts as over when the last flush into it has long been committed. */
const SETTLE_MS = 60_000
const HOURS_AT_ONCE = 24

export class MetricRollUp implements Ticker<boolean> {
  readonly name = 'metric roll-up'
  readonly #services: { db: Database; clock: Clock }

  constructor(services: { db: Database; clock: Clock }) {
    this.#services = services
  }

  /** True: more hours are left. */
  tick(): Promise<boolean> {
    const { db, clock } = this.#services
    return metricRollUp(db, clock.databaseNow(), { settleMs: SETTLE_MS, hours: HOURS_AT_ONCE })
  }

  delayAfter(isMore: boolean): number {
    return isMore ? 0 : INTERVAL_MS
  }
}
