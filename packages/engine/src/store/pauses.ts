// Pauses of queues, types and tenants.
import type { Now } from '../clock.ts'
import type { Session } from './db.ts'

/** At least one of them; what belongs to all that are named is paused. */
export interface PauseTarget {
  queue?: string | null
  type?: string | null
  tenant?: string | null
}

export interface Pause {
  queue: string | null
  type: string | null
  tenant: string | null
  reason: string
  by: string
  createdAt: Date
  expiresAt: Date | null
}

export async function pauseSet(
  session: Session,
  now: Now,
  pause: PauseTarget & { reason: string; by: string; forMs: number | null },
): Promise<Pause> {
  const { queue = null, type = null, tenant = null, reason, by, forMs } = pause
  const [row] = await session.run<Pause>('pauseSet', [now, queue, type, tenant, reason, by, forMs])
  return row as Pause
}

/** Without an author: those of every author. */
export function pauseEnd(session: Session, now: Now, target: PauseTarget & { by: string | null }): Promise<Pause[]> {
  const { queue = null, type = null, tenant = null, by } = target
  return session.run<Pause>('pauseEnd', [now, queue, type, tenant, by])
}

export function pauseList(session: Session, now: Now): Promise<Pause[]> {
  return session.run('pauseList', [now])
}

export async function pausePrune(session: Session, now: Now): Promise<void> {
  await session.run('pausePrune', [now])
}
