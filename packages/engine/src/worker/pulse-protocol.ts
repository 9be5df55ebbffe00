// What the main thread and the pulse thread say to each other.
import type { Retention } from '../contract/job.ts'
import type { SentConnection } from '../store/connection-config.ts'
import type { Message } from '../store/notifications.ts'
import type { RunningRow } from '../store/running-jobs.ts'
import type { NewWorker, WorkerRequest } from '../store/workers.ts'
import type { OwnReport } from './reporter.ts'

export interface LeaseTimes {
  heartbeatMs: number
  ttlMs: number
}

export interface PulseSettings {
  connection: SentConnection
  schema: string
  board: SharedArrayBuffer
  times: LeaseTimes
}

/** What jobs of one type in one queue have in common within a claim. `stuckAtMs` is on the monotonic clock. */
export interface PlacedKind {
  queue: string
  retention: Retention
  stuckAtMs: number
}

/**
 * Jobs of one claim and the places of the board they lie on, in columns: the threads copy what they tell each other, and
 * an object per job took longer to copy than the job to run.
 */
export interface PlacedJobs {
  runId: string
  ids: string[]
  places: Int32Array
  kinds: PlacedKind[]
  /** For each job, the position of its kind. */
  kindOf: Int32Array
}

/** How often the main thread says that its event loop turns. */
export const MAIN_BEAT_MS = 50

/** What the main thread knows of a report. */
export type PulseReport = OwnReport & { loopLagMs: number }

export type ToPulse =
  | { kind: 'register'; worker: NewWorker }
  /** For the next heartbeat. */
  | { kind: 'report'; report: PulseReport }
  | { kind: 'claimed'; jobs: PlacedJobs }
  /** The answer to `password`: the password, or why there is none. */
  | { kind: 'password'; password: string }
  | { kind: 'no-password'; problem: string }
  | { kind: 'stop'; reason: string }

export type FromPulse =
  | { kind: 'registered'; workerId: string }
  /** What the database says we run. `sentAtMs`: when we asked, on the monotonic clock. */
  | { kind: 'running'; workerId: string; rows: RunningRow[]; sentAtMs: number }
  /** What is asked of this worker has changed; null: nothing is asked any more. */
  | { kind: 'asked'; workerId: string; request: WorkerRequest | null }
  /** The lease was ended by somebody else. */
  | { kind: 'lost'; workerId: string }
  | { kind: 'heard'; messages: readonly Message[] }
  | { kind: 'ignored'; count: number; why: IgnoredBecause }
  | { kind: 'listening'; isTrusted: boolean }
  /** To connect, the thread needs the password that a function of the main thread gives. */
  | { kind: 'password' }
  | { kind: 'blocked'; ms: number }
  | { kind: 'error'; during: string; message: string }

/** Why messages were not passed on. After a flood the worker does not listen for a while, and polls. */
export type IgnoredBecause = 'unreadable' | 'flood'

/** Trust in one's own lease ends this long before the lease does. */
export const trustMarginMs = (times: LeaseTimes): number => Math.max(200, times.ttlMs * 0.1)
