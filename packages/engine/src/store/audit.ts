// Who changed what, and what was refused to whom.
import type { Now } from '../clock.ts'
import type { Session } from './db.ts'

export interface AuditEntry {
  id: string
  at: Date
  by: string
  /** Noun and verb: 'queue.pause', 'tenant.suspend', 'job.erase'. */
  action: string
  target: string | null
  tenant: string | null
  details: unknown
}

export type NewAuditEntry = Pick<AuditEntry, 'by' | 'action'> &
  Partial<Pick<AuditEntry, 'target' | 'tenant' | 'details'>>

/** In the session of the change: either both are there or neither. */
export async function auditWrite(session: Session, now: Now, entry: NewAuditEntry): Promise<void> {
  const { by, action, target = null, tenant = null, details } = entry
  const json = details === undefined ? null : JSON.stringify(details)
  await session.run('auditWrite', [now, by, action, target, tenant, json])
}

/** Newest first. */
export function auditList(session: Session, filter: { tenant?: string; limit?: number } = {}): Promise<AuditEntry[]> {
  return session.run('auditList', [filter.tenant ?? null, filter.limit ?? 100])
}
