// The stretches of a job's life, one after the other. Pure.
import type { JobDetails } from './actions.tsx'

export interface Span {
  readonly kind: 'wait' | 'failed' | 'off' | 'running' | 'done' | 'later' | 'expected'
  readonly from: number
  readonly ms: number
}

type Life = Pick<JobDetails, 'createdAt' | 'attempts' | 'status' | 'startedAt' | 'finishedAt' | 'runAt'>

export function spansOf(job: Life, expectedAt: string | null, now: number): Span[] {
  const spans: Span[] = []
  let at = Date.parse(job.createdAt)
  const upTo = (kind: Span['kind'], time: number) => {
    if (time > at) spans.push({ kind, from: at, ms: time - at })
    at = Math.max(at, time)
  }
  let hasFailed = false
  for (const { startedAt, finishedAt } of job.attempts) {
    if (startedAt !== null) upTo(hasFailed ? 'off' : 'wait', Date.parse(startedAt))
    upTo('failed', Date.parse(finishedAt))
    hasFailed = true
  }
  const started = job.startedAt === null ? null : Date.parse(job.startedAt)
  if (job.finishedAt !== null) {
    if (started !== null && started >= at) upTo(hasFailed ? 'off' : 'wait', started)
    upTo(job.status === 'completed' ? 'done' : 'wait', Date.parse(job.finishedAt))
  } else if (job.status === 'processing') {
    if (started !== null) upTo(hasFailed ? 'off' : 'wait', started)
    upTo('running', now)
  } else {
    upTo(hasFailed ? 'off' : 'later', Math.min(now, Date.parse(job.runAt)))
    upTo(Date.parse(job.runAt) > now ? (hasFailed ? 'off' : 'later') : 'wait', now)
    if (expectedAt !== null) upTo('expected', Date.parse(expectedAt))
  }
  return spans
}
