// What an edit makes of a schedule. Pure: whoever calls it holds the row.
import type { JobContract } from '../contract/job.ts'
import { checkedPayload } from '../contract/payload.ts'
import { InvalidDefinition } from '../errors.ts'
import { type ScheduleOptions, settingsOf } from '../schedule/define.ts'
import { afterEdit, firstFire } from '../schedule/due.ts'
import { latestOf } from '../schedule/timing.ts'
import { timingOf, type When } from '../schedule/when.ts'
import { type ScheduleRow, timingInForce } from '../store/schedules.ts'
import type { By } from './schedule-backfill.ts'

export interface ScheduleEdit extends ScheduleOptions, By {
  /** Null: what the code says counts again. */
  when?: When | null
  /** Only of one that was created at run time. */
  payload?: unknown
}

/** An edit of what the code declares stands beside it, so that it can be taken back. */
export function withTiming(row: ScheduleRow, when: When | null): ScheduleRow {
  if (row.source === 'code') {
    if (when === null)
      return { ...row, ...afterEdit(timingInForce(row), latestOf(row.timing), row), editedTiming: null }
    const { timing: editedTiming, nextAt } = afterEdit(timingInForce(row), timingOf(when, row), row)
    return { ...row, editedTiming, nextAt }
  }
  if (when === null)
    throw new InvalidDefinition(`Schedule "${row.name}" is in no code: give it another timing, or remove it.`)
  return { ...row, cadence: when, ...afterEdit(row.timing, timingOf(when, row), row) }
}

/** What would have fired meanwhile was not missed: somebody wanted it so. It counts from the end of the pause on. */
export function withoutPause(row: ScheduleRow): ScheduleRow {
  const { now, pausedUntil } = row
  const end = pausedUntil !== null && pausedUntil < now ? pausedUntil : now
  const nextAt = firstFire(timingInForce(row), end)
  return { ...row, nextAt, pausedAt: null, pausedUntil: null, pausedBy: null, pauseReason: null }
}

export function withOptions(
  row: ScheduleRow,
  contract: JobContract,
  { payload = row.payload, ...options }: ScheduleOptions & { payload?: unknown },
): ScheduleRow {
  const { jitterMs, tenant, priority, ...kept } = row.options
  const before = {
    ...kept,
    jitter: jitterMs,
    ...(tenant !== null && { tenant }),
    ...(priority !== null && { priority }),
  }
  return { ...row, payload, options: settingsOf(row.name, contract, { ...before, ...options }) }
}

/** As an enqueue would check it; and what a schedule stores is not encrypted. */
export async function checkStored(name: string, contract: JobContract, payload: unknown): Promise<void> {
  if (contract.sensitive.length > 0) {
    throw new InvalidDefinition(
      `Job "${contract.type}" is sensitive, and payloads of schedules are stored in plain text. Declare schedule "${name}" in code, with defineSchedule.`,
    )
  }
  await checkedPayload(contract, payload)
}
