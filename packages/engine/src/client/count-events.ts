// Events that count jobs by type and tenant: written, or cancelled before they ran. Nearly free while nothing listens.
import type { EnqueueResult } from '../client/enqueuer.ts'
import type { CountedJobs, Events } from '../events.ts'

type Counted = Omit<CountedJobs, 'count'>

/** `results`: by position; default: all of them are new. */
export function reportEnqueued(
  events: Events,
  jobs: readonly Counted[],
  results?: readonly Pick<EnqueueResult, 'status'>[],
): void {
  if (!events.has('jobs_enqueued')) return
  const isNew = (_: Counted, i: number) => results === undefined || results[i]?.status === 'queued'
  for (const each of countsOf(jobs.filter(isNew))) events.emit('jobs_enqueued', each)
}

export function reportCancelled(events: Events, jobs: readonly Counted[]): void {
  if (!events.has('jobs_cancelled')) return
  for (const each of countsOf(jobs)) events.emit('jobs_cancelled', each)
}

function countsOf(jobs: readonly Counted[]): Iterable<CountedJobs> {
  const counts = new Map<string, CountedJobs>()
  for (const { queue, type, tenant } of jobs) {
    const key = `${queue}\0${type}\0${tenant ?? ''}`
    const counted = counts.get(key)
    if (counted === undefined) counts.set(key, { queue, type, tenant, count: 1 })
    else counted.count++
  }
  return counts.values()
}
