import type { Events } from '../events.ts'

/**
 * Calls back with the id of every job that this process ends for good. Returns a function that stops it. Listening has
 * a price for every job that completes, so it is done only while somebody waits.
 */
export function onEnded(events: Events, act: (id: string) => void): () => void {
  const offs = [
    events.on('job_completed', ({ job }) => act(job.id)),
    events.on('job_cancelled', ({ job }) => act(job.id)),
    events.on('job_died', ({ job }) => act(job.id)),
    events.on('job_rescued', ({ id, outcome }) => outcome !== 'requeued' && act(id)),
  ]
  return () => {
    for (const off of offs) off()
  }
}
