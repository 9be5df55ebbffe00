// Creates the archive's partitions ahead, drops the expired ones, and forgets dead letters that were settled long ago and whatever
// else retention.ts lists. Cancels the jobs that deleted tenants have left.
//
// Runs hourly in every worker process; every step is harmless when another process does the same at that moment, and
// is finished by the next pass if it was cut off.
import type { Clock, Now } from '../clock.ts'
import { type LetterRetention, letterRetention } from '../contract/letter-retention.ts'
import type { Registry } from '../contract/registry.ts'
import { HistoryRefused } from '../errors.ts'
import { declareHistory } from '../governance/history.ts'
import type { Database } from '../store/db.ts'
import { deadLetterPrune } from '../store/dead-letters.ts'
import { jobCancelWaiting } from '../store/job-changes.ts'
import { stepKeep } from '../store/once-keys.ts'
import { ensurePartitions, prunePartitions } from '../store/partitions.ts'
import { tenantLeftovers } from '../store/tenants.ts'
import type { Ticker } from './loop.ts'
import { type Forgotten, forgetAll, isMoreToForget } from './retention.ts'

const HOUR_MS = 3_600_000
const LETTERS_AT_ONCE = 1_000
const LEFTOVERS_AT_ONCE = 1_000
const STEPS_AT_ONCE = 1_000

/** How many rows of each kind were forgotten, and what else was done. */
export interface HousekeepingResult extends Forgotten {
  created: string[]
  dropped: string[]
  lettersForgotten: number
  /** Steps of jobs that are still known: they are looked at again later. */
  stepsKept: number
  leftoversCancelled: number
}

function ifRefused(error: unknown): void {
  if (!(error instanceof HistoryRefused)) throw error
}

export class Housekeeper implements Ticker<HousekeepingResult> {
  readonly name = 'housekeeping'
  readonly #db: Database
  readonly #clock: Clock
  readonly #registry: Registry
  readonly #letterRetention: LetterRetention | null

  constructor(services: { db: Database; clock: Clock; registry: Registry; letterRetention?: LetterRetention | null }) {
    this.#db = services.db
    this.#registry = services.registry
    this.#clock = services.clock
    const { letterRetention: kept = letterRetention() } = services
    this.#letterRetention = kept
  }

  async tick(): Promise<HousekeepingResult> {
    const now = this.#clock.databaseNow()
    const letters = this.#letterRetention
    // If it could not be had when the worker started. That it was refused, the worker has said.
    await declareHistory({ db: this.#db, clock: this.#clock }, this.#registry.historic).catch(ifRefused)
    return {
      created: await ensurePartitions(this.#db, now),
      dropped: await prunePartitions(this.#db, now),
      lettersForgotten: letters === null ? 0 : await deadLetterPrune(this.#db, now, letters, LETTERS_AT_ONCE),
      stepsKept: await stepKeep(this.#db, now, STEPS_AT_ONCE),
      ...(await forgetAll(this.#db, now)),
      leftoversCancelled: await this.#cancelLeftovers(now),
    }
  }

  /** After the partitions were made into which they go. */
  async #cancelLeftovers(now: Now): Promise<number> {
    const ids = await tenantLeftovers(this.#db, LEFTOVERS_AT_ONCE)
    if (ids.length === 0) return 0
    const { retentions } = this.#registry
    const cancelled = await this.#db.transaction((tx) =>
      jobCancelWaiting(tx, now, ids, 'its tenant was deleted', retentions),
    )
    return cancelled.length
  }

  delayAfter(result: HousekeepingResult): number {
    const isMore =
      result.lettersForgotten === LETTERS_AT_ONCE ||
      result.stepsKept === STEPS_AT_ONCE ||
      result.leftoversCancelled === LEFTOVERS_AT_ONCE ||
      isMoreToForget(result)
    return isMore ? 0 : HOUR_MS
  }
}
