// The jobs of one action: how each stands, what its runs were, and why it waits.
import type { Job, Millrace, TraceEntry } from 'millrace'

export type Run = Extract<TraceEntry, { event: 'run' }>

export interface TracedJob {
  readonly job: Job
  /** Another action enqueued it, and this one waits for it, too. */
  readonly isJoined: boolean
  /** Oldest first. */
  readonly runs: readonly Run[]
  /** Why it waits, or how far it is; null: there is nothing to say. */
  readonly note: string | null
}

const ENDED = new Set(['completed', 'cancelled', 'dead'])
const hasEnded = ({ job }: TracedJob): boolean => ENDED.has(job.status)
export const isOver = (jobs: readonly TracedJob[]): boolean => jobs.every(hasEnded)

/** `also`: ids of jobs that the action found waiting. */
export async function tracedJobs(
  millrace: Millrace,
  correlationId: string,
  also: readonly string[],
): Promise<TracedJob[]> {
  const own = await traceOf(millrace, correlationId)
  const others = also.filter((id) => !own.some(({ job }) => job.id === id))
  const joined = await Promise.all(others.map((id) => joinedJob(millrace, id)))
  return [...own, ...joined.filter((each) => each !== undefined)]
}

async function traceOf(millrace: Millrace, correlationId: string): Promise<TracedJob[]> {
  const { jobs, timeline } = await millrace.correlationTrace(correlationId)
  const isRun = (entry: TraceEntry): entry is Run => entry.event === 'run'
  const runs = timeline.filter(isRun)
  return Promise.all(
    jobs.map(async (job) => ({
      ...{ job, isJoined: false, runs: runs.filter(({ jobId }) => jobId === job.id) },
      note: await noteOf(millrace, job),
    })),
  )
}

async function joinedJob(millrace: Millrace, id: string): Promise<TracedJob | undefined> {
  const job = await millrace.job(id)
  if (job === undefined) return undefined
  const found = (await traceOf(millrace, job.correlationId)).find((each) => each.job.id === id)
  return found && { ...found, isJoined: true }
}

async function noteOf(millrace: Millrace, { id, status, lastError, reason }: Job): Promise<string | null> {
  if (status === 'dead') return lastError
  if (status === 'cancelled') return reason
  if (status === 'completed') return null
  if (status === 'processing') return (await millrace.job(id))?.progress?.note ?? null
  // It may have ended, and be forgotten, since it was read.
  return millrace.explain(id).then(
    ({ summary }) => summary,
    () => null,
  )
}
