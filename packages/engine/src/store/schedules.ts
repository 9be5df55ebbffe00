// Schedules: what they are, when they are next, who changed them.
import type { Now } from '../clock.ts'
import type { ScheduleSettings } from '../schedule/define.ts'
import type { StoredTiming } from '../schedule/timing.ts'
import type { When } from '../schedule/when.ts'
import { textArray } from './arrays.ts'
import type { Session } from './db.ts'

export type ScheduleSource = 'code' | 'runtime'

/** What a change reads and writes. */
export interface ScheduleRow {
  name: string
  jobType: string
  source: ScheduleSource
  cadence: When
  timing: StoredTiming
  /** What somebody has set instead, for a schedule of the code. */
  editedTiming: StoredTiming | null
  options: ScheduleSettings
  payload: unknown
  nextAt: Date | null
  lastFireAt: Date | null
  pausedAt: Date | null
  pausedUntil: Date | null
  pausedBy: string | null
  pauseReason: string | null
  revision: string
  /** The moment of this look, by the database's clock. */
  now: Date
}

export interface ListedRow extends ScheduleRow {
  failures: number
  missed: number
  declaredAt: Date | null
  declaredBy: string | null
  createdAt: Date
  updatedAt: Date
  updatedBy: string
  /** By the code of a living worker. */
  isDeclared: boolean
  hasWorkers: boolean
  hidesCode: boolean
  lastTick: { fireAt: string; outcome: string; reason: string | null; latenessMs: number } | null
}

/** The timing in force. */
export const timingInForce = ({ timing, editedTiming }: Pick<ScheduleRow, 'timing' | 'editedTiming'>): StoredTiming =>
  editedTiming ?? timing

export function scheduleList(session: Session, now: Now, names: readonly string[] | null): Promise<ListedRow[]> {
  return session.run('scheduleList', [now, names === null ? null : textArray(names)])
}

export async function scheduleGet(session: Session, now: Now, names: readonly string[]): Promise<ScheduleRow[]> {
  return session.run('scheduleGet', [now, textArray(names)])
}

/** The database's time, which decides what is due. */
export async function clockRead(session: Session, now: Now): Promise<Date> {
  const [row] = await session.run<{ now: Date }>('clockRead', [now])
  return (row as { now: Date }).now
}

/** By name, in the transaction that changes them. */
export async function scheduleLock(
  tx: Session,
  now: Now,
  names: readonly string[],
): Promise<ReadonlyMap<string, ScheduleRow>> {
  const rows = await tx.run<ScheduleRow>('scheduleLock', [now, textArray(names)])
  return new Map(rows.map((row) => [row.name, row]))
}

export type NewSchedule = Pick<
  ScheduleRow,
  'name' | 'jobType' | 'source' | 'cadence' | 'timing' | 'options' | 'payload' | 'nextAt' | 'pauseReason'
>

/** False: there is one of that name. */
export async function scheduleInsert(session: Session, now: Now, schedule: NewSchedule, by: string): Promise<boolean> {
  const { name, jobType, source, cadence, timing, options, payload, nextAt, pauseReason } = schedule
  const values = [now, name, jobType, source, json(cadence), json(timing), json(options), json(payload), nextAt]
  return (await session.run('scheduleInsert', [...values, by, pauseReason])).length > 0
}

/** False: somebody has changed it meanwhile. */
export async function scheduleWrite(session: Session, now: Now, row: ScheduleRow, by: string): Promise<boolean> {
  const values = [
    now,
    row.name,
    row.revision,
    row.jobType,
    json(row.cadence),
    json(row.timing),
    json(row.editedTiming),
    json(row.options),
    json(row.payload),
    row.nextAt,
    row.pausedAt,
    row.pausedUntil,
    row.pausedBy,
    row.pauseReason,
    by,
  ]
  return (await session.run('scheduleWrite', values)).length > 0
}

export async function scheduleDeclared(tx: Session, now: Now, names: readonly string[], by: string): Promise<void> {
  await tx.run('scheduleDeclared', [now, textArray(names), by])
}

export interface FoundSchedule {
  name: string
  jobType: string
  payload: unknown
  /** Null: its jobs have none, or theirs is in the payload, or there is one of each tenant. */
  tenant: string | null
  isPerTenant: boolean
}

/** Schedules of run time, of this type and with a payload that contains this JSON text. */
export function scheduleFind(
  session: Session,
  { type, where }: { type: string | null; where: string | null },
): Promise<FoundSchedule[]> {
  return session.run('scheduleFind', [type, where])
}

/** False: there is none. */
export async function scheduleRemove(session: Session, name: string): Promise<boolean> {
  return (await session.run('scheduleRemove', [name])).length > 0
}

const json = (value: unknown): string | null => (value === null ? null : JSON.stringify(value))
