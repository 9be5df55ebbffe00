// What was set at run time about tenants, pauses and limits, as claims need it.
import type { Session } from './db.ts'

export type TenantStatus = 'active' | 'suspended' | 'deleted'

export interface TenantRule {
  readonly name: string
  readonly status: TenantStatus
  readonly weight: number
  readonly minSlots: number
  readonly maxSlots: number | null
  readonly reason: string | null
}

/** What was set for a tenant in one queue. */
export interface SlotsRule {
  readonly tenant: string
  readonly queue: string
  /** Null: the tenant's own holds. */
  readonly minSlots: number | null
  readonly maxSlots: number | null
  /** False: the tenant's own maximum holds. */
  readonly setsMax: boolean
}

export interface PauseRule {
  readonly queue: string | null
  readonly type: string | null
  readonly tenant: string | null
  readonly reason: string
  readonly by: string
  readonly sinceMs: number
  readonly untilMs: number | null
}

export interface LimitRule {
  readonly name: string
  readonly running: number | null
  readonly rateJobs: number | null
  readonly rateMs: number | null
}

export interface LoadedRules {
  readonly version: number
  /** Only those that differ from what every tenant has. */
  readonly tenants: readonly TenantRule[] | null
  readonly slots: readonly SlotsRule[] | null
  readonly pauses: readonly PauseRule[] | null
  readonly limits: readonly LimitRule[] | null
}

export async function rulesLoad(session: Session): Promise<LoadedRules> {
  const [row] = await session.run<LoadedRules>('rulesLoad', [])
  return row as LoadedRules
}

export async function rulesChanged(session: Session): Promise<void> {
  await session.run('rulesChanged', [])
}
