// A job that was given no correlation id is the root of its own. Its column is null, which costs nothing to store and
// nothing to index; statements that show it say coalesce(correlation_id, 'job-' || id).
import { isJobId } from './job-id.ts'

export const ownCorrelation = (id: string): string => `job-${id}`

const OWN = /^job-(\d+)$/

/** The job whose own correlation this is, if it is one. */
export function rootOf(correlationId: string): string | null {
  const id = OWN.exec(correlationId)?.[1]
  return id !== undefined && isJobId(id) ? id : null
}
