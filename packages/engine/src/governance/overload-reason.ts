// Why a job waits whose queue yields to critical ones.
import { explainYielding } from '../store/explain.ts'
import type { Explainer } from './reason.ts'

export const explainOverload: Explainer = async (job, { db }) => {
  const [first, ...others] = await explainYielding(db, job.queue)
  if (first === undefined) return undefined
  const where = others.length === 0 ? 'one worker' : `${others.length + 1} workers`
  return {
    mechanism: 'overload',
    sentence: `Queue "${job.queue}" yields to critical queues in ${where} since ${first.since.toISOString()}: ${first.why}.`,
    until: null,
    remedy: 'Start more workers, or give the queue a lane of its own.',
  }
}
