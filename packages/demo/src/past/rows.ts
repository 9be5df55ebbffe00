// The week as rows of the tables in which the engine would have left it.
import type { PastRow, PastRun } from 'millrace/testing'
import type { CourseRun } from './course.ts'
import type { Decision } from './letters.ts'
import type { WeekJob } from './week.ts'

export interface Numbered {
  readonly job: WeekJob
  readonly id: number
  /** Of the dead job whose work it does. */
  readonly parentId: number | null
}

const HOUR_MS = 3_600_000
/** How long the archive keeps jobs, with an hour to spare. */
const KEPT_MS: Record<string, number> = { short: 23 * HOUR_MS, standard: 7 * 24 * HOUR_MS - HOUR_MS }

export const time = (ms: number): string => new Date(ms).toISOString()
const timeOrNull = (ms: number | undefined): string | null => (ms === undefined ? null : time(ms))

/** Undefined: it has not ended, or its time in the archive is over. */
export function archiveRow({ job, id, parentId }: Numbered, now: number): PastRow | undefined {
  const { end, runs, profile } = job
  const last = runs.at(-1)
  const { retention } = profile.contract
  if (end.status === 'pending' || last === undefined || now - last.endedAt > (KEPT_MS[retention] ?? 0)) return undefined
  const failure = runs.findLast((run) => run.failure !== null)
  return {
    ...identity(job, id, parentId),
    status: end.status,
    ...{ attempt: runs.length, parent_job_id: parentId },
    ...{ run_at: time(last.dueAt), started_at: time(last.startedAt), finished_at: time(last.endedAt) },
    last_error_at: timeOrNull(failure?.endedAt),
    ...{ run_id: job.runIds.at(-1), worker_id: job.workerIds.at(-1), retention },
    dedup_key: dedupKey(job),
    reason: end.reason,
    last_error: failure?.failure?.message ?? null,
    result: job.result,
    logs: profile.contract.logs === 'keep' ? logsOf(last, 'written', runs.length) : null,
  }
}

export function attemptRows({ job, id, parentId }: Numbered): PastRow[] {
  const { type, queue } = job.profile.contract
  return job.runs.flatMap((run, at) =>
    run.failure === null
      ? []
      : {
          ...{
            job_id: id,
            attempt: at + 1,
            run_id: job.runIds[at],
            worker_id: job.workerIds[at],
            type,
            queue: queue.name,
          },
          ...{ started_at: time(run.startedAt), finished_at: time(run.endedAt), due_at: time(run.dueAt) },
          ...{ error_class: run.failure.class, error_message: run.failure.message, error_stack: run.failure.stack },
          ...{
            fingerprint: run.failure.fingerprint,
            logs: logsOf(run, 'the call failed', at + 1),
            correlation_id: `job-${parentId ?? id}`,
          },
        },
  )
}

export function letterRow(
  numbered: Numbered,
  decision: Decision | undefined,
  redrivenId: number | null,
): PastRow | undefined {
  const { job, id, parentId } = numbered
  const last = job.runs.at(-1)
  if (job.end.status !== 'dead' || last?.failure == null) return undefined
  const { type, queue } = job.profile.contract
  const { class: name, message, stack, fingerprint } = last.failure
  return {
    ...{ job_id: id, type, queue: queue.name, tenant: job.tenant, correlation_id: `job-${parentId ?? id}` },
    ...{ reason: job.end.reason, attempts: job.runs.length },
    original_job: originalOf(numbered, last),
    error_message: message,
    error_details: { class: name, stack, logs: logsOf(last, 'the call failed', job.runs.length) },
    fingerprint,
    ...{ status: decision?.status ?? 'pending', acknowledged: decision !== undefined },
    ...{
      acknowledged_by: decision?.by ?? null,
      acknowledged_at: timeOrNull(decision?.at),
      notes: decision?.note ?? null,
    },
    ...{ died_at: time(last.endedAt), redrive_since: time(last.endedAt), redriven_job_id: redrivenId },
    redrives: parentId === null ? 0 : 1,
  }
}

/** A job that goes on. */
export function liveRow({ job, id, parentId }: Numbered): PastRow | undefined {
  if (job.end.status !== 'pending') return undefined
  const failure = job.runs.at(-1)
  return {
    ...identity(job, id, parentId),
    status: 'pending',
    ...{ attempt: job.runs.length, parent_job_id: parentId, run_at: time(job.end.runAt) },
    ...{ updated_at: time(failure?.endedAt ?? job.createdAt), started_at: timeOrNull(failure?.startedAt) },
    ...{ run_id: job.runIds.at(-1) ?? null, worker_id: job.workerIds.at(-1) ?? null, dedup_key: dedupKey(job) },
    ...{ last_error_at: timeOrNull(failure?.endedAt), last_error: failure?.failure?.message ?? null },
    first_due_at: failure === undefined ? null : time(job.createdAt),
    order_key: job.profile.contract.order?.key(job.payload as never) ?? null,
  }
}

/** As a worker counts them. */
export function* countedRuns(jobs: Iterable<WeekJob>): Generator<PastRun> {
  for (const { profile, runs, tenant } of jobs) {
    const { type, queue } = profile.contract
    for (const [at, run] of runs.entries()) {
      const durationMs = run.endedAt - run.startedAt
      const waitMs = run.startedAt - run.dueAt
      yield {
        ...{ endedAt: new Date(run.endedAt), queue: queue.name, type, tenant, outcome: run.outcome },
        ...{ durationMs, waitMs, latencyMs: at === 0 ? waitMs + durationMs : null },
      }
    }
  }
}

function identity({ profile, tenant, createdAt, createdBy, payload }: WeekJob, id: number, parentId: number | null) {
  const { type, queue, retry, version } = profile.contract
  return {
    ...{ id, type, queue: queue.name, tenant, priority: queue.priority, max_attempts: retry.attempts, crashes: 0 },
    ...{ payload_version: version, created_at: time(createdAt), created_by: createdBy, payload },
    // Its own, unless it does the work of another.
    correlation_id: parentId === null ? null : `job-${parentId}`,
  }
}

function dedupKey({ profile, payload }: WeekJob): string | null {
  return profile.contract.dedupeKey?.(payload as never) ?? null
}

function originalOf(numbered: Numbered, last: CourseRun): PastRow {
  const { job, id, parentId } = numbered
  const before = job.runs.at(-2)
  return {
    ...identity(job, id, parentId),
    ...{
      status: 'processing',
      attempt: job.runs.length,
      parent_job_id: parentId,
      correlation_id: `job-${parentId ?? id}`,
    },
    ...{ run_at: time(last.dueAt), updated_at: time(last.startedAt), started_at: time(last.startedAt) },
    ...{ run_id: job.runIds.at(-1), worker_id: job.workerIds.at(-1), dedup_key: dedupKey(job) },
    ...{ last_error: before?.failure?.message ?? null, last_error_at: timeOrNull(before?.endedAt) },
  }
}

function logsOf(run: CourseRun, message: string, attempt: number): object[] {
  return [
    { level: 'info', ms: 1, msg: 'begun' },
    {
      level: run.failure === null ? 'info' : 'warn',
      ms: Math.round((run.endedAt - run.startedAt) / 2),
      msg: message,
      fields: { attempt },
    },
  ]
}
