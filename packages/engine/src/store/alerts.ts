// Alerts as they stand, and silences.
import type { Now } from '../clock.ts'
import type { QueueOwner } from '../contract/queue-facts.ts'
import { textArray } from './arrays.ts'
import type { Session } from './db.ts'

export type AlertSeverity = 'info' | 'notice' | 'warning' | 'critical'

export interface AlertRow {
  name: string
  subject: string
  severity: AlertSeverity
  summary: string
  action: string
  link: string | null
  why: string
  value: number
  threshold: number
  queues: readonly string[]
  owner: QueueOwner | null
  since: Date
  firedAt: Date | null
  toldAt: Date | null
  clearedAt: Date | null
  seenAt: Date
}

/** Of these rules, or of all. */
export function alertList(session: Session, { names }: { names?: readonly string[] } = {}): Promise<AlertRow[]> {
  return session.run('alertList', [names === undefined ? null : textArray(names)])
}

export async function alertWrite(session: Session, rows: readonly AlertRow[]): Promise<void> {
  if (rows.length === 0) return
  const written = rows.map((row) => ({
    ...row,
    fired_at: row.firedAt,
    told_at: row.toldAt,
    cleared_at: row.clearedAt,
    seen_at: row.seenAt,
  }))
  await session.run('alertWrite', [JSON.stringify(written)])
}

export async function alertForget(
  session: Session,
  now: Now,
  gone: readonly Pick<AlertRow, 'name' | 'subject'>[],
  keepMs: number,
): Promise<void> {
  const names = textArray(gone.map(({ name }) => name))
  await session.run('alertForget', [now, names, textArray(gone.map(({ subject }) => subject)), keepMs])
}

export interface AlertSilence {
  readonly name: string
  /** Null: every subject of the rule. */
  readonly subject: string | null
  readonly reason: string
  readonly by: string
  readonly createdAt: Date
  readonly until: Date
}

export interface NewSilence {
  name: string
  subject: string | null
  reason: string
  by: string
  until: Date | null
  /** Where `until` is null. */
  forMs: number | null
}

export async function alertSilenceSet(session: Session, now: Now, silence: NewSilence): Promise<AlertSilence> {
  const { name, subject, reason, by, until, forMs } = silence
  const [row] = await session.run<AlertSilence>('alertSilenceSet', [now, name, subject, reason, by, until, forMs])
  return row as AlertSilence
}

/** Undefined: there was none. */
export async function alertSilenceEnd(
  session: Session,
  now: Now,
  { name, subject }: { name: string; subject: string | null },
): Promise<AlertSilence | undefined> {
  const [row] = await session.run<AlertSilence>('alertSilenceEnd', [now, name, subject])
  return row
}

export function alertSilenceList(session: Session, now: Now): Promise<AlertSilence[]> {
  return session.run('alertSilenceList', [now])
}
