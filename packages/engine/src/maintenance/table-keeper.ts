// Cleans tables that autovacuum does not get to, rebuilds indexes that stayed large after a burst, and names whoever
// keeps both from happening.
//
// Looks every two minutes in every worker process, by one cheap statement. What needs repair is claimed by a row in the
// database, so that one process does it and none does it too often; a claim whose process died is over with its interval.
// Repairs have a connection of their own, and are cut off at stop: a vacuum that was cut off has lost little, and what a
// rebuild leaves behind is dropped by the next one.
import { monotonicMs } from '../clock.ts'
import type { Events } from '../events.ts'
import {
  INDEX_BYTES,
  isBloated,
  isInVain,
  isNeglected,
  isOld,
  isQuiet,
  type Look,
  NEGLECTED_MS,
  worstIndex,
} from '../health/bloat.ts'
import type { Logger } from '../logger.ts'
import type { Database } from '../store/db.ts'
import {
  dropLeftover,
  type IndexBloat,
  indexBloat,
  reindex,
  type SnapshotHolder,
  snapshotHolder,
  type TableBloat,
  tableBloat,
  upkeepClaim,
  vacuum,
} from '../store/upkeep.ts'
import type { Ticker } from './loop.ts'

const INTERVAL_MS = 120_000
const HOUR_MS = 3_600_000
const VACUUM_DEADLINE_MS = 30 * 60_000
const REINDEX_DEADLINE_MS = 10 * 60_000
const DROP_DEADLINE_MS = 60_000
/** A snapshot that old is not just one of the flow. */
const OLD_SNAPSHOT_MS = 60_000

export interface TableKeeperServices {
  db: Database
  events: Events
  logger: Logger
  /** A connection for a repair, which may take minutes. Closed afterwards. */
  open(maxConnections: number): Database
  /** From when on a snapshot is blamed. Default: a minute. */
  oldSnapshotMs?: number
}

export interface UpkeepResult {
  vacuumed: string[]
  rebuilt: string[]
}

export class TableKeeper implements Ticker<UpkeepResult> {
  readonly name = 'table upkeep'
  readonly #services: TableKeeperServices
  readonly #oldSnapshotMs: number
  /** What this process has said, until it is no longer so. */
  readonly #said = new Map<string, string>()
  readonly #looks = new Map<string, Look>()
  /** Since when a table has had an index that is too large. */
  readonly #oversizedSinceMs = new Map<string, number>()

  constructor(services: TableKeeperServices) {
    this.#services = services
    this.#oldSnapshotMs = services.oldSnapshotMs ?? OLD_SNAPSHOT_MS
  }

