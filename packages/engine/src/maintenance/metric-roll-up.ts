// Sums up the counts of runs by the hour, counts the dead letters of each hour, and keeps the highest figures of the queues.
//
// Runs every five minutes in every worker process. A pass is two statements that sum up whole hours, so a pass that was cut off
// leaves nothing half done, and a second one changes nothing. Minutes are forgotten only after their hour is stored.
import type { Clock } from '../clock.ts'
import type { Database } from '../store/db.ts'
import { metricRollUp } from '../store/metrics.ts'
import { queueSampleRollUp } from '../store/queue-samples.ts'
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
  async tick(): Promise<boolean> {
    const { db, clock } = this.#services
    const now = clock.databaseNow()
    const isMore = await metricRollUp(db, now, { settleMs: SETTLE_MS, hours: HOURS_AT_ONCE })
    await queueSampleRollUp(db, now, SETTLE_MS)
    return isMore
  }

  delayAfter(isMore: boolean): number {
    return isMore ? 0 : INTERVAL_MS
  }
}
