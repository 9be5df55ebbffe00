// What the housekeeper forgets, and when. docs/operations.md has a row for each table.
//
// To forget rows of another table, write its prune statement and add a line here.
import type { Now } from '../clock.ts'
import { isPermissionDenied } from '../sql-state.ts'
import { adminTokenPrune } from '../store/admin-tokens.ts'
import { auditPrune } from '../store/audit.ts'
import { budgetHoldPrune, budgetPeriodPrune, budgetReservationSweep } from '../store/budgets.ts'
import { bulkPrune } from '../store/bulk.ts'
import { cataloguePrune } from '../store/catalogue.ts'
import type { Database } from '../store/db.ts'
import { dedupWindowPrune } from '../store/dedup.ts'
import { escalationPrune } from '../store/escalations.ts'
import { limitRatePrune } from '../store/limits.ts'
import { metricPrune } from '../store/metrics.ts'
import { oncePrune } from '../store/once-keys.ts'
import { pausePrune } from '../store/pauses.ts'
import { progressPrune } from '../store/progress.ts'
import { queueSamplePrune } from '../store/queue-samples.ts'
import { scheduleTickPrune, TICKS_KEPT_MS } from '../store/schedule-ticks.ts'
import { workerPrune } from '../store/workers.ts'
import { workflowPrune } from '../store/workflows.ts'

interface Retention {
  readonly tables: readonly string[]
  /** Rows at most in one pass. A pass that forgets as many is followed by another one at once. */
  readonly atOnce: number
  /** Returns how many rows were forgotten, of the table that lost most. */
  forget(db: Database, now: Now, atOnce: number): Promise<number>
}

const DAY_MS = 24 * 3_600_000
/** A year and the month that is compared with it. */
const MONTHS_KEPT = 13
/** Rates that an older version has written last do not say their period: hardly any is longer. */
const UNKNOWN_RATE_PERIOD_MS = 366 * DAY_MS
/** Rows of workflows. */
const WORKFLOW_ROWS_AT_ONCE = 10_000
const ALL = Number.POSITIVE_INFINITY

export const RETENTIONS = {
  pausesForgotten: { tables: ['pause'], atOnce: ALL, forget: (db, now) => pausePrune(db, now).then(() => 0) },
  progressForgotten: {
    tables: ['job_progress'],
    atOnce: 5_000,
    forget: (db, _, atOnce) => progressPrune(db, atOnce).then(() => 0),
  },
  workersForgotten: {
    tables: ['worker'],
    atOnce: ALL,
    // Leases live on the database's own clock, whatever a test does with time.
    forget: (db) => workerPrune(db, null, DAY_MS),
  },
  reservationsForgotten: {
    tables: ['budget_reservation'],
    atOnce: 1_000,
    forget: (db, _, atOnce) => budgetReservationSweep(db, atOnce),
  },
  holdsForgotten: { tables: ['budget_hold'], atOnce: 10_000, forget: budgetHoldPrune },
  periodsForgotten: {
    tables: ['budget_period'],
    atOnce: 1_000,
    forget: (db, now, atOnce) => budgetPeriodPrune(db, now, MONTHS_KEPT, atOnce),
  },
  onceKeysForgotten: { tables: ['once_key'], atOnce: 1_000, forget: oncePrune },
  windowsForgotten: { tables: ['dedup_window'], atOnce: 5_000, forget: dedupWindowPrune },
  ratesForgotten: {
    tables: ['limit_rate'],
    atOnce: 5_000,
    forget: (db, now, limit) => limitRatePrune(db, now, { unknownMs: UNKNOWN_RATE_PERIOD_MS, limit }),
  },
  ticksForgotten: {
    tables: ['schedule_tick'],
    atOnce: 5_000,
    forget: (db, now, atOnce) => scheduleTickPrune(db, now, TICKS_KEPT_MS, atOnce),
  },
  declarationsForgotten: {
    tables: ['catalogue_entry'],
    atOnce: ALL,
    forget: (db, now) => cataloguePrune(db, now, 30 * DAY_MS).catch(noneIfDenied),
  },
  metricsForgotten: {
    tables: ['metric_minute', 'metric_tenant_minute', 'metric_hour', 'metric_letter_hour'],
    atOnce: 5_000,
    forget: (db, now, limit) =>
      metricPrune(db, now, { ageMs: 30 * DAY_MS, tenantAgeMs: DAY_MS, hourMonths: MONTHS_KEPT, limit }),
  },
  queueSamplesForgotten: {
    tables: ['queue_sample', 'queue_sample_hour'],
    atOnce: 5_000,
    forget: (db, now, limit) =>
      queueSamplePrune(db, now, { ageMs: 30 * DAY_MS, hourMonths: MONTHS_KEPT, limit }).catch(noneIfDenied),
  },
  auditForgotten: {
    tables: ['audit_log'],
    atOnce: 5_000,
    forget: (db, now, atOnce) => auditPrune(db, now, 400 * DAY_MS, atOnce),
  },
  tokensForgotten: {
    tables: ['admin_token'],
    atOnce: 1_000,
    // The role of a worker may have no rights on the tokens: its program need not know them.
    forget: (db, now, atOnce) => adminTokenPrune(db, now, atOnce).catch(noneIfDenied),
  },
  bulkForgotten: {
    tables: ['bulk_operation', 'bulk_item'],
    atOnce: 5_000,
    forget: (db, now, atOnce) => bulkPrune(db, now, 30 * DAY_MS, atOnce).catch(noneIfDenied),
  },
  escalationsForgotten: {
    tables: ['escalation'],
    atOnce: 5_000,
    forget: (db, now, atOnce) => escalationPrune(db, now, 90 * DAY_MS, atOnce),
  },
  workflowsForgotten: {
    tables: ['workflow'],
    // As long as there was one, there may be another.
    atOnce: 1,
    forget: (db, now) => workflowPrune(db, now, WORKFLOW_ROWS_AT_ONCE),
  },
} as const satisfies Readonly<Record<string, Retention>>

export type Forgotten = Record<keyof typeof RETENTIONS, number>

const entries = Object.entries(RETENTIONS) as [keyof Forgotten, Retention][]

export async function forgetAll(db: Database, now: Now): Promise<Forgotten> {
  const forgotten: Partial<Forgotten> = {}
  for (const [name, { atOnce, forget }] of entries) forgotten[name] = await forget(db, now, atOnce)
  return forgotten as Forgotten
}

export const isMoreToForget = (forgotten: Forgotten): boolean =>
  entries.some(([name, { atOnce }]) => forgotten[name] >= atOnce)

/** Without rights on newer tables. Of the catalogue, the worker has said so when it started. */
function noneIfDenied(error: unknown): number {
  if (!isPermissionDenied(error)) throw error
  return 0
}
