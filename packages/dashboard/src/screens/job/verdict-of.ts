// The head of the screen: how the job stands, in a sentence.
import { formatDuration, formatNumber } from '../../ui/text/format.ts'
import type { JobDetails } from './actions.tsx'
import type { Explanation } from './estimate.ts'

export interface JobVerdict {
  readonly before: string
  /** What matters, in its colour. */
  readonly stress: string
  readonly tone: 'late' | 'fail' | 'ok'
  readonly after: string
}

const REASONS: Readonly<Record<string, string>> = {
  exhausted: 'all its attempts failed',
  discarded: 'its handler gave up',
  unrecoverable: 'its error cannot be mended by trying again',
  gave_up: 'it ran out of time',
  invalid_payload: 'its payload does not fit its contract',
  stuck: 'it did not stop when it was asked to',
  crash_loop: 'processes died while they ran it',
}

/** What holds it, in few words. The panel below has the whole sentence. */
const HOLDS: Readonly<Record<string, string>> = {
  due: 'its time has not come',
  worker: 'no worker can run it',
  pause: 'it is paused',
  tenant: 'its tenant is suspended',
  share: 'its tenant holds all the slots that it may hold',
  limit: 'a limit is reached',
  rate: 'a rate is used up',
  breaker: 'the breaker of a service is open',
  budget: 'a budget is spent',
  order: 'an earlier job of its key comes first',
  key_limit: 'its key has as many jobs running as it may',
  version: 'no worker knows its payload version',
  overload: 'workers are overloaded',
  quiet: 'its workers take no more jobs',
  memory: 'its workers are short of memory',
  suspect: 'it may have ended a process, and is tried with care',
  semaphore: 'a semaphore of its workers is taken',
}

export function verdictOf(job: JobDetails, why: Explanation | undefined): JobVerdict {
  const name = `Job ${job.id}`
  const took = job.startedAt && job.finishedAt ? Date.parse(job.finishedAt) - Date.parse(job.startedAt) : null
  const after = took === null ? '.' : `, after ${formatDuration(took)}.`
  switch (job.status) {
    case 'completed':
      return { before: `${name} `, stress: 'is completed', tone: 'ok', after }
    case 'cancelled':
      return { before: `${name} was `, stress: 'cancelled', tone: 'late', after: job.reason ? `: ${job.reason}` : '.' }
    case 'dead': {
      const reason = REASONS[job.reason ?? ''] ?? job.reason?.replaceAll('_', ' ')
      return { before: `${name} `, stress: 'is dead', tone: 'fail', after: reason ? `: ${reason}.` : '.' }
    }
    case 'processing': {
      const isFirst = job.attempt <= 1
      return {
        before: `${name} `,
        stress: 'runs',
        tone: 'ok',
        after: isFirst ? '.' : `, attempt ${job.attempt} of ${job.maxAttempts}.`,
      }
    }
    default:
      return waitingVerdict(name, job, why)
  }
}

function waitingVerdict(name: string, job: JobDetails, why: Explanation | undefined): JobVerdict {
  const [first, ...rest] = why?.reasons ?? []
  if (first !== undefined) {
    const more =
      rest.length === 0
        ? '.'
        : `, and ${rest.length === 1 ? 'one more thing holds' : `${rest.length} more things hold`} it.`
    return {
      before: `${name} waits because `,
      stress: HOLDS[first.mechanism] ?? first.mechanism,
      tone: 'late',
      after: more,
    }
  }
  if (job.status === 'blocked')
    return { before: `${name} waits `, stress: 'for other steps of its workflow', tone: 'late', after: '.' }
  const ahead = why?.ahead?.own
  if (ahead === undefined) return { before: `${name} `, stress: 'waits', tone: 'late', after: '.' }
  const line =
    ahead === 0 ? 'it is next in line' : `${ahead === 1 ? 'one job comes' : `${formatNumber(ahead)} jobs come`} first`
  return { before: `${name} `, stress: 'waits for a free slot', tone: 'late', after: `: ${line}.` }
}
