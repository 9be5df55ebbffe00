// Events of which other processes are told.
import type { Session } from './db.ts'

export interface NewNotice {
  event: string
  /** What it is about. */
  subject: string
  facts: object
  /** The client that raises it. */
  origin: string
}

/** Writes nothing if the subject was told within the last `quietMs`, by any process. */
export async function noticeRaise(session: Session, notice: NewNotice, quietMs: number): Promise<void> {
  const { event, subject, facts, origin } = notice
  await session.run('noticeRaise', [event, subject, JSON.stringify(facts), origin, quietMs])
}

export interface Notice {
  id: string
  event: string
  facts: object
}

/** What other clients raised in the last `sinceMs`. */
export async function noticeList(session: Session, origin: string, sinceMs: number): Promise<Notice[]> {
  return session.run<Notice>('noticeList', [sinceMs, origin])
}
