// What a worker and the process of an isolated handler say to each other. Messages are structured clones, so payloads
// and results keep their dates, maps and big integers; what no clone can carry is encoded in encoding.ts.
import type { PreparedJob } from '../../client/enqueue-options.ts'
import type { Retention } from '../../contract/job.ts'
import type { Progress } from '../../contract/progress.ts'
import type { Service } from '../../contract/service.ts'
import type { BudgetStatus } from '../../governance/budget-status.ts'
import type { Logger } from '../../logger.ts'
import type { SentConnection } from '../../store/connection-config.ts'
import type { Settlement } from '../../store/settlements.ts'
import type { JobContext } from '../context.ts'
import type { BudgetCall } from './budget-call.ts'
import type { SentEnding, SentThrown, SentValue } from './encoding.ts'

/** What a context is made of, apart from what acts. */
export type RunFacts = Pick<
  JobContext,
  | 'jobId'
  | 'type'
  | 'queue'
  | 'tenant'
  | 'attempt'
  | 'maxAttempts'
  | 'correlationId'
  | 'parentJobId'
  | 'workflowId'
  | 'createdBy'
  | 'runId'
  | 'traceParent'
  | 'traceId'
>

/** A service as a handler named it. Without its function: whether an error counts was asked where it was thrown. */
export type SentService = string | Omit<Service, 'counts'>

/** The text of what a handler records, and where it stands. */
export interface SentRecord {
  place: readonly string[]
  text: string
}

export type DoorStep = { kind: 'enter' } | { kind: 'succeeded' } | { kind: 'failed'; error: SentThrown }

export interface RunRequest {
  facts: RunFacts
  payload: unknown
  retention: Retention
  allowSecrets: readonly string[]
  /** What the handler records is encrypted, by the worker. */
  isSensitive: boolean
  /** From now until the run is called stuck: processes do not share a monotonic clock everywhere. */
  stuckInMs: number
  databaseNow: Date | null
  budget: BudgetStatus | undefined
}

export type ToChild =
  /** Sent, not put into the environment: everybody on the machine could read a password there. */
  | { kind: 'start'; module: string; connection: SentConnection; schema: string; tenantRole: string | undefined }
  | { kind: 'run'; request: RunRequest }
  | { kind: 'abort'; reason: SentThrown }
  | { kind: 'answer'; ask: number; value: unknown }
  | { kind: 'refused'; ask: number; error: SentThrown }
  | { kind: 'stop' }

/** About a run. Its id is in each: what an earlier run left behind must not speak for the one that runs now. */
export type AboutRun = { runId: string } & (
  | { kind: 'log'; level: keyof Logger; fields: object; message: string }
  | { kind: 'progress'; progress: Progress }
  /** How would this value be settled? Only the worker has the contract with its schemas. */
  | { kind: 'settlement-of'; ask: number; value: SentValue }
  | { kind: 'budget'; ask: number; call: BudgetCall }
  /** Write this job, which was checked where its payload was made: a clone would lose the class of what it refuses. */
  | { kind: 'enqueue'; ask: number; prepared: PreparedJob }
  /** Encrypt or decrypt what the handler records: only the worker has the keys. */
  | ({ kind: 'seal' | 'open'; ask: number } & SentRecord)
  /** What to do at the breaker of a service: only the worker knows how it stands. */
  | { kind: 'breaker'; ask: number; service: SentService; step: DoorStep }
  /** Written, and about to be committed. */
  | { kind: 'in-transaction'; settlement: Settlement }
  | { kind: 'ended'; ending: SentEnding }
)

export type FromChild =
  | { kind: 'ready' }
  | { kind: 'unusable'; problem: string }
  /** To connect, it needs the password that a function of the worker gives. */
  | { kind: 'password'; ask: number }
  /** The last words before an uncaught error ends the process. */
  | { kind: 'uncaught'; error: SentThrown }
  | AboutRun
