// Whether a job that counts as running does run: its worker may be dead, and its lease not over yet.
import type { Session } from '../store/db.ts'
import { explainRun, explainWorkers, type RunWorker } from '../store/explain.ts'
import type { Job } from '../store/jobs.ts'
import type { Reason } from './reason.ts'

/** Heartbeats come several times in the length of a lease: after a third of it one at least is missing. */
const SILENT_PART = 1 / 3

export interface RunExplanation {
  readonly summary: string
  /** Why it may not run after all; undefined: its worker was heard of lately. */
  readonly reason: Reason | undefined
}

export async function explainRunning(db: Session, job: Job): Promise<RunExplanation> {
  const worker = job.workerId === null ? undefined : await explainRun(db, job.workerId)
  const name = worker === undefined ? `worker ${job.workerId}` : workerName(job.workerId, worker)
  const since = `attempt ${job.attempt}, since ${job.startedAt?.toISOString()}`
  const isHeard = worker !== undefined && worker.endedReason === null && !worker.hasExpired
  if (isHeard && worker.silentMs < worker.leaseMs * SILENT_PART)
    return { summary: `It is running: ${since}, on ${name}.`, reason: undefined }
  const reason = isHeard ? silent(worker, name) : await lost(db, job, { worker, name })
  return { summary: reason.sentence, reason }
}

export const workerName = (id: string | null, { host, pid }: { host: string; pid: number }): string =>
  `worker ${id} (pid ${pid} on host ${host})`

function silent({ silentMs, expiresAt }: RunWorker, name: string): Reason {
  const sentence = `Its ${name} has not been heard of for ${seconds(silentMs)}. If it stays silent, its lease runs out at ${expiresAt.toISOString()}, and the next sweep of another worker rescues the job.`
  return { mechanism: 'worker', sentence, until: expiresAt, remedy: null }
}

/** Rescue is due. */
async function lost(
  db: Session,
  job: Job,
  { worker, name }: { worker: RunWorker | undefined; name: string },
): Promise<Reason> {
  const { live } = await explainWorkers(db, job.type)
  const what =
    worker === undefined
      ? 'is not known any more'
      : worker.endedReason === null
        ? `has not been heard of for ${seconds(worker.silentMs)}, and its lease has run out`
        : `has ended without finishing the job: ${worker.endedReason}`
  const then =
    live === 0
      ? 'No other worker is running that could rescue the job.'
      : 'Rescue is due: the next sweep of another worker puts the job back into its queue.'
  return {
    mechanism: 'worker',
    sentence: `Its ${name} ${what}. ${then}`,
    until: null,
    remedy: live === 0 ? 'millrace work MODULE' : null,
  }
}

const seconds = (ms: number): string => `${Math.round(ms / 1_000)} s`
