// The ticks of schedules: what is due, and what became of each fire time.
import type { Now } from '../clock.ts'
import type { Missed } from '../schedule/due.ts'
import { plainArray, textArray } from './arrays.ts'
import type { Session } from './db.ts'

export type TickOrigin = 'due' | 'manual' | 'backfill'
export type TickOutcome = 'running' | 'enqueued' | 'skipped' | 'failed' | 'missed'

/** After that they are forgotten, and nobody can tell whether a fire time was ticked. */
export const TICKS_KEPT_MS = 30 * 86_400_000

export interface ScheduleTick {
  id: string
  fireAt: Date
  /** 'manual': somebody ran it by hand. */
  origin: TickOrigin
  /** 'running': it is paging through tenants. */
  outcome: TickOutcome
  reason: string | null
  /** The job, or the one that stood in its way. Null where there are several. */
  jobId: string | null
  jobs: number
  /** Tenants for which nothing was enqueued, although the payload did not skip them. */
  refused: number
  /** So many fire times passed without a tick, from `fireAt` to `missedTo`. */
  missed: number
  missedTo: Date | null
  /** From the fire time to the tick, by the database's clock. */
  latenessMs: number
  by: string | null
  at: Date
}

/** What a process can tick. */
export interface Knowledge {
  /** Schedules of its code. */
  names: readonly string[]
  /** Job types it runs, for schedules that were created at run time. */
  types: readonly string[]
  /** Who it is, a uuid. */
  processId: string
  /** What it leaves alone for now. */
  except: { names: readonly string[]; tickIds: readonly string[] }
}

export interface ScheduleLook {
  now: Date
  /** The most urgent first; due from 0 down. */
  schedules: { name: string; inMs: number }[]
  /** Ticks under way, and in how long somebody else may go on with them. */
  running: { id: string; inMs: number }[]
}

export async function scheduleLook(session: Session, now: Now, known: Knowledge, limit: number): Promise<ScheduleLook> {
  const { names, types, processId, except } = known
  const leftAlone = [textArray(except.names), plainArray(except.tickIds)]
  const values = [now, textArray(names), textArray(types), processId, limit, ...leftAlone]
  const [look] = await session.run<ScheduleLook>('scheduleLook', values)
  return look as ScheduleLook
}

export interface Advance {
  name: string
  revision: string
  nextAt: Date | undefined
  fireAt: Date | undefined
  missed: Missed | undefined
}

export interface NewTick {
  /** Null: nothing is fired, or a backfill has done it. */
  tickId: string | null
  latenessMs: number | null
}

/** Undefined: somebody else did it. */
export async function scheduleAdvance(tx: Session, now: Now, advance: Advance): Promise<NewTick | undefined> {
  const { name, revision, nextAt, fireAt, missed } = advance
  const values = [now, name, revision, nextAt, fireAt, missed?.from, missed?.to, missed?.count ?? 0]
  const [tick] = await tx.run<NewTick>(
    'scheduleAdvance',
    values.map((value) => value ?? null),
  )
  return tick
}

/** Somebody may hold a key that the job of a tick needs: then it is tried again later, and others go on. */
export async function scheduleTickHurry(tx: Session): Promise<void> {
  await tx.run('scheduleTickHurry', [])
}

export interface AskedTick {
  schedule: string
  fireAt: Date
  origin: 'manual' | 'backfill'
  author: string
  previousFireAt: Date | null
}

/** Undefined: that fire time was ticked before. */
export async function scheduleTickInsert(tx: Session, now: Now, asked: AskedTick): Promise<NewTick | undefined> {
  const { schedule, fireAt, origin, author, previousFireAt } = asked
  const [tick] = await tx.run<NewTick>('scheduleTickInsert', [now, schedule, fireAt, origin, author, previousFireAt])
  return tick
}

export interface TickResult {
  outcome: TickOutcome
  reason: string | null
  jobId: string | null
  /** Added to those of the pages before. */
  jobs: number
  refused: number
}

export const NO_JOBS = { reason: null, jobId: null, jobs: 0, refused: 0 }

export async function scheduleTickSettle(tx: Session, tickId: string, result: TickResult): Promise<void> {
  const { outcome, reason, jobId, jobs, refused } = result
  await tx.run('scheduleTickSettle', [tickId, outcome, reason, jobId, jobs, refused])
}

export interface TickUnderWay {
  schedule: string
  fireAt: Date
  previousFireAt: Date | null
  origin: TickOrigin
  latenessMs: number
  tenantCursor: string | null
  jobs: number
  refused: number
}

/** Undefined: it is done, or somebody else is at it. */
export async function scheduleTickClaim(
  session: Session,
  now: Now,
  claim: { tickId: string; processId: string; leaseMs: number },
): Promise<TickUnderWay | undefined> {
  const { tickId, processId, leaseMs } = claim
  const [tick] = await session.run<TickUnderWay>('scheduleTickClaim', [now, tickId, processId, leaseMs])
  return tick
}

/** False: somebody else did this page. */
export async function scheduleTickPage(
  tx: Session,
  tickId: string,
  cursor: { from: string | null; to: string | null },
): Promise<boolean> {
  return (await tx.run('scheduleTickPage', [tickId, cursor.from, cursor.to])).length > 0
}

/** Newest first. */
export function scheduleTicks(session: Session, schedule: string, limit: number): Promise<ScheduleTick[]> {
  return session.run('scheduleTicks', [schedule, limit])
}

/** The fire times of a range that need no backfill, in milliseconds. */
export async function scheduleTicked(session: Session, schedule: string, from: Date, to: Date): Promise<Set<number>> {
  const rows = await session.run<{ fireAt: Date }>('scheduleTicked', [schedule, from, to])
  return new Set(rows.map(({ fireAt }) => fireAt.getTime()))
}

/** Ids of the last jobs of schedules, newest first, by name. */
export async function scheduleRecentJobs(
  session: Session,
  names: readonly string[],
  each: number,
): Promise<ReadonlyMap<string, string[]>> {
  const rows = await session.run<{ schedule: string; jobId: string }>('scheduleRecentJobs', [textArray(names), each])
  const byName = new Map<string, string[]>()
  for (const { schedule, jobId } of rows) byName.set(schedule, [...(byName.get(schedule) ?? []), jobId])
  return byName
}

export async function scheduleTickPrune(session: Session, now: Now, ageMs: number, limit: number): Promise<number> {
  return (await session.run('scheduleTickPrune', [now, ageMs, limit])).length
}
