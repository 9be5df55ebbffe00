// The state of our tables and indexes, and the commands that repair them. None of the commands runs in a transaction, and
// none needs a setting of its session, so they work through PgBouncer in transaction mode; the deadline bounds them, because
// a lock timeout would be such a setting.
import { textArray } from './arrays.ts'
import { type Database, qualified, type Session } from './db.ts'

export interface TableBloat {
  name: string
  /** At least as many as there are. */
  liveRows: number
  deadRows: number
  bytes: number
  indexBytes: number
  /** Rows inserted, updated and deleted since somebody began to count. */
  writes: number
  /** Null: not since somebody began to count. */
  vacuumedMsAgo: number | null
  /** Whether our role may vacuum it and rebuild its indexes. */
  mayRepair: boolean
}

export interface IndexBloat {
  name: string
  bytes: number
  /** At most this large, if it were built now. */
  neededBytes: number
  isLeftover: boolean
}

/** Who keeps dead rows from being removed. */
export interface SnapshotHolder {
  kind: 'session' | 'prepared transaction' | 'replication slot'
  pid: number | null
  /** Of a session: its application_name. */
  name: string | null
  state: string
  /** Null: nobody knows, but for long. */
  heldMs: number | null
}

export const tableBloat = (session: Session): Promise<TableBloat[]> => session.run('tableBloat', [])

export const indexBloat = (session: Session, table: TableBloat): Promise<IndexBloat[]> =>
  session.run('indexBloat', [table.name, table.liveRows])

export async function snapshotHolder(session: Session): Promise<SnapshotHolder | undefined> {
  return (await session.run<SnapshotHolder>('snapshotHolder', []))[0]
}

/** False: somebody has begun it within the interval. */
export async function upkeepClaim(session: Session, task: string, intervalMs: number): Promise<boolean> {
  return (await session.run('upkeepClaim', [task, intervalMs])).length > 0
}

/** Another process may take them at once. */
export async function upkeepRelease(session: Session, tasks: readonly string[]): Promise<void> {
  await session.run('upkeepRelease', [textArray(tasks)])
}

/**
 * Removes dead rows and their index entries. Gives way to a vacuum that is under way. Unthrottled, as autovacuum is on
 * the live jobs: it takes no lock that jobs wait for, reads through a small ring of buffers, and is the sooner over.
 */
export async function vacuum(db: Database, table: string, deadlineMs: number): Promise<void> {
  await db.execute(`vacuum (skip_locked, index_cleanup on, truncate off, analyze) ${qualified(db, table)}`, deadlineMs)
}

/** Builds the index anew beside the old one. If that fails, what it leaves behind costs every write until it is dropped. */
export async function reindex(db: Database, index: string, deadlineMs: number): Promise<void> {
  await db.execute(`reindex index concurrently ${qualified(db, index)}`, deadlineMs)
}

export async function dropLeftover(db: Database, index: string, deadlineMs: number): Promise<void> {
  await db.execute(`drop index concurrently if exists ${qualified(db, index)}`, deadlineMs)
}
