// The time partitions of archive, attempts and events: created ahead of need, detached and dropped when their time is over.
import type { Now } from '../clock.ts'
import { isConflict, isMissing } from '../sql-state.ts'
import { plainArray, textArray } from './arrays.ts'
import { type Database, qualified } from './db.ts'

/** How many days the archive keeps jobs. */
export const ARCHIVE_DAYS = [
  { retention: 'short', keepDays: 1 },
  { retention: 'standard', keepDays: 7 },
  { retention: 'long', keepDays: 90 },
] as const

/** How many days each kind of history is kept. */
const FAMILIES = [
  ...ARCHIVE_DAYS.map(({ retention, keepDays }) => ({ parent: `job_archive_${retention}`, keepDays })),
  { parent: 'job_attempt', keepDays: 30 },
  { parent: 'job_event', keepDays: 30 },
]

const DAYS_AHEAD = 3
/** Detaching waits for transactions that are reading the partition. */
const DETACH_DEADLINE_MS = 60_000
const CREATE_DEADLINE_MS = 5_000

interface Missing {
  parent: string
  name: string
  startsAt: string
  endsAt: string
}

/** Creates what is missing; returns the names. Safe to run anywhere, any number of times at once. */
export async function ensurePartitions(db: Database, now: Now): Promise<string[]> {
  const missing = await db.run<Missing>('partitionMissing', [now, textArray(FAMILIES.map((f) => f.parent)), DAYS_AHEAD])
  for (const partition of missing) await create(db, partition)
  return missing.map((partition) => partition.name)
}

/** Removes what is too old; returns the names. A removal that was cut off is finished by the next call. */
export async function prunePartitions(db: Database, now: Now): Promise<string[]> {
  const expired = await db.run<{ parent: string; name: string; state: 'attached' | 'detaching' | 'detached' }>(
    'partitionExpired',
    [now, textArray(FAMILIES.map((f) => f.parent)), plainArray(FAMILIES.map((f) => f.keepDays))],
  )
  for (const { parent, name, state } of expired) {
    const detach = `alter table ${qualified(db, parent)} detach partition ${qualified(db, name)}`
    if (state === 'attached') await db.execute(`${detach} concurrently`, DETACH_DEADLINE_MS)
    if (state === 'detaching') await db.execute(`${detach} finalize`, DETACH_DEADLINE_MS)
    await db.execute(`drop table if exists ${qualified(db, name)}`, DETACH_DEADLINE_MS)
  }
  return expired.map((partition) => partition.name)
}

/**
 * Attaching a table takes a weaker lock on the parent than `create table … partition of`: inserts go on meanwhile.
 * Whoever comes second finds the table there, or loses the race for its name: both mean that it exists.
 */
async function create(db: Database, { parent, name, startsAt, endsAt }: Missing): Promise<void> {
  const [table, parentTable] = [qualified(db, name), qualified(db, parent)]
  try {
    await db.transaction(async (tx) => {
      await tx.query(`set local lock_timeout = '2s'`)
      await tx.query(`create table ${table} (like ${parentTable} including defaults including constraints)`)
      await tx.query(
        `alter table ${parentTable} attach partition ${table} for values from ('${startsAt}') to ('${endsAt}')`,
      )
    }, CREATE_DEADLINE_MS)
  } catch (error) {
    if (!isConflict(error) && !isMissing(error)) throw error
  }
}
