// Bounded memories of one process: results of jobs that have ended, and answers to requests that may be repeated.
import { LRUCache } from 'lru-cache'
import { type Duration, type JobDetails, type Millrace, toMs } from 'millrace'

export interface RecentOptions {
  readonly max: number
  readonly ttl: Duration
}

export interface RecentRun {
  readonly id: string
  readonly type: string
  readonly attempt: number
  readonly outcome: 'completed' | 'failed' | 'cancelled'
  readonly ms: number
}

export interface RecentResults {
  /** A job, read from the database once after it has ended: ended jobs do not change. */
  get(id: string): Promise<JobDetails | undefined>
  /** What this process ran last, the newest first. */
  runs(): readonly RecentRun[]
  close(): void
}

const RUNS = 100

export function recentResults(millrace: Millrace, { max, ttl }: RecentOptions): RecentResults {
  const ended = new LRUCache<string, JobDetails>({ max, ttl: toMs(ttl, 'ttl') })
  const runs: RecentRun[] = []
  const note = (job: { id: string; type: string; attempt: number }, outcome: RecentRun['outcome'], ms: number) => {
    runs.unshift({ id: job.id, type: job.type, attempt: job.attempt, outcome, ms })
    runs.length = Math.min(runs.length, RUNS)
  }
  const stops = [
    millrace.events.on('job_succeeded', ({ job, durationMs }) => note(job, 'completed', durationMs)),
    millrace.events.on('job_failed', ({ job, durationMs }) => note(job, 'failed', durationMs)),
    millrace.events.on('job_cancelled', ({ job, durationMs }) => note(job, 'cancelled', durationMs)),
  ]
  return {
    async get(id) {
      const known = ended.get(id)
      if (known !== undefined) return known
      const job = await millrace.job(id)
      if (job?.finishedAt) ended.set(id, job)
      return job
    },
    runs: () => runs,
    close() {
      for (const stop of stops) stop()
      ended.clear()
    },
  }
}

export interface RecentAnswers<Answer extends {}> {
  get(key: string): Answer | undefined
  set(key: string, answer: Answer): void
}

/** Answers by idempotency key: a hint, since another process may have given one. The unique index decides. */
export function recentAnswers<Answer extends {}>({ max, ttl }: RecentOptions): RecentAnswers<Answer> {
  const answers = new LRUCache<string, Answer>({ max, ttl: toMs(ttl, 'ttl') })
  return { get: (key) => answers.get(key), set: (key, answer) => void answers.set(key, answer) }
}
