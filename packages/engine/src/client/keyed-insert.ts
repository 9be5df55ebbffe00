// Enqueueing under keys. A dedup key: in whatever mode the contract has. An order or limit key: written as blocked, for the
// admitter to decide.
//
// The unique indexes decide about dedup keys. A key that another transaction is just writing is waited for, but not for long:
// the wait would stall the other rows of the batch.
import type { DedupeRule } from '../contract/dedupe.ts'
import { KeyBusy } from '../errors.ts'
import { type KeyedResult, type KeyedWrite, writeKeyed } from '../governance/dedupe.ts'
import { isLockTimeout } from '../sql-state.ts'
import type { Session } from '../store/db.ts'
import { chunksOf, jobIds, type NewJob } from '../store/jobs.ts'

/** How long a key held by somebody's open transaction is waited for. */
export const KEY_WAIT_MS = 2_000
const MAX_ROUNDS = 20

/** Inserts jobs, some of them keyed; the results are by position. */
export async function insertKeyed(given: KeyedWrite, jobs: readonly NewJob[]): Promise<KeyedResult[]> {
  const results = new Array<KeyedResult>(jobs.length)
  const write = { ...given, idOf: await idsInOrder(given.session, jobs) }
  for (const [rule, positions] of byRule(jobs)) {
    let open = positions
    for (let round = 0; open.length > 0; round++) {
      const batch = open.map((i) => jobs[i] as NewJob)
      if (round === MAX_ROUNDS) throw busy(batch, write)
      const written = await writeOrBusy(write, rule, batch)
      open = open.filter((i, at) => {
        const result = written[at]
        if (result !== undefined) results[i] = result
        return result === undefined
      })
    }
  }
  return results
}

/** One order for everybody, so that two batches never wait for each other in a circle; equal keys as they were given. */
function byRule(jobs: readonly NewJob[]): Map<DedupeRule, number[]> {
  const sorted = jobs.map((_, i) => i).sort((a, b) => compareKeys(jobs[a] as NewJob, jobs[b] as NewJob))
  const rules = new Map<DedupeRule, number[]>()
  for (const i of sorted) {
    const { dedupe } = jobs[i] as NewJob
    const positions = rules.get(dedupe)
    if (positions === undefined) rules.set(dedupe, [i])
    else positions.push(i)
  }
  return rules
}

async function writeOrBusy(
  write: KeyedWrite,
  rule: DedupeRule,
  batch: readonly NewJob[],
): Promise<(KeyedResult | undefined)[]> {
  try {
    const results: (KeyedResult | undefined)[] = []
    for (const chunk of chunksOf(batch)) results.push(...(await writeKeyed(write, rule, chunk)))
    return results
  } catch (error) {
    throw isLockTimeout(error) ? busy(batch, write, error) : error
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
function busy(batch: readonly NewJob[], { options }: KeyedWrite, cause?: unknown): KeyBusy {
  const keys = batch.flatMap((job) => job.dedupKey ?? [])
  return new KeyBusy((batch[0] as NewJob).type, keys, options.lockTimeoutMs, cause)
}

function compareKeys(a: NewJob, b: NewJob): number {
  return (
    compare(a.tenant ?? '', b.tenant ?? '') || compare(a.type, b.type) || compare(a.dedupKey ?? '', b.dedupKey ?? '')
  )
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
