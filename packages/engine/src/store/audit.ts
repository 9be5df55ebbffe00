// Who changed what, and what was refused to whom.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Now } from '../clock.ts'
import type { Session } from './db.ts'

export interface AuditEntry {
  id: string
  at: Date
  by: string
  /** Noun and verb: 'pause.set', 'tenant.suspend', 'job.cancel'. */
  action: string
  target: string | null
  tenant: string | null
  details: unknown
  /** From where: an address, or the name of a program. Null: it does not say. */
  source: string | null
  requestId: string | null
}

/** Where the changes that a request makes come from: every entry that is written meanwhile carries it. */
export interface AuditOrigin {
  readonly source?: string
  readonly requestId?: string
}

export const auditOrigin = new AsyncLocalStorage<AuditOrigin>()

export type NewAuditEntry = Pick<AuditEntry, 'by' | 'action'> &
  Partial<Pick<AuditEntry, 'target' | 'tenant' | 'details'>>

export interface AuditFilter {
  tenant?: string
  by?: string
  action?: string
  target?: string
  /** Only entries older than this one: the id of the last entry of the page before. */
  before?: string
}

/** In the session of the change: either both are there or neither. */
export async function auditWrite(session: Session, now: Now, ...entries: readonly NewAuditEntry[]): Promise<void> {
  const { source = null, requestId = null } = auditOrigin.getStore() ?? {}
  if (entries.length > 0) await session.run('auditWrite', [now, JSON.stringify(entries), source, requestId])
}

/** Newest first. */
export function auditList(session: Session, filter: AuditFilter, limit: number): Promise<AuditEntry[]> {
  const { tenant = null, by = null, action = null, target = null, before = null } = filter
  return session.run('auditList', [limit, tenant, by, action, target, before])
}

export async function auditPrune(session: Session, now: Now, ageMs: number, limit: number): Promise<number> {
  return (await session.run('auditPrune', [now, ageMs, limit])).length
}
