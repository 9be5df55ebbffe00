// Jobs of Millrace itself. They are rows like all others, in a queue of their own, and every worker runs them without being
// told to: they need no contract, no handler and no lane.
import { LIVE } from '../contract/dedupe.ts'
import type { NewJob } from '../store/jobs.ts'

export const SYSTEM_QUEUE = 'millrace'
export const BULK_TYPE = 'millrace.bulk'
const MAX_ATTEMPTS = 10

/** The job that works on a bulk operation. */
export function bulkJob(operation: string, by: string): NewJob {
  return {
    ...{
      type: BULK_TYPE,
      queue: SYSTEM_QUEUE,
      tenant: null,
      priority: 5,
      payloadVersion: 1,
      maxAttempts: MAX_ATTEMPTS,
    },
    payload: JSON.stringify({ operation }),
    ...{ runAt: null, delayMs: 0, dedupKey: null, orderKey: null, orderStops: false, limitKey: null },
    ...{ limitConcurrency: null, tenantJobs: null, dedupe: LIVE, correlationId: null, parentJobId: null },
    ...{ createdBy: by, traceParent: null, workflowId: null },
  }
}
