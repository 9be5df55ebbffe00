// Claims that count: of queues with tenants, limits or pauses. Four statements in one transaction, under advisory locks.

import { createHash } from 'node:crypto'
import type { Now } from '../clock.ts'
import { plainArray, textArray } from './arrays.ts'
import type { Session } from './db.ts'
import { type ClaimedJob, type ClaimedTuple, claimedJobs, type Position } from './job-claims.ts'

/** Ascending: whoever takes several takes them in one order. `what`: 'queue:default', 'limit:openai'. */
export function lockKeys(schema: string, what: readonly string[]): string[] {
  const keys = what.map((each) => createHash('sha256').update(`millrace ${schema} ${each}`).digest().readBigInt64BE())
  return keys.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0)).map(String)
}

/** Waits until nobody else has it; held until the transaction ends. */
export async function advisoryLock(session: Session, schema: string, what: string): Promise<void> {
  const [key] = lockKeys(schema, [what])
  await session.run('advisoryLock', [key])
}

/** Claims that began no later than `since` and are not over. */
export async function claimsUnderWay(session: Session, since: Date | null): Promise<{ since: Date; claims: number }> {
  const [row] = await session.run<{ since: Date; claims: number }>('claimsUnderWay', [since])
  return row as { since: Date; claims: number }
}

export async function governedLock(session: Session, keys: readonly string[]): Promise<boolean> {
  const [row] = await session.run<{ isMine: boolean }>('governedLock', [plainArray(keys)])
  return row?.isMine ?? false
}

/** What was started lately under a rate. `tenant`: empty where all share it. */
export type RateSpent = readonly [limit: string, tenant: string, starts: [number, number][], heldUntilS: number | null]

export interface Standing {
  readonly version: number
  readonly nowS: number
  readonly turn: string | null
  /** No run of the queue began before, if that is worth writing down. */
  readonly since: Date | null
  readonly running: readonly (readonly [tenant: string | null, type: string, jobs: number])[] | null
  readonly held: readonly (readonly [limit: string, tenant: string | null, jobs: number])[] | null
  /** Of limits that all tenants share, and of the tenants that were asked for. */
  readonly rates: readonly RateSpent[] | null
  /** When the first parked job may run; null: none is parked; infinite: no time lets one go. */
  readonly parkedUntilS: number | null
  /** Of the rules by which parked tenants were looked at last, and when. */
  readonly parkedVersion: number | null
  readonly parkedCheckedS: number | null
}

/** `tenants`: whose rates are wanted, besides those that all share. */
export async function governedStanding(
  session: Session,
  now: Now,
  { queue, limits, tenants }: { queue: string; limits: readonly string[]; tenants: readonly string[] },
): Promise<Standing> {
  const values = [now, queue, textArray(limits), textArray(['', ...tenants])]
  const [row] = await session.run<Standing>('governedStanding', values)
  return row as Standing
}

export interface LookRequest {
  readonly queue: string
  readonly types: readonly string[]
  /** Some types of the queue may not run: look type by type. */
  readonly byType: boolean
  readonly behind: string | null
  readonly streams: number
  readonly offer: number
  /** Tenants whose offer differs; 0: none. */
  readonly weights: ReadonlyMap<string, number>
  readonly plainOffer: number
  readonly suspectOffer: number
  readonly costedTypes: readonly string[]
  /** Ids of jobs that somebody else held a moment ago. */
  readonly except: readonly string[]
  /** Of these tenants, or of none, at these priorities only what comes after these jobs. */
  readonly entries: readonly Position[]
}

/** A head of a stream. */
export type Seen = readonly [
  /** 0: jobs without tenant; -1: jobs whose last run crashed. */
  nth: number,
  tenant: string | null,
  /** Of the stream's first job, whether it may run or not. */
  headType: string | null,
  id: string | null,
  type: string,
  priority: number,
  runAtS: number,
  payload: unknown,
]

export function governedLook(session: Session, now: Now, request: LookRequest): Promise<Seen[]> {
  return session.tuples<Seen>(request.byType ? 'governedLookTypes' : 'governedLook', [
    now,
    request.queue,
    textArray(request.types),
    request.behind,
    request.streams,
    request.offer,
    textArray([...request.weights.keys()]),
    plainArray([...request.weights.values()]),
    request.plainOffer,
    request.suspectOffer,
    textArray(request.costedTypes),
    plainArray(request.except),
    textArray(request.entries.map(({ tenant }) => tenant)),
    plainArray(request.entries.map(({ priority }) => priority)),
    plainArray(request.entries.map(({ runAtS }) => runAtS)),
    plainArray(request.entries.map(({ id }) => id)),
  ])
}

/** What a claim has started under a rate. */
export interface Spent {
  readonly limit: string
  readonly tenant: string
  readonly starts: unknown
  readonly periodMs: number
}

export interface TakeRequest {
  readonly ids: readonly string[]
  readonly types: readonly { type: string; stuckAfterMs: number; limits: readonly string[] }[]
  readonly runId: string
  readonly workerId: string
  readonly queue: string
  /** Behind whom the next claim begins; '': at the start; null: as before. */
  readonly turn: string | null
  /** No run of the queue began before; null: as before. */
  readonly since: Date | null
  readonly spent: readonly Spent[]
  readonly isDurable: boolean
}

export async function governedTake(session: Session, now: Now, request: TakeRequest): Promise<ClaimedJob[]> {
  const { types, spent } = request
  const tuples = await session.tuples<ClaimedTuple>('governedTake', [
    now,
    plainArray(request.ids),
    textArray(types.map(({ type }) => type)),
    plainArray(types.map(({ stuckAfterMs }) => stuckAfterMs)),
    request.runId,
    request.workerId,
    request.queue,
    request.turn,
    textArray(spent.map(({ limit }) => limit)),
    textArray(spent.map(({ tenant }) => tenant)),
    textArray(spent.map(({ starts }) => JSON.stringify(starts))),
    textArray(types.map(({ limits }) => textArray(limits))),
    request.isDurable,
    request.since,
    plainArray(spent.map(({ periodMs }) => periodMs)),
  ])
  return claimedJobs(tuples, now)
}
