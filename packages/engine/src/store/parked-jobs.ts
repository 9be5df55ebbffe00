// Jobs of tenants that may not run now, out of the way of governed claims. All of it under the queue's lock.
import type { Now } from '../clock.ts'
import { plainArray, textArray } from './arrays.ts'
import type { Session } from './db.ts'
import type { QueuedJob } from './job-claims.ts'

/** A tenant that may start nothing. */
export interface Held {
  readonly tenant: string
  /** Null: no job of any type. */
  readonly type: string | null
  /** Infinite: no time ends it. */
  readonly untilS: number
  /** With more jobs it stays where it is: to pass over it is cheaper. Null: however many, they are parked. */
  readonly few: number | null
}

export interface ParkRequest {
  readonly queue: string
  readonly held: readonly Held[]
  readonly limit: number
}

/** How many jobs were parked. */
export async function governedPark(session: Session, now: Now, request: ParkRequest): Promise<number> {
  const { queue, held, limit } = request
  const rows = await session.run('governedPark', [
    now,
    queue,
    textArray(held.map(({ tenant }) => tenant)),
    textArray(held.map(({ type }) => type)),
    plainArray(held.map(({ untilS }) => untilS)),
    plainArray(held.map(({ few }) => few)),
    limit,
  ])
  return rows.length
}

/** Those whose time has come, and of each tenant as many as it has room for. */
export function governedUnpark(
  session: Session,
  now: Now,
  { queue, rooms, limit }: { queue: string; rooms: ReadonlyMap<string, number>; limit: number },
): Promise<QueuedJob[]> {
  const most = [...rooms.values()].map((room) => Math.min(room, limit))
  return session.run('governedUnpark', [now, queue, textArray([...rooms.keys()]), plainArray(most), limit])
}

export function governedParked(session: Session, queue: string): Promise<{ tenant: string; isLasting: boolean }[]> {
  return session.run('governedParked', [queue])
}

export async function governedParkedChecked(session: Session, now: Now, queue: string, version: number): Promise<void> {
  await session.run('governedParkedChecked', [now, queue, version])
}
