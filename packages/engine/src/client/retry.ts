import type { Job } from '../store/jobs.ts'
import type { DeadLetters, RedriveOptions } from './dead-letters.ts'
import type { JobManager } from './manage.ts'
import type { RedriveResult } from './redrive.ts'

export type RetryResult =
  /** It was waiting, and is due now. */
  | { status: 'due' }
  /** It runs at this moment. */
  | { status: 'running' }
  /** It completed or was cancelled, or it died and leaves no letter: there is nothing to try again. */
  | { status: 'finished'; as: Job['status'] }
  | { status: 'not_found' }
  /** It is dead: what became of the redrive of its letter, whose id is `id`. */
  | Exclude<RedriveResult, { status: 'not_found' }>

/** Tries a job again, whatever state it is in: a waiting one at once, a dead one by a new job. */
export async function retryJob(
  { jobs, deadLetters }: { jobs: JobManager; deadLetters: DeadLetters },
  id: string,
  options: RedriveOptions,
): Promise<RetryResult> {
  const job = await jobs.get(id)
  if (job?.status === 'processing') return { status: 'running' }
  if (await jobs.runNow(id, options, 'job.retry')) return { status: 'due' }
  // The archive forgets sooner than the dead letters do.
  const letter = job === undefined || job.status === 'dead' ? await deadLetters.ofJob(id) : undefined
  const [result] = letter === undefined ? [] : await deadLetters.redrive(letter.id, options)
  if (result !== undefined && result.status !== 'not_found') return result
  return job === undefined ? { status: 'not_found' } : { status: 'finished', as: job.status }
}
