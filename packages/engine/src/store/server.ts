// Facts about the server: whether our guarantees hold on it, how it is doing, and what of our schema is missing there.
import { monotonicMs } from '../clock.ts'
import { UnsupportedDatabase } from '../errors.ts'
import { textArray } from './arrays.ts'
import type { Database, Session } from './db.ts'
import { migrationFiles } from './sql.generated.ts'

const OLDEST = 150_000

/** Refuses a server on which our guarantees would not hold. */
export async function checkServer(session: Session): Promise<void> {
  const [facts] = await session.run<{ versionNum: number; isolation: string; readOnly: string; inRecovery: boolean }>(
    'serverFacts',
    [],
  )
  if (facts === undefined) return
  if (facts.versionNum < OLDEST) {
    throw new UnsupportedDatabase(
      `This server is PostgreSQL ${Math.floor(facts.versionNum / 10_000)}: Millrace needs 15 or newer. Upgrade the server.`,
    )
  }
  if (facts.isolation !== 'read committed') {
    throw new UnsupportedDatabase(
      `default_transaction_isolation is "${facts.isolation}": Millrace needs "read committed". Change it for this role: alter role … set default_transaction_isolation = 'read committed'.`,
    )
  }
  if (facts.inRecovery || facts.readOnly === 'on') {
    throw new UnsupportedDatabase(
      'This server only reads (a standby, or default_transaction_read_only). Connect to the primary.',
    )
  }
}

export interface ServerState {
  readonly version: string
  /** How long it took to answer. */
  readonly answeredMs: number
  /** How far the clock of this process is ahead of the database's; below zero: behind it. */
  readonly skewMs: number
  /** Something that hands out connections stands in between. */
  readonly isPooled: boolean
  readonly connections: number
  readonly maxConnections: number
  readonly isAutovacuumOn: boolean
  /** 0 to 1. */
  readonly notifyQueueUsage: number
}

interface StateRow extends Omit<ServerState, 'answeredMs' | 'skewMs' | 'isPooled'> {
  now: Date
  pid: number
}

/** `processNow`: the clock of this process, in milliseconds. */
export async function serverState(db: Database, processNow: () => number): Promise<ServerState> {
  const sentMs = monotonicMs()
  const [[row], toldPid] = await db.runWithPid<StateRow>('serverState', [])
  const answeredMs = monotonicMs() - sentMs
  const { now, pid, ...state } = row as StateRow
  // The database looked at its clock somewhere in between.
  const skewMs = processNow() - answeredMs / 2 - now.getTime()
  // A pooler answers with a process id of its own when a client connects.
  return { ...state, answeredMs, skewMs, isPooled: toldPid !== null && toldPid !== pid }
}

export interface SchemaParts {
  missingTables: string[]
  missingIndexes: string[]
  invalidIndexes: string[]
}

/** What is missing of the tables and indexes that the migrations of this version create. */
export async function schemaParts(session: Session): Promise<SchemaParts> {
  const { tables, indexes } = declaredParts(migrationFiles.map(({ text }) => text).join('\n'))
  const [parts] = await session.run<SchemaParts>('schemaParts', [textArray([...tables]), textArray([...indexes])])
  return parts as SchemaParts
}

const PARTS =
  /^\s*(create|drop) (?:unique )?(table|index)(?: concurrently)?(?: if (?:not )?exists)? (?:millrace\.)?(\w+)/gim

/** Names that the statements create and do not drop again. */
export function declaredParts(sql: string): { tables: Set<string>; indexes: Set<string> } {
  const parts = { tables: new Set<string>(), indexes: new Set<string>() }
  for (const [, verb, kind, name] of sql.matchAll(PARTS)) {
    const names = kind?.toLowerCase() === 'table' ? parts.tables : parts.indexes
    if (verb?.toLowerCase() === 'create') names.add(name as string)
    else names.delete(name as string)
  }
  return parts
}
