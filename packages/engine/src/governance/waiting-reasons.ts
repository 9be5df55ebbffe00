// The plainest reasons why a job waits: its time has not come, and nobody who could run it is there.
import { explainWorkers } from '../store/explain.ts'
import type { Explainer } from './reason.ts'

export const explainDue: Explainer = async (job, { now }) => {
  if (job.runAt.getTime() <= (now ?? new Date()).getTime()) return undefined
  const why =
    job.lastErrorAt === null ? 'It is not due before' : `Its attempt ${job.attempt} failed; the next is due at`
  return {
    mechanism: 'due',
    sentence: `${why} ${job.runAt.toISOString()}.`,
    until: job.runAt,
    remedy: `millrace retry ${job.id}`,
  }
}

export const explainWorker: Explainer = async (job, { db }) => {
  const { live, able } = await explainWorkers(db, job.type)
  if (able > 0) return undefined
  const sentence =
    live === 0
      ? 'No worker is running.'
      : `Of ${live} running ${live === 1 ? 'worker' : 'workers'} none has a handler for type "${job.type}".`
  return { mechanism: 'worker', sentence, until: null, remedy: 'millrace work MODULE' }
}
