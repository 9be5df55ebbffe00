// Creates the archive's partitions ahead, drops the expired ones, and forgets workers that ended, dead letters that were
// settled long ago, pauses, dedupe windows and rates that are over, what dead runs had reserved of budgets, and the expired
// results of ctx.once and ctx.step, ticks of schedules, reports of bulk operations and minutes of metrics after 30 days, periods of budgets after 13 months, workflows
// whose retention is over, escalations after 90 days, declarations 30 days after a living worker had them, and tokens of the
// admin API 30 days after their end. Cancels what deleted tenants have left.
//
// Runs hourly in every worker process; every step is harmless when another process does the same at that moment, and
// is finished by the next pass if it was cut off.
import type { Clock, Now } from '../clock.ts'
import { type LetterRetention, letterRetention } from '../contract/letter-retention.ts'
import type { Registry } from '../contract/registry.ts'
import { HistoryRefused } from '../errors.ts'
import { declareHistory } from '../governance/history.ts'
import { isPermissionDenied } from '../sql-state.ts'
import { adminTokenPrune } from '../store/admin-tokens.ts'
import { budgetHoldPrune, budgetPeriodPrune, budgetReservationSweep } from '../store/budgets.ts'
import { bulkPrune } from '../store/bulk.ts'
import { cataloguePrune } from '../store/catalogue.ts'
import type { Database } from '../store/db.ts'
import { deadLetterPrune } from '../store/dead-letters.ts'
import { dedupWindowPrune } from '../store/dedup.ts'
import { escalationPrune } from '../store/escalations.ts'
import { jobCancelWaiting } from '../store/job-changes.ts'
import { limitRatePrune } from '../store/limits.ts'
import { metricPrune } from '../store/metrics.ts'
import { oncePrune, stepKeep } from '../store/once-keys.ts'
import { ensurePartitions, prunePartitions } from '../store/partitions.ts'
import { pausePrune } from '../store/pauses.ts'
import { progressPrune } from '../store/progress.ts'
import { scheduleTickPrune, TICKS_KEPT_MS } from '../store/schedule-ticks.ts'
import { tenantLeftovers } from '../store/tenants.ts'
import { workerPrune } from '../store/workers.ts'
import { workflowPrune } from '../store/workflows.ts'
import type { Ticker } from './loop.ts'

const HOUR_MS = 3_600_000
const FORGET_WORKERS_AFTER_MS = 24 * HOUR_MS
const FORGET_DECLARATIONS_AFTER_MS = 30 * 24 * HOUR_MS
const LETTERS_AT_ONCE = 1_000
const TOKENS_AT_ONCE = 1_000
const RESERVATIONS_AT_ONCE = 1_000
const HOLDS_AT_ONCE = 10_000
/** A year and the month that is compared with it. */
const PERIOD_MONTHS_KEPT = 13
const PERIODS_AT_ONCE = 1_000
const LEFTOVERS_AT_ONCE = 1_000
const ONCE_KEYS_AT_ONCE = 1_000
const STEPS_AT_ONCE = 1_000
const WINDOWS_AT_ONCE = 5_000
const PROGRESS_AT_ONCE = 5_000
const TICKS_AT_ONCE = 5_000
const RATES_AT_ONCE = 5_000
const METRICS_AT_ONCE = 5_000
const BULK_REPORTS_KEPT_MS = 30 * 24 * HOUR_MS
const BULK_ROWS_AT_ONCE = 5_000
const ESCALATIONS_AT_ONCE = 5_000
const ESCALATIONS_KEPT_MS = 90 * 24 * HOUR_MS
const METRICS_KEPT_MS = 30 * 24 * HOUR_MS
const TENANT_METRICS_KEPT_MS = 24 * HOUR_MS
const METRIC_HOURS_KEPT_MONTHS = 13
/** Rates that an older version has written last do not say their period: hardly any is longer. */
const UNKNOWN_RATE_PERIOD_MS = 366 * 24 * HOUR_MS
/** Rows of workflows. */
const WORKFLOW_ROWS_AT_ONCE = 10_000

