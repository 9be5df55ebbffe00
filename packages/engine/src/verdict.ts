// What a look at the health of the whole platform says.
import type { BreakerState } from './store/breakers.ts'

export type Verdict = 'ok' | 'degraded' | 'failing'

export type HealthArea = 'database' | 'queues' | 'runs' | 'workers' | 'services'

/** What one check has found, good or bad. */
export interface Finding {
  /** The name of the check, such as `queue_age`; docs/operations.md has an entry for each. */
  readonly check: string
  readonly area: HealthArea
  readonly verdict: Verdict
  /** A plain sentence. */
  readonly says: string
  /** What to do about it. Null: nothing. */
  readonly remedy: string | null
}

export interface HealthFigures {
  /** Jobs that could run now. */
  readonly due: number
  readonly processing: number
  /** Jobs that wait for another attempt. */
  readonly failed: number
  /** Dead letters that wait for a decision; 10,000 stands for as many or more. */
  readonly dead: number
  /** Null: no job is due. */
  readonly oldestDueMs: number | null
  /** Null: no job runs. */
  readonly longestRunMs: number | null
  /** Of the worker that uses most of its memory, 0 to 1. Null: no worker reports it. */
  readonly memoryRatio: number | null
  /** Those that are not closed. */
  readonly breakers: readonly { readonly service: string; readonly state: BreakerState }[]
}

export interface Health {
  readonly verdict: Verdict
  /** By the clock of this process. */
  readonly at: Date
  /** The verdict in one sentence. */
  readonly summary: string
  /** The findings that are not ok, the worst first. */
  readonly reasons: readonly Finding[]
  readonly findings: readonly Finding[]
  /** Null: the database could not be read. */
  readonly figures: HealthFigures | null
}
