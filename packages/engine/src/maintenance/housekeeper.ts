// Creates the archive's partitions ahead, drops the expired ones, and forgets workers that ended long ago.
//
// Runs hourly in every worker process; every step is harmless when another process does the same at that moment, and
// is finished by the next pass if it was cut off.
import type { Clock } from '../clock.ts'
import type { Database } from '../store/db.ts'
import { ensurePartitions, prunePartitions } from '../store/partitions.ts'
import { workerPrune } from '../store/workers.ts'
import type { Ticker } from './loop.ts'

const HOUR_MS = 3_600_000
const FORGET_WORKERS_AFTER_MS = 24 * HOUR_MS

export interface HousekeepingResult {
  created: string[]
  dropped: string[]
  workersForgotten: number
}

export class Housekeeper implements Ticker<HousekeepingResult> {
  readonly name = 'housekeeping'
  readonly #db: Database
  readonly #clock: Clock

  constructor(services: { db: Database; clock: Clock }) {
    this.#db = services.db
    this.#clock = services.clock
  }

  async tick(): Promise<HousekeepingResult> {
    const now = this.#clock.databaseNow()
    return {
      created: await ensurePartitions(this.#db, now),
      dropped: await prunePartitions(this.#db, now),
      workersForgotten: await workerPrune(this.#db, now, FORGET_WORKERS_AFTER_MS),
    }
  }

  delayAfter(): number {
    return HOUR_MS
  }
}
