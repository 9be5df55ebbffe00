// The history of jobs: which types have one, the triggers that write it while any does, and reading it.
import type { Now } from '../clock.ts'
import { textArray } from './arrays.ts'
import { type Database, qualified, type Session } from './db.ts'
import type { Job } from './jobs.ts'
import type { Transaction } from './transaction.ts'

export interface HistorySetting {
  type: string
  isOn: boolean
  /** 'contract': a worker has declared it. */
  setBy: string
  setAt: Date
}

export type JobEventName =
  | 'enqueued'
  | 'claimed'
  | 'retried'
  | 'snoozed'
  | 'given_back'
  | 'rescued'
  | 'blocked'
  | 'admitted'
  | 'made_due'
  | 'put_off'
  | 'prioritised'
  | 'boosted'
  | 'replaced'
  | 'cancel_requested'
  | 'completed'
  | 'cancelled'
  | 'dead'

type StoredStatus = Exclude<Job['status'], 'failed'>

export interface JobEvent {
  /** When the transaction began in which it happened. */
  at: Date
  event: JobEventName
  /** Null before the first. */
  fromStatus: StoredStatus | null
  toStatus: StoredStatus
  attempt: number
  /** The run that began or ended, and the worker whose it was. */
  runId: string | null
  workerId: string | null
  /** When the job is due, if it waits now. */
  dueAt: Date | null
  /** Who did it, if it was a person or program that gave a name. */
  by: string | null
  /** The reason of a cancellation or death, the two priorities. */
  detail: string | null
}

export interface HistoryStanding {
  isDeclared: boolean
  isWanted: boolean
  isKept: boolean
  isLeft: boolean
}

export function jobEvents(session: Session, jobId: string): Promise<JobEvent[]> {
  return session.run('jobEvents', [jobId])
}

/** The history of the jobs that this transaction changes names `by`. */
export async function historyBy(tx: Session, by: string): Promise<void> {
  await tx.run('historyBy', [by])
}

export function historyList(session: Session): Promise<HistorySetting[]> {
  return session.run('historyList', [])
}

export async function historyDeclare(session: Session, now: Now, types: readonly string[]): Promise<void> {
  await session.run('historyDeclare', [now, textArray(types), 'contract'])
}

export async function historySet(session: Session, now: Now, setting: Omit<HistorySetting, 'setAt'>): Promise<void> {
  await session.run('historySet', [now, setting.type, setting.isOn, setting.setBy])
}

export async function historyStanding(session: Session, types: readonly string[]): Promise<HistoryStanding> {
  const [row] = await session.run<HistoryStanding>('historyStanding', [textArray(types)])
  return row as HistoryStanding
}

/** What has to be run by somebody who may, for the history to be written. */
export function historyTriggers(db: Database): string[] {
  const make = (name: string, on: string, tables: string) =>
    `create or replace trigger ${name} after ${on} referencing ${tables} for each statement execute function ${qualified(db, name)}()`
  const [job, archive] = [qualified(db, 'job'), qualified(db, 'job_archive')]
  return [
    make('job_event_enqueued', `insert on ${job}`, 'new table as enqueued'),
    make('job_event_changed', `update on ${job}`, 'old table as was new table as became'),
    make('job_event_ended', `insert on ${archive}`, 'new table as ended'),
  ]
}

const DEADLINE_MS = 10_000

/**
 * Changes settings, and makes or drops the triggers as the settings then say. The locks are waited for briefly: while one is
 * waited for, enqueues wait behind it. Whoever does the same at that moment comes after us.
 */
export async function changeHistory(db: Database, change: (tx: Transaction) => Promise<void>): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.query(`set local lock_timeout = '200ms'`)
    await tx.query(`lock table ${qualified(db, 'history_setting')} in share row exclusive mode`)
    await change(tx)
    const { isWanted, isKept, isLeft } = await historyStanding(tx, [])
    if (isWanted && !isKept) for (const trigger of historyTriggers(db)) await tx.query(trigger)
    if (!isWanted && isLeft) {
      const [job, archive] = [qualified(db, 'job'), qualified(db, 'job_archive')]
      await tx.query(`drop trigger if exists job_event_ended on ${archive}`)
      await tx.query(`drop trigger if exists job_event_changed on ${job}`)
      await tx.query(`drop trigger if exists job_event_enqueued on ${job}`)
    }
  }, DEADLINE_MS)
}
