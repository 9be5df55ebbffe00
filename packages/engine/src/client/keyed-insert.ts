// Enqueueing under keys. A dedup key: at most one live job per (tenant, type, key). An order or limit key: written as
// blocked, for the admitter to decide.
//
// The unique index decides about dedup keys. A key that another transaction is just inserting is waited for, but not for long:
// the wait would stall the other rows of the batch.

import { KeyBusy } from '../errors.ts'
import { isLockTimeout } from '../sql-state.ts'
import type { Session } from '../store/db.ts'
import {
  chunksOf,
  type InsertOptions,
  jobHolders,
  jobIds,
  jobInsertKeyed,
  type NewJob,
  type Now,
} from '../store/jobs.ts'

export type InsertResult = { status: 'queued'; id: string } | { status: 'duplicate'; id: string }

/** How long a key held by somebody's open transaction is waited for. */
export const KEY_WAIT_MS = 2_000
const MAX_ROUNDS = 20

/** Inserts jobs, some of them keyed; the results are by position. */
export async function insertKeyed(
  session: Session,
  now: Now,
  jobs: readonly NewJob[],
  options: InsertOptions,
): Promise<InsertResult[]> {
  const results = new Array<InsertResult>(jobs.length)
  const idOf = await idsInOrder(session, jobs)
  let open = jobs.map((_, i) => i).sort((a, b) => compareKeys(jobs[a] as NewJob, jobs[b] as NewJob))
  for (let round = 0; open.length > 0; round++) {
    const batch = open.map((i) => jobs[i] as NewJob)
    if (round === MAX_ROUNDS) throw busy(batch, options)
    const ids = await insertOrBusy(session, now, batch, { ...options, idOf })
    const taken: number[] = []
    ids.forEach((id, at) => {
      const i = open[at] as number
      if (id === null) taken.push(i)
      else results[i] = { status: 'queued', id }
    })
    if (taken.length === 0) break
    const holders = await jobHolders(
      session,
      taken.map((i) => jobs[i] as NewJob),
    )
    // A holder that vanished between the two statements has freed its key: those rows get another round.
    open = taken.filter((i, at) => {
      const id = holders[at]
      if (id == null) return true
      results[i] = { status: 'duplicate', id }
      return false
    })
  }
  return results
}

async function insertOrBusy(
  session: Session,
  now: Now,
  batch: readonly NewJob[],
  { idOf, ...options }: InsertOptions & { idOf: ReadonlyMap<NewJob, string> },
): Promise<(string | null)[]> {
  try {
    const ids: (string | null)[] = []
    for (const chunk of chunksOf(batch)) {
      const given = chunk.flatMap((job) => idOf.get(job) ?? [])
      ids.push(...(await jobInsertKeyed(session, now, chunk, { ...options, ids: given })))
    }
    return ids
  } catch (error) {
    throw isLockTimeout(error) ? busy(batch, options, error) : error
  }
}

/** Ordered jobs run in the order of their ids. Where dedup keys change the order of the insert, ids are taken before. */
async function idsInOrder(session: Session, jobs: readonly NewJob[]): Promise<ReadonlyMap<NewJob, string>> {
  const isTurned = jobs.some(({ orderKey }) => orderKey !== null) && jobs.some(({ dedupKey }) => dedupKey !== null)
  if (!isTurned || jobs.length === 1) return new Map()
  const ids = await jobIds(session, jobs.length)
  return new Map(jobs.map((job, i) => [job, ids[i] as string]))
}

/** Postgres does not say which key of a batch it was waiting for. */
function busy(batch: readonly NewJob[], options: InsertOptions, cause?: unknown): KeyBusy {
  const keys = batch.flatMap((job) => job.dedupKey ?? [])
  return new KeyBusy((batch[0] as NewJob).type, keys, options.lockTimeoutMs, cause)
}

/** One order for everybody, so that two batches never wait for each other in a circle. */
function compareKeys(a: NewJob, b: NewJob): number {
  return (
    compare(a.tenant ?? '', b.tenant ?? '') || compare(a.type, b.type) || compare(a.dedupKey ?? '', b.dedupKey ?? '')
  )
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
