// What a bulk operation is asked for, and how it is told.
import type { BulkCanary, BulkOutcome, BulkRow, BulkStage, BulkStatus } from '../store/bulk.ts'
import { type BulkAction, type BulkActionName, UNDO } from './bulk-judge.ts'

export type BulkSelection =
  /** Of the query language; at least one term. */
  | { query: string; ids?: undefined }
  /** At most 10000. */
  | { query?: undefined; ids: readonly string[] }

export type BulkRequest = BulkAction &
  BulkSelection & {
    /** Only jobs of this tenant, whatever the query says. */
    tenant?: string
  }

export interface BulkStartOptions {
  /** Who: the audit log has it with every job that is changed. */
  by: string
  /** Every job is looked at, and none is changed. */
  dryRun?: boolean
  /** So many jobs per second at most. Default 200, at most 5000. */
  rate?: number
  /** Only so many of the jobs, the oldest: for a first try. */
  limit?: number
  /**
   * Of a redrive: so many jobs first, of different tenants if there are so many. The first death among them stops the operation; once
   * all have ended well, the rest follows. At most 20.
   */
  canary?: number
}

/** What the action would do to the jobs of a queue and type. */
export interface BulkGroup {
  readonly queue: string
  readonly type: string
  readonly willChange: number
  readonly already: number
  readonly refused: number
}

export interface BulkPreview {
  readonly action: BulkActionName
  readonly total: number
  /** There are more jobs, which were not counted. */
  readonly isCapped: boolean
  readonly willChange: number
  readonly already: number
  readonly refused: number
  readonly groups: readonly BulkGroup[]
  /** Why jobs would not be changed. */
  readonly reasons: readonly { outcome: BulkOutcome; reason: string | null; count: number }[]
  /** Null: it can be taken back. Otherwise why not. */
  readonly noUndo: string | null
}

export interface BulkOperation {
  readonly id: string
  readonly action: BulkActionName
  /** As it was given, such as the priority. */
  readonly options: Readonly<Record<string, unknown>>
  readonly query: string | null
  readonly tenant: string | null
  readonly status: BulkStatus
  readonly isDryRun: boolean
  readonly rate: number
  readonly limit: number | null
  /** How many jobs fitted when it was started. */
  readonly expected: number
  readonly isCapped: boolean
  readonly changed: number
  readonly already: number
  readonly refused: number
  /** Found, but their turn has not come. */
  readonly open: number
  readonly jobId: string | null
  readonly undoOf: string | null
  readonly undoneBy: string | null
  readonly createdBy: string
  readonly createdAt: Date
  readonly finishedAt: Date | null
  readonly cancelledBy: string | null
  /** Of a status that is failed or stopped: why. */
  readonly error: string | null
  /** Null: it has none. */
  readonly canary: { readonly size: number; readonly stage: BulkStage } | null
  /** Null: it can be taken back now. Otherwise why not. */
  readonly noUndo: string | null
}

export interface BulkReport extends BulkOperation {
  readonly reasons: readonly { outcome: BulkOutcome; reason: string | null; count: number }[]
  /** Why it does not get on; null: it does, or has ended. */
  readonly waits: string | null
  /** The jobs that go first, and how they are. */
  readonly canaries: readonly BulkCanary[]
}

export function operationOf(row: BulkRow): BulkOperation {
  const { isFound: _, lastId: __, cursor: ___, hasBefore: ____, most, action, canary: size, stage, ...rest } = row
  const canary = size === null || stage === null ? null : { size, stage }
  return { ...rest, action: action as BulkActionName, limit: most, canary, noUndo: undoRefusal(row) }
}

function undoRefusal({ action, isDryRun, status, undoneBy, undoOf, hasBefore }: BulkRow): string | null {
  if (UNDO[action as BulkActionName] !== null) return UNDO[action as BulkActionName]
  if (isDryRun) return 'it was a dry run'
  if (undoOf !== null) return `it takes operation ${undoOf} back itself`
  if (undoneBy !== null) return `operation ${undoneBy} takes it back`
  if (status === 'running') return 'it still runs: cancel it first'
  return hasBefore ? null : 'it has changed nothing'
}
