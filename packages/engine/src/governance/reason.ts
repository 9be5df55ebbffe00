// Why a job is not running: each mechanism that can hold a job back says so itself, in the form declared here.
import type { Now } from '../clock.ts'
import type { Registry } from '../contract/registry.ts'
import type { Session } from '../store/db.ts'
import type { Job } from '../store/jobs.ts'
import type { WorkerRow } from '../store/worker-reports.ts'

/** What can hold a job. A new mechanism is named here, and then explain.ts does not compile until it can tell about it. */
export type Mechanism =
  | 'due'
  | 'worker'
  | 'pause'
  | 'tenant'
  | 'share'
  | 'limit'
  | 'rate'
  | 'breaker'
  | 'budget'
  | 'order'
  | 'key_limit'
  | 'version'
  | 'overload'
  /** Of processes, by what they report: */
  | 'quiet'
  | 'memory'
  | 'suspect'
  | 'semaphore'

export interface Reason {
  /** What holds it. */
  readonly mechanism: Mechanism
  /** A sentence for a person: what holds the job, since when, by whom. */
  readonly sentence: string
  /** When this reason is expected to end by itself; null: it does not, or nobody knows. */
  readonly until: Date | null
  /** What a person can do about it, if anything: a command. */
  readonly remedy: string | null
}

export interface Look {
  readonly db: Session
  readonly now: Now
  readonly registry: Registry
  /** The living ones. */
  readonly workers: readonly WorkerRow[]
}

/** Asked about a live job that is not running; undefined: this mechanism does not hold it. */
export type Explainer = (job: Job, look: Look) => Promise<Reason | readonly Reason[] | undefined>
