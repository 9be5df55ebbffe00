// A schedule as people see it: what it does, when it is next, and whether all is well with it.

import type { Registry } from '../contract/registry.ts'
import type { ScheduleSettings } from '../schedule/define.ts'
import { describe } from '../schedule/describe.ts'
import { firstFire } from '../schedule/due.ts'
import { latestOf, type Timing } from '../schedule/timing.ts'
import type { Session } from '../store/db.ts'
import { lookAt } from '../store/ended-jobs.ts'
import { scheduleRecentJobs, type TickOutcome } from '../store/schedule-ticks.ts'
import { type ListedRow, type ScheduleSource, timingInForce } from '../store/schedules.ts'
import { shown } from './protect.ts'

/**
 * 'orphaned': workers live, but the code of none declares it, or none runs its job type: it does not fire.
 * 'finished': its timing has no more fire times.
 */
export type ScheduleStatus = 'active' | 'paused' | 'orphaned' | 'finished'

export interface ScheduleState {
  name: string
  jobType: string
  source: ScheduleSource
  status: ScheduleStatus
  timing: Timing
  /** The timing in a sentence. */
  description: string
  options: ScheduleSettings
  /** Somebody has set another timing than the code's. */
  isEdited: boolean
  /** Of one that was created at run time. Secrets are not shown. */
  payload: unknown
  /** The next fire time, or the first after the pause. Null: none, or nobody knows when the pause ends. */
  nextAt: Date | null
  /**
   * For how long it should have been ticked, whoever is to blame: no worker, or none that can. 0: it is not due, or paused.
   * Workers that live are late by some milliseconds.
   */
  overdueMs: number
  /** The last fire time for which jobs were enqueued. */
  lastFireAt: Date | null
  lastTick: { fireAt: Date; outcome: TickOutcome; reason: string | null; latenessMs: number } | null
  /** Failed ticks in a row. */
  failures: number
  /** Fire times that passed without a tick, since ever. */
  missed: number
  /** It was created at run time, and the code of a living worker declares one of the same name, which does not fire. */
  hidesCode: boolean
  pause: { reason: string; by: string; at: Date; until: Date | null } | null
  /** Its last jobs, newest first: 'live' waits or runs, 'unknown' is gone from the archive. None with `perTenant`. */
  lastJobs: { id: string; status: 'live' | 'completed' | 'cancelled' | 'dead' | 'unknown' }[]
  /** So many of its last jobs died one after another. */
  deadInARow: number
  /** When a worker last declared it, and which. */
  declaredAt: Date | null
  declaredBy: string | null
  createdAt: Date
  updatedAt: Date
  updatedBy: string
}

const JOBS_OF_EACH = 5
const DEADLINE_MS = 15_000

export async function scheduleStates(
  session: Session,
  registry: Registry,
  rows: readonly ListedRow[],
): Promise<ScheduleState[]> {
  const names = rows.map(({ name }) => name)
  const recent = await scheduleRecentJobs(session, names, JOBS_OF_EACH)
  const ids = [...recent.values()].flat()
  const seen = ids.length === 0 ? new Map() : await lookAt(session, ids, DEADLINE_MS)
  return rows.map((row) => {
    const lastJobs = (recent.get(row.name) ?? []).map((id) => {
      const job = seen.get(id)
      return { id, status: job === undefined ? 'unknown' : (job.ended?.status ?? 'live') }
    })
    return { ...stateOf(row, lastJobs), payload: shown(registry, row.jobType, row.payload) }
  })
}

function stateOf(row: ListedRow, lastJobs: ScheduleState['lastJobs']): Omit<ScheduleState, 'payload'> {
  const { name, jobType, source, failures, missed, lastFireAt } = row
  const { declaredAt, declaredBy, createdAt, updatedAt, updatedBy } = row
  const timing = timingInForce(row)
  const nextAt = row.pausedAt === null ? row.nextAt : row.pausedUntil && firstFire(timing, row.pausedUntil)
  const ended = lastJobs.filter(({ status }) => status !== 'live')
  const firstAlive = ended.findIndex(({ status }) => status !== 'dead')
  return {
    ...{ name, jobType, source, status: statusOf(row), timing: latestOf(timing) },
    description: describe(latestOf(timing)),
    isEdited: row.editedTiming !== null,
    options: row.options,
    nextAt,
    overdueMs: nextAt === null ? 0 : Math.max(0, row.now.getTime() - nextAt.getTime()),
    lastFireAt,
    lastTick: row.lastTick && {
      ...row.lastTick,
      fireAt: new Date(row.lastTick.fireAt),
      outcome: row.lastTick.outcome as TickOutcome,
    },
    ...{ failures, missed },
    hidesCode: row.hidesCode,
    pause: pauseOf(row),
    lastJobs,
    deadInARow: firstAlive === -1 ? ended.length : firstAlive,
    ...{ declaredAt, declaredBy, createdAt, updatedAt, updatedBy },
  }
}

function statusOf(row: ListedRow): ScheduleStatus {
  if (row.hasWorkers && !row.isDeclared) return 'orphaned'
  if (row.pausedAt !== null && (row.pausedUntil === null || row.pausedUntil > row.now)) return 'paused'
  return row.pausedAt === null && row.nextAt === null ? 'finished' : 'active'
}

function pauseOf({ pausedAt, pausedUntil, pausedBy, pauseReason }: ListedRow): ScheduleState['pause'] {
  if (pausedAt === null) return null
  return { reason: pauseReason as string, by: pausedBy as string, at: pausedAt, until: pausedUntil }
}
