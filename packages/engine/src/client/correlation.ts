// Following one action through all the jobs it caused: they share a correlation id.
import type { Registry } from '../contract/registry.ts'
import { InvalidDefinition } from '../errors.ts'
import { type JobRun, jobRuns, jobsByCorrelation } from '../store/correlations.ts'
import type { Database } from '../store/db.ts'
import type { Job } from '../store/jobs.ts'
import { shownJob } from './protect.ts'

export interface CorrelationOptions {
  /** Jobs at most, from 1 to 1,000. Default 100. */
  limit?: number
}

export interface CorrelatedJobs {
  /** Live and archived, in order of creation. */
  jobs: Job[]
  /** True: there are more than `limit`, and these are the first. */
  isMore: boolean
}

/** One execution. A run that was given back, or whose process died, leaves none. */
export interface TracedRun {
  attempt: number
  runId: string
  workerId: string | null
  outcome: 'running' | 'completed' | 'cancelled' | 'failed'
  finishedAt: Date | null
  /** From the claim to the end; null while it runs. */
  durationMs: number | null
  /** From when it was due to the claim. */
  queueTimeMs: number | null
  errorClass: string | null
  errorMessage: string | null
}

type Happening =
  | { event: 'enqueued' }
  /** `at` is when it started. */
  | ({ event: 'run' } & TracedRun)
  /** Cancelled while it waited: no run ended with it. */
  | { event: 'cancelled'; reason: string | null }

/** `parentJobId` says under which job it belongs. */
export type TraceEntry = { at: Date; jobId: string; parentJobId: string | null; type: string } & Happening

export interface CorrelationTrace extends CorrelatedJobs {
  /** What happened to these jobs, in order of time. */
  timeline: TraceEntry[]
  /** True: there are more jobs or more runs than these. */
  isMore: boolean
}

const DEFAULT_LIMIT = 100
const MAX_LIMIT = 1_000
/** So that a trace stays small even if each of its jobs was tried very often. */
const RUNS_PER_JOB = 10

export class Correlations {
  readonly #db: Database
  readonly #registry: Registry

  constructor(services: { db: Database; registry: Registry }) {
    this.#db = services.db
    this.#registry = services.registry
  }

  async jobs(correlationId: string, options: CorrelationOptions): Promise<CorrelatedJobs> {
    const limit = limitOf(options)
    if (!isStorable(correlationId)) return { jobs: [], isMore: false }
    // One more than asked for tells whether there are more.
    const jobs = await jobsByCorrelation(this.#db, correlationId, limit + 1)
    const shown = jobs.slice(0, limit).map((job) => shownJob(this.#registry, job))
    return { jobs: shown, isMore: jobs.length > limit }
  }

  async trace(correlationId: string, options: CorrelationOptions): Promise<CorrelationTrace> {
    const { jobs, isMore } = await this.jobs(correlationId, options)
    const ids = jobs.map((job) => job.id)
    const runLimit = limitOf(options) * RUNS_PER_JOB
    const runs = await jobRuns(this.#db, ids, runLimit + 1)
    const timeline = timelineOf(jobs, runs.slice(0, runLimit))
    return { jobs, timeline, isMore: isMore || runs.length > runLimit }
  }
}

function timelineOf(jobs: readonly Job[], runs: readonly JobRun[]): TraceEntry[] {
  const byId = new Map(jobs.map((job) => [job.id, job]))
  const entries = [
    ...jobs.map((job) => entryOf(job, job.createdAt, { event: 'enqueued' as const })),
    ...runs.map((run) => entryOf(byId.get(run.jobId) as Job, run.startedAt, { event: 'run', ...tracedRun(run) })),
    ...jobs.filter(wasCancelledWaiting).map(cancelledEntry),
  ]
  // The sort is stable: of what has the same time, the enqueueing stays first.
  return entries.sort((a, b) => a.at.getTime() - b.at.getTime())
}

function entryOf(job: Job, at: Date, what: Happening): TraceEntry {
  return { at, jobId: job.id, parentJobId: job.parentJobId, type: job.type, ...what }
}

function wasCancelledWaiting({ status, startedAt }: Job): boolean {
  return status === 'cancelled' && startedAt === null
}

function cancelledEntry(job: Job): TraceEntry {
  return entryOf(job, job.finishedAt as Date, { event: 'cancelled', reason: job.reason })
}

function tracedRun({ jobId: _, dueAt, startedAt, ...run }: JobRun): TracedRun {
  return { ...run, durationMs: between(startedAt, run.finishedAt), queueTimeMs: between(dueAt, startedAt) }
}

function between(from: Date | null, to: Date | null): number | null {
  return from === null || to === null ? null : to.getTime() - from.getTime()
}

function limitOf({ limit = DEFAULT_LIMIT }: CorrelationOptions): number {
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
    throw new InvalidDefinition(
      `limit is ${limit}: expected an integer from 1 to ${MAX_LIMIT}. For more jobs query the view \`jobs\` by correlation_id.`,
    )
  }
  return limit
}

/** Ids come from people and URLs: no job can have one that Postgres cannot store. */
function isStorable(correlationId: unknown): boolean {
  return typeof correlationId === 'string' && !correlationId.includes('\u0000') && correlationId.isWellFormed()
}
