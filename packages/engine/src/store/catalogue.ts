// What the programs of workers declare, and which of them lives.
import type { Now } from '../clock.ts'
import { textArray } from './arrays.ts'
import type { Database, Session } from './db.ts'
import { advisoryLock } from './governed-claims.ts'

export interface NewProgram {
  readonly hash: string
  /** As the program calls it. */
  readonly version: string | null
  /** JSON, by kind and name. */
  readonly document: string
}

/** A living worker. */
export interface CatalogueWorker {
  readonly id: string
  readonly host: string
  readonly pid: number
  /** Of its program. */
  readonly version: string | null
}

export interface EntryRow {
  readonly kind: string
  readonly name: string
  readonly document: unknown
  readonly version: string | null
  readonly firstSeen: Date
  readonly lastSeen: Date
  readonly workers: number
  readonly differing: readonly CatalogueWorker[]
}

const SEEN_AGAIN_MS = 1_800_000

export async function catalogueDeclare(session: Session, now: Now, program: NewProgram): Promise<void> {
  await session.run('catalogueDeclare', [now, program.hash, program.version, program.document])
}

/** Brings the entries to what living workers declare. */
export function catalogueRefresh(db: Database, now: Now): Promise<void> {
  return db.transaction((tx) => refreshed(tx, db.schema, now))
}

/** The same, and forgets what no living worker has declared for `ageMs`. Answers with how many entries those were. */
export function cataloguePrune(db: Database, now: Now, ageMs: number): Promise<number> {
  return db.transaction(async (tx) => {
    await refreshed(tx, db.schema, now)
    return (await tx.run('cataloguePrune', [now, ageMs])).length
  })
}

async function refreshed(tx: Session, schema: string, now: Now): Promise<void> {
  await advisoryLock(tx, schema, 'catalogue')
  await tx.run('catalogueRefresh', [now, SEEN_AGAIN_MS])
}

/** `names`: null for all. */
export function catalogueList(
  session: Session,
  kind: string | null,
  names: readonly string[] | null = null,
): Promise<EntryRow[]> {
  return session.run('catalogueList', [kind, names && textArray(names)])
}

/** `names`: null for all. */
export function catalogueDocuments(
  session: Session,
  kinds: readonly string[],
  names: readonly string[] | null = null,
): Promise<Pick<EntryRow, 'kind' | 'name' | 'document'>[]> {
  return session.run('catalogueDocuments', [textArray(kinds), names && textArray(names)])
}
