// Tenants: what is known about them, and how many jobs they have.
import { textArray } from './arrays.ts'
import type { Session } from './db.ts'
import type { TenantStatus } from './rules.ts'

export interface Tenant {
  name: string
  status: TenantStatus
  /** Its share of the slots, against other tenants. */
  weight: number
  /** It gets so many slots before the others get more than theirs. */
  minSlots: number
  /** It holds at most so many slots of a queue at once; null: as many as are free. */
  maxSlots: number | null
  reason: string | null
  createdAt: Date
  updatedAt: Date
  updatedBy: string | null
}

export interface TenantChange {
  status?: TenantStatus
  weight?: number
  minSlots?: number
  maxSlots?: number | null
  reason?: string | null
}

export async function tenantSet(session: Session, name: string, change: TenantChange, by: string): Promise<Tenant> {
  const { status = null, weight = null, minSlots = null, maxSlots, reason = null } = change
  const isUnset = maxSlots === null
  const values = [name, status, weight, minSlots, maxSlots ?? null, isUnset, reason, by]
  const [row] = await session.run<Tenant>('tenantSet', values)
  return row as Tenant
}

export interface TenantFilter {
  names?: readonly string[]
  status?: TenantStatus
  /** Names after this one. */
  behind?: string
  limit?: number
}

export function tenantList(session: Session, filter: TenantFilter): Promise<Tenant[]> {
  const { names, status = null, behind = null, limit = 100 } = filter
  return session.run('tenantList', [names === undefined ? null : textArray(names), status, behind, limit])
}

export type OnExcess = 'warn' | 'reject' | 'defer'

export interface SeenTenant {
  name: string
  status: TenantStatus
  reason: string | null
  limits: readonly (readonly [queue: string, maxJobs: number, onExcess: OnExcess])[] | null
  /** It was registered by this look at it. */
  isNew: boolean
}

/** Of tenants about which there is something to say. */
export function tenantSeen(session: Session, names: readonly string[]): Promise<SeenTenant[]> {
  return session.run('tenantSeen', [textArray(names)])
}

/** Of those that the session's transaction sees. */
export function tenantKnown(session: Session, names: readonly string[]): Promise<SeenTenant[]> {
  return session.run('tenantKnown', [textArray(names)])
}

export async function tenantJobs(session: Session, tenant: string): Promise<string[]> {
  const rows = await session.run<{ id: string }>('tenantJobs', [tenant])
  return rows.map(({ id }) => id)
}

/** Ids of waiting jobs of deleted tenants. */
export async function tenantLeftovers(session: Session, limit: number): Promise<string[]> {
  return (await session.run<{ id: string }>('tenantLeftovers', [limit])).map(({ id }) => id)
}

export async function tenantCount(session: Session, queue: string, tenant: string, atMost: number): Promise<number> {
  const [row] = await session.run<{ jobs: number }>('tenantCount', [queue, tenant, atMost])
  return row?.jobs ?? 0
}

export async function tenantQueueSet(
  session: Session,
  limit: { tenant: string; queue: string; maxJobs: number; onExcess: OnExcess; by: string },
): Promise<void> {
  await session.run('tenantQueueSet', [limit.tenant, limit.queue, limit.maxJobs, limit.onExcess, limit.by])
}

/** False: none was set. */
export async function tenantQueueUnset(session: Session, tenant: string, queue: string): Promise<boolean> {
  return (await session.run('tenantQueueUnset', [tenant, queue])).length > 0
}

export interface SlotsChange {
  minSlots?: number
  /** Null: as many as are free. */
  maxSlots?: number | null
}

export async function tenantSlotsSet(
  session: Session,
  { tenant, queue, by }: { tenant: string; queue: string; by: string },
  { minSlots, maxSlots }: SlotsChange,
): Promise<void> {
  const values = [tenant, queue, minSlots ?? null, maxSlots ?? null, maxSlots !== undefined, by]
  await session.run('tenantSlotsSet', values)
}

/** False: none were set. */
export async function tenantSlotsUnset(session: Session, tenant: string, queue: string): Promise<boolean> {
  return (await session.run('tenantSlotsUnset', [tenant, queue])).length > 0
}

/** The slots of a tenant in a queue for which some were set; what was not set is the tenant's own. */
export interface TenantSlots {
  queue: string
  minSlots: number
  /** Null: as many as are free. */
  maxSlots: number | null
  updatedAt: Date
  updatedBy: string
}

export function tenantSlotsList(session: Session, tenant: string): Promise<TenantSlots[]> {
  return session.run('tenantSlotsList', [tenant])
}

export interface TenantLimit {
  queue: string
  jobs: number
  over: OnExcess
  updatedAt: Date
  updatedBy: string
}

export function tenantQueueList(session: Session, tenant: string): Promise<TenantLimit[]> {
  return session.run('tenantQueueList', [tenant])
}
