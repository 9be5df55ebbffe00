// Changing a breaker: lock its row, decide by the pure rules, write. One at a time for each service, over all processes.
import type { Now } from '../clock.ts'
import type { Service } from '../contract/service.ts'
import {
  type BreakerFacts,
  breakerLock,
  breakerWrite,
  isProbeLive,
  type LockedBreaker,
  type Probe,
} from '../store/breakers.ts'
import type { Session } from '../store/db.ts'
import { type BreakerEvent, mayProbe, nextBreaker, settingsOf } from './breaker-state.ts'

export interface ChangedBreaker {
  readonly before: LockedBreaker
  readonly after: LockedBreaker
}

/** Within a transaction. */
export async function changeBreaker(
  tx: Session,
  now: Now,
  service: Service,
  event: BreakerEvent,
): Promise<ChangedBreaker> {
  return apply(tx, now, await breakerLock(tx, now, service.name), { service, event })
}

/**
 * Within a transaction: if all these services may be tried, `find` says by which run, and it is the probe of all of them.
 * Two statements for each, because the run of another probe must be looked for after the lock was waited for.
 */
export async function probeBreakers(
  tx: Session,
  now: Now,
  services: readonly Service[],
  find: () => Promise<Probe | undefined>,
): Promise<ChangedBreaker[] | undefined> {
  const locked: { row: LockedBreaker; service: Service }[] = []
  for (const service of [...services].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const row = await breakerLock(tx, now, service.name)
    if (!mayProbe(row.now, row, await isProbeLive(tx, row))) return undefined
    locked.push({ row, service })
  }
  const by = await find()
  if (by === undefined) return undefined
  const event = { kind: 'probe', by, isProbeLive: false } as const
  const changed: ChangedBreaker[] = []
  for (const { row, service } of locked) changed.push(await apply(tx, now, row, { service, event }))
  return changed
}

async function apply(
  tx: Session,
  now: Now,
  before: LockedBreaker,
  { service, event }: { service: Service; event: BreakerEvent },
): Promise<ChangedBreaker> {
  const facts: BreakerFacts = nextBreaker(before.now, before, event, settingsOf(service, before))
  if (facts === before) return { before, after: before }
  await breakerWrite(tx, now, service.name, facts)
  return { before, after: { ...before, ...facts } }
}
