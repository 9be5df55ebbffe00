// How jobs are written under a dedup key, mode by mode. The unique indexes decide; nothing is looked up beforehand.
//
// Each writer answers by position. Undefined: the key was in motion, because its holder ended or started between two
// statements, and the caller asks again.
import type { Now } from '../clock.ts'
import { type DedupeRule, LIVE, WAITING } from '../contract/dedupe.ts'
import type { Session } from '../store/db.ts'
import {
  dedupWindowHolders,
  jobHolders,
  jobInsertKeyed,
  jobInsertReplacing,
  jobSupersede,
  jobWithdraw,
  type KeyOf,
} from '../store/dedup.ts'
import type { InsertOptions, NewJob } from '../store/jobs.ts'

export type KeyedResult =
  | { status: 'queued'; id: string }
  | { status: 'duplicate'; id: string }
  | { status: 'replaced'; id: string }

export interface KeyedWrite {
  readonly session: Session
  readonly now: Now
  /** Ids that were taken before, because the jobs run in another order than the one they are written in. */
  readonly idOf?: ReadonlyMap<NewJob, string>
  readonly options: InsertOptions & {
    /** These workers run jobs that were asked to stop just now, if this transaction commits. */
    onSuperseded?: (workerIds: readonly string[]) => Promise<void>
  }
}

/** Whether writing under this rule may take a second statement that belongs to the first. */
export const needsTransaction = ({ mode }: DedupeRule): boolean => mode === 'window' || mode === 'latest'

/** For jobs that must not push others aside, such as a redriven one: the key is held as long, by whoever was first. */
export const withoutReplacing = ({ mode }: DedupeRule): DedupeRule =>
  mode === 'waiting' || mode === 'debounce' ? WAITING : LIVE

/** Writes jobs of one rule, sorted by their keys. */
export function writeKeyed(
  write: KeyedWrite,
  rule: DedupeRule,
  jobs: readonly NewJob[],
): Promise<(KeyedResult | undefined)[]> {
  switch (rule.mode) {
    case 'live':
      return keeping(write, jobs, { isUntilStart: false, windowMs: null })
    case 'waiting':
      return keeping(write, jobs, { isUntilStart: true, windowMs: null })
    case 'window':
      return keeping(write, jobs, { isUntilStart: false, windowMs: rule.windowMs })
    case 'debounce':
      return debouncing(write, jobs, rule.maxWaitMs)
    case 'latest':
      return superseding(write, jobs)
  }
}

/** The first one under a key stays; the others are told its id. */
async function keeping(
  { session, now, options, idOf }: KeyedWrite,
  jobs: readonly NewJob[],
  how: { isUntilStart: boolean; windowMs: number | null },
): Promise<(KeyedResult | undefined)[]> {
  const ids = jobs.flatMap((job) => idOf?.get(job) ?? [])
  const rows = await jobInsertKeyed(session, now, jobs, { ...options, ...how, ids })
  const late = rows.flatMap(({ id, mustGo }) => (mustGo && id !== null ? [id] : []))
  if (late.length > 0) await jobWithdraw(session, late)
  const results = rows.map(({ id, mustGo }) => (id === null || mustGo ? undefined : queued(id)))
  const live = await duplicates(jobs, results, (keys) => jobHolders(session, keys))
  return how.windowMs === null ? live : duplicates(jobs, live, (keys) => dedupWindowHolders(session, now, keys))
}

async function debouncing(
  write: KeyedWrite,
  jobs: readonly NewJob[],
  maxWaitMs: number | null,
): Promise<(KeyedResult | undefined)[]> {
  const results = await replacing(write, jobs, { isUntilStart: true, maxWaitMs })
  // Whoever has started and still holds its key was enqueued when the type had another mode.
  return duplicates(jobs, results, (keys) => jobHolders(write.session, keys))
}

async function superseding(write: KeyedWrite, jobs: readonly NewJob[]): Promise<(KeyedResult | undefined)[]> {
  const { session, now, options } = write
  const workerIds = await jobSupersede(session, now, jobs, options)
  if (workerIds.length > 0) await options.onSuperseded?.([...new Set(workerIds)])
  return replacing(write, jobs, { isUntilStart: false, maxWaitMs: null })
}

/** Of several under one key the last one counts, as if they had come one after the other. */
async function replacing(
  { session, now, options }: KeyedWrite,
  jobs: readonly NewJob[],
  how: { isUntilStart: boolean; maxWaitMs: number | null },
): Promise<(KeyedResult | undefined)[]> {
  const last = new Map(jobs.map((job) => [keyText(job), job]))
  const rows = await jobInsertReplacing(session, now, [...last.values()], { ...options, ...how })
  const firsts = new Map([...last.keys()].map((key, i) => [key, rows[i]]))
  return jobs.map((job) => {
    const row = firsts.get(keyText(job))
    if (row == null || row.id === null) return undefined
    if (!row.isNew) return { status: 'replaced', id: row.id }
    firsts.set(keyText(job), { ...row, isNew: false })
    return queued(row.id)
  })
}

/** Fills what is open with the ids of those who hold the keys. */
async function duplicates(
  jobs: readonly NewJob[],
  results: readonly (KeyedResult | undefined)[],
  holdersOf: (keys: readonly KeyOf[]) => Promise<(string | null)[]>,
): Promise<(KeyedResult | undefined)[]> {
  const open = jobs.filter((_, i) => results[i] === undefined)
  if (open.length === 0) return [...results]
  const holders = (await holdersOf(open))[Symbol.iterator]()
  return results.map((result) => {
    if (result !== undefined) return result
    const id = holders.next().value
    return id == null ? undefined : { status: 'duplicate', id }
  })
}

const keyText = ({ tenant, type, dedupKey }: KeyOf): string => JSON.stringify([tenant, type, dedupKey])
const queued = (id: string): KeyedResult => ({ status: 'queued', id })
