// Encrypted values where they are stored: under which keys, and under another one.
import { plainArray, textArray } from './arrays.ts'
import type { Session } from './db.ts'

export type SealedPlace = 'live' | 'deadLetters' | 'archive' | 'records'

const statements = {
  live: { keys: 'jobKeys', lock: 'jobLockPayload', write: 'jobWritePayload' },
  deadLetters: { keys: 'deadLetterKeys', lock: 'deadLetterLockPayload', write: 'deadLetterWritePayload' },
  archive: { keys: 'jobArchiveKeys' },
  records: { keys: 'onceKeys' },
} as const

/** One page of rows in the order of their ids, with a key id for each encrypted value. */
export function sealedPage(
  session: Session,
  place: SealedPlace,
  after: string,
  limit: number,
): Promise<{ id: string; keys: string[] }[]> {
  return session.run(statements[place].keys, [after, limit])
}

export interface StoredPayload {
  id: string
  type: string
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
