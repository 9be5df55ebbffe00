// Says when many dead letters wait for a decision.
//
// Looks once a minute in every worker process; each tells its own listeners. It only reads, so it may die anywhere. A
// new process does not know what the last one said, and says it again.
import type { Database } from '../store/db.ts'
import { deadLetterCount } from '../store/dead-letters.ts'
import type { Ticker } from './loop.ts'

const INTERVAL_MS = 60_000
/** Beyond this the exact number tells nobody anything, and costs a longer look. */
const COUNT_AT_MOST = 10_000

export interface DeadLetterAlertServices {
  db: Database
  threshold: number
  onAlert(alert: { count: number; threshold: number }): void
}

export class DeadLetterAlert implements Ticker<number> {
  readonly name = 'dead letter alert'
  readonly #services: DeadLetterAlertServices
  #isRaised = false

  constructor(services: DeadLetterAlertServices) {
    this.#services = services
  }

  async tick(): Promise<number> {
    const { db, threshold, onAlert } = this.#services
    const count = await deadLetterCount(db, Math.max(threshold, COUNT_AT_MOST))
    const isReached = count >= threshold
    if (isReached && !this.#isRaised) onAlert({ count, threshold })
    this.#isRaised = isReached
    return count
  }

  delayAfter(): number {
    return INTERVAL_MS
  }
}
