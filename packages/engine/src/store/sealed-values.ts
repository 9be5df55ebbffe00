// Encrypted values where they are stored: under which keys, and under another one.
import { plainArray, textArray } from './arrays.ts'
import type { Session } from './db.ts'
import type { ItemKind } from './workflow-items.ts'

export type SealedPlace = 'live' | 'deadLetters' | 'workflows' | 'archive' | 'records'

const statements = {
  live: { keys: 'jobKeys', lock: 'jobLockPayload', write: 'jobWritePayload' },
  deadLetters: { keys: 'deadLetterKeys', lock: 'deadLetterLockPayload', write: 'deadLetterWritePayload' },
  workflows: { keys: 'workflowItemKeys' },
  archive: { keys: 'jobArchiveKeys' },
  records: { keys: 'onceKeys' },
} as const

/** A key id for each encrypted value of a row; `isUnbound`, where rows are rotated: one of them is bound to no owner yet. */
export interface SealedRow {
  id: string
  keys: string[]
  isUnbound?: boolean
}

/** One page of rows in the order of their ids. */
export function sealedPage(session: Session, place: SealedPlace, after: string, limit: number): Promise<SealedRow[]> {
  return session.run(statements[place].keys, [after, limit])
}

export interface StoredPayload {
  id: string
  type: string
  tenant: string | null
  workflowId: string | null
  payload: unknown
}

/** Locked until the transaction ends. */
export function payloadLock(
  session: Session,
  place: 'live' | 'deadLetters',
  ids: readonly string[],
): Promise<StoredPayload[]> {
  return session.run(statements[place].lock, [plainArray(ids)])
}

export async function payloadWrite(
  session: Session,
  place: 'live' | 'deadLetters',
  rows: readonly { id: string; payload: unknown }[],
): Promise<void> {
  const payloads = rows.map(({ payload }) => JSON.stringify(payload))
  await session.run(statements[place].write, [plainArray(rows.map(({ id }) => id)), textArray(payloads)])
}

/** What a job of a workflow was given, if an undo will ask for it, and has returned. */
export interface StoredItem {
  id: string
  workflowId: string
  /** Of the workflow. */
  tenant: string | null
  workflow: string
  step: string
  kind: ItemKind
  /** Null: the job is forgotten. */
  type: string | null
  payload: unknown
  result: unknown
}

/** Locked until the transaction ends. */
export function sealedItemLock(session: Session, jobIds: readonly string[]): Promise<StoredItem[]> {
  return session.run('workflowItemLockSealed', [plainArray(jobIds)])
}

export async function sealedItemWrite(
  session: Session,
  items: readonly Pick<StoredItem, 'id' | 'payload' | 'result'>[],
): Promise<void> {
  await session.run('workflowItemWriteSealed', [
    plainArray(items.map(({ id }) => id)),
    textArray(items.map(({ payload }) => jsonOrNull(payload))),
    textArray(items.map(({ result }) => jsonOrNull(result))),
  ])
}

const jsonOrNull = (value: unknown): string | null => (value === null ? null : JSON.stringify(value))
