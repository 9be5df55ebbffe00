// Waiting through an admin API until a job has ended.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Duration, type Job, type JobResult, ResultTimeout, toMs } from 'millrace'

const LOOK_EVERY_MS = 500

/** Throws ResultTimeout. `read`: the job as it is now; undefined: it has ended, and its type keeps no history. */
export async function endOf(id: string, timeout: Duration, read: () => Promise<Job | undefined>): Promise<JobResult> {
  const timeoutMs = toMs(timeout, 'timeout')
  const untilMs = performance.now() + timeoutMs
  for (;;) {
    const job = await read()
    if (job === undefined) return { status: 'gone' }
    const ended = resultOf(job)
    if (ended !== undefined) return ended
    const leftMs = untilMs - performance.now()
    if (leftMs <= 0) throw new ResultTimeout(id, timeoutMs)
    await sleep(Math.min(LOOK_EVERY_MS, leftMs))
  }
}

function resultOf({ status, reason, lastError, result }: Job): JobResult | undefined {
  switch (status) {
    case 'completed':
      return { status, result: result ?? undefined }
    case 'cancelled':
      return { status, reason: reason ?? '' }
    case 'dead':
      return { status, reason: reason as Extract<JobResult, { status: 'dead' }>['reason'], error: lastError ?? '' }
    default:
      return undefined
  }
}