  async tick(stopping?: AbortSignal): Promise<UpkeepResult> {
    const result: UpkeepResult = { vacuumed: [], rebuilt: [] }
    try {
      for (const table of await tableBloat(this.#services.db)) {
        if (stopping?.aborted) break
        if (await this.#clean(table, stopping)) result.vacuumed.push(table.name)
        result.rebuilt.push(...(await this.#slim(table, stopping)))
        this.#looks.set(table.name, lookAt(table))
      }
    } catch (error) {
      if (!stopping?.aborted) throw error
    }
    return result
  }

  delayAfter(): number {
    return INTERVAL_MS
  }

  /** True: it was vacuumed. */
  async #clean(table: TableBloat, stopping?: AbortSignal): Promise<boolean> {
    if (!isBloated(table)) {
      for (const what of ['bloated', 'blocked', 'denied']) this.#said.delete(`${what} ${table.name}`)
      return false
    }
    this.#sayBloated(table)
    if (await this.#isBlocked(table)) return false
    if (!isNeglected(table) || !this.#mayRepair(table)) return false
    if (!(await upkeepClaim(this.#services.db, `vacuum ${table.name}`, NEGLECTED_MS))) return false
    const sinceMs = monotonicMs()
    await this.#repair((db) => vacuum(db, table.name, VACUUM_DEADLINE_MS), stopping)
    const after = (await tableBloat(this.#services.db)).find(({ name }) => name === table.name)
    // Another vacuum was under way, and ours gave way.
    if (after === undefined || isNeglected(after)) return false
    this.#services.events.emit('vacuum_done', {
      table: table.name,
      deadRowsBefore: table.deadRows,
      deadRowsAfter: after.deadRows,
      durationMs: monotonicMs() - sinceMs,
    })
    if (isBloated(after)) await this.#isBlocked(after)
    return true
  }

  #sayBloated({ name, deadRows, liveRows, bytes, mayRepair }: TableBloat): void {
    this.#sayOnce(`bloated ${name}`, '', () =>
      this.#services.events.emit('table_bloated', { table: name, deadRows, liveRows, bytes, mayRepair }),
    )
  }

  /** Whether a vacuum would be in vain; then it says because of whom. */
  async #isBlocked(table: TableBloat): Promise<boolean> {
    const { db, events, logger } = this.#services
    const holder = await snapshotHolder(db)
    if (holder === undefined || !isInVain(table, holder, this.#oldSnapshotMs)) return false
    this.#sayOnce(`blocked ${table.name}`, nameOf(holder), () => {
      const facts = { table: table.name, deadRows: table.deadRows, holder }
      events.emit('vacuum_blocked', facts)
      logger.warn(facts, 'an old snapshot keeps dead rows from being removed')
    })
    return true
  }

  /** Rebuilds at most one index. Returns its name, or nothing. */
  async #slim(table: TableBloat, stopping?: AbortSignal): Promise<string[]> {
    // After a crash of the server nobody knows how many rows are live, until the next vacuum.
    const isKnown = table.vacuumedMsAgo !== null
    if (table.indexBytes < INDEX_BYTES || isBloated(table) || !isKnown) return []
    const { db } = this.#services
    const indexes = await indexBloat(db, table)
    const worst = worstIndex(indexes)
    const leftovers = indexes.filter(({ isLeftover }) => isLeftover)
    if (worst === undefined && leftovers.length === 0) {
      this.#oversizedSinceMs.delete(table.name)
      return []
    }
    if (!this.#mayRepair(table) || !(await this.#isGoodMoment(table))) return []
    if (!(await upkeepClaim(db, 'rebuild an index', HOUR_MS))) return []
    await this.#repair(async (own) => {
      for (const { name } of leftovers) await dropLeftover(own, name, DROP_DEADLINE_MS)
      if (worst !== undefined) await this.#rebuild(own, table, worst)
    }, stopping)
    return worst === undefined ? [] : [worst.name]
  }

  /** Little is being written, or nobody has waited for that as long as an hour; and no snapshot would hold it up. */
  async #isGoodMoment(table: TableBloat): Promise<boolean> {
    const look = lookAt(table)
    const sinceMs = this.#oversizedSinceMs.get(table.name) ?? look.atMs
    this.#oversizedSinceMs.set(table.name, sinceMs)
    if (!isQuiet(this.#looks.get(table.name), look) && look.atMs - sinceMs < HOUR_MS) return false
    const holder = await snapshotHolder(this.#services.db)
    return holder === undefined || !isOld(holder, this.#oldSnapshotMs)
  }

  async #rebuild(own: Database, table: TableBloat, index: IndexBloat): Promise<void> {
    const { db, events } = this.#services
    const sinceMs = monotonicMs()
    try {
      await reindex(own, index.name, REINDEX_DEADLINE_MS)
    } catch (error) {
      await this.#dropLeftovers(own, table).catch(() => {})
      throw error
    }
    const after = (await indexBloat(db, table)).find(({ name }) => name === index.name)
    events.emit('index_rebuilt', {
      index: index.name,
      bytesBefore: index.bytes,
      bytesAfter: after?.bytes ?? 0,
      durationMs: monotonicMs() - sinceMs,
    })
  }

  async #dropLeftovers(own: Database, table: TableBloat): Promise<void> {
    for (const { name, isLeftover } of await indexBloat(own, table)) {
      if (isLeftover) await dropLeftover(own, name, DROP_DEADLINE_MS)
    }
  }

  #mayRepair({ name, mayRepair }: TableBloat): boolean {
    if (!mayRepair) {
      this.#sayOnce(`denied ${name}`, '', () =>
        this.#services.logger.warn({ table: name }, 'this role may not repair a table that needs it'),
      )
    }
    return mayRepair
  }

  async #repair(work: (own: Database) => Promise<void>, stopping?: AbortSignal): Promise<void> {
    const own = this.#services.open(1)
    const cut = () => void own.close(0)
    stopping?.addEventListener('abort', cut)
    try {
      stopping?.throwIfAborted()
      await work(own)
    } finally {
      stopping?.removeEventListener('abort', cut)
      await own.close()
    }
  }

  #sayOnce(what: string, about: string, say: () => void): void {
    if (this.#said.get(what) === about) return
    this.#said.set(what, about)
    say()
  }
}

const lookAt = ({ writes }: TableBloat): Look => ({ writes, atMs: monotonicMs() })
const nameOf = ({ kind, pid, name }: SnapshotHolder): string => `${kind} ${pid} ${name}`
