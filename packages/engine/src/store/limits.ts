// Limits as they were set at run time, and what is used of them.
import type { Now } from '../clock.ts'
import type { Rate } from '../contract/limit.ts'
import { textArray } from './arrays.ts'
import type { Session } from './db.ts'
import type { RateSpent, Standing } from './governed-claims.ts'

export interface LimitSetting {
  name: string
  running: number | null
  rateJobs: number | null
  rateMs: number | null
  updatedAt: Date
  updatedBy: string
}

export async function limitSet(
  session: Session,
  name: string,
  limit: { running: number | undefined; rate: Rate | undefined },
  by: string,
): Promise<void> {
  const { running = null, rate } = limit
  await session.run('limitSet', [name, running, rate?.jobs ?? null, rate?.perMs ?? null, by])
}

export async function limitUnset(session: Session, name: string): Promise<boolean> {
  return (await session.run('limitUnset', [name])).length > 0
}

export function limitList(session: Session): Promise<LimitSetting[]> {
  return session.run('limitList', [])
}

export type LimitUsage = Pick<Standing, 'nowS' | 'held' | 'rates'>

export async function limitUsage(session: Session, now: Now, names: readonly string[]): Promise<LimitUsage> {
  const [row] = await session.run<LimitUsage>('limitUsage', [now, textArray(names)])
  return row as LimitUsage
}

/** Of limits that each tenant has for itself. */
export function limitRateLook(
  session: Session,
  names: readonly string[],
  tenants: readonly string[],
): Promise<RateSpent[]> {
  return session.tuples<RateSpent>('limitRateLook', [textArray(names), textArray(tenants)])
}

/** `unknownMs`: the period of rates whose row does not say it. */
export async function limitRatePrune(
  session: Session,
  now: Now,
  { unknownMs, limit }: { unknownMs: number; limit: number },
): Promise<number> {
  return (await session.run('limitRatePrune', [now, unknownMs, limit])).length
}

/** `tenant`: empty for a limit that all share. */
export async function limitHold(
  session: Session,
  now: Now,
  hold: { name: string; tenant: string; delayMs: number },
): Promise<void> {
  await session.run('limitHold', [now, hold.name, hold.tenant, hold.delayMs])
}