export interface HousekeepingResult {
  created: string[]
  dropped: string[]
  workersForgotten: number
  lettersForgotten: number
  reservationsForgotten: number
  holdsForgotten: number
  /** Of budgets. */
  periodsForgotten: number
  onceKeysForgotten: number
  /** Steps of jobs that are still known: they are looked at again later. */
  stepsKept: number
  leftoversCancelled: number
  windowsForgotten: number
  /** Of limits: their window is over. */
  ratesForgotten: number
  ticksForgotten: number
  /** Rows of the reports of bulk operations. */
  bulkForgotten: number
  /** Minutes of metrics, of the table that lost most. */
  metricsForgotten: number
  /** Entries of the catalogue. */
  declarationsForgotten: number
  workflowsForgotten: number
  escalationsForgotten: number
}

function ifRefused(error: unknown): void {
  if (!(error instanceof HistoryRefused)) throw error
}

/** Without rights on newer tables. Of the catalogue, the worker has said so when it started. */
function noneIfDenied(error: unknown): number {
  if (!isPermissionDenied(error)) throw error
  return 0
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
    await pausePrune(this.#db, now)
    await progressPrune(this.#db, PROGRESS_AT_ONCE)
    // The role of a worker may have no rights on the tokens: its program need not know them.
    await adminTokenPrune(this.#db, now, TOKENS_AT_ONCE).catch(noneIfDenied)
    // If it could not be had when the worker started. That it was refused, the worker has said.
    await declareHistory({ db: this.#db, clock: this.#clock }, this.#registry.historic).catch(ifRefused)
    return {
      created: await ensurePartitions(this.#db, now),
      dropped: await prunePartitions(this.#db, now),
      // Leases live on the database's own clock, whatever a test does with time.
      workersForgotten: await workerPrune(this.#db, null, FORGET_WORKERS_AFTER_MS),
      lettersForgotten: letters === null ? 0 : await deadLetterPrune(this.#db, now, letters, LETTERS_AT_ONCE),
      reservationsForgotten: await budgetReservationSweep(this.#db, RESERVATIONS_AT_ONCE),
      holdsForgotten: await budgetHoldPrune(this.#db, now, HOLDS_AT_ONCE),
      periodsForgotten: await budgetPeriodPrune(this.#db, now, PERIOD_MONTHS_KEPT, PERIODS_AT_ONCE),
      stepsKept: await stepKeep(this.#db, now, STEPS_AT_ONCE),
      onceKeysForgotten: await oncePrune(this.#db, now, ONCE_KEYS_AT_ONCE),
      leftoversCancelled: await this.#cancelLeftovers(now),
      windowsForgotten: await dedupWindowPrune(this.#db, now, WINDOWS_AT_ONCE),
      ratesForgotten: await limitRatePrune(this.#db, now, { unknownMs: UNKNOWN_RATE_PERIOD_MS, limit: RATES_AT_ONCE }),
      ticksForgotten: await scheduleTickPrune(this.#db, now, TICKS_KEPT_MS, TICKS_AT_ONCE),
      bulkForgotten: await bulkPrune(this.#db, now, BULK_REPORTS_KEPT_MS, BULK_ROWS_AT_ONCE).catch(noneIfDenied),
      declarationsForgotten: await cataloguePrune(this.#db, now, FORGET_DECLARATIONS_AFTER_MS).catch(noneIfDenied),
      metricsForgotten: await metricPrune(this.#db, now, {
        ageMs: METRICS_KEPT_MS,
        tenantAgeMs: TENANT_METRICS_KEPT_MS,
        hourMonths: METRIC_HOURS_KEPT_MONTHS,
        limit: METRICS_AT_ONCE,
      }),
      escalationsForgotten: await escalationPrune(this.#db, now, ESCALATIONS_KEPT_MS, ESCALATIONS_AT_ONCE),
      workflowsForgotten: await workflowPrune(this.#db, now, WORKFLOW_ROWS_AT_ONCE),
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
      result.reservationsForgotten === RESERVATIONS_AT_ONCE ||
      result.periodsForgotten === PERIODS_AT_ONCE ||
      result.onceKeysForgotten === ONCE_KEYS_AT_ONCE ||
      result.stepsKept === STEPS_AT_ONCE ||
      result.leftoversCancelled === LEFTOVERS_AT_ONCE ||
      result.windowsForgotten === WINDOWS_AT_ONCE ||
      result.ratesForgotten === RATES_AT_ONCE ||
      result.ticksForgotten === TICKS_AT_ONCE ||
      result.bulkForgotten >= BULK_ROWS_AT_ONCE ||
      result.metricsForgotten === METRICS_AT_ONCE ||
      result.escalationsForgotten === ESCALATIONS_AT_ONCE ||
      result.workflowsForgotten > 0
    return isMore ? 0 : HOUR_MS
  }
}
