// What looks after the installation, by the clock, and what stuck detection is shown with. No handler code.
import { z } from 'zod'
import { defineMethod, defineSystemMethod } from '../jobs/method.ts'

/** Reports the jobs that ran for twice their timeout. The engine has ended them before. */
export const detectStuckJobs = defineSystemMethod('dartwing_core.jobs.monitoring.detect_stuck_jobs', {
  result: z.strictObject({ reported: z.int(), failed: z.int() }),
  examples: [{}],
})

/** Removes resolved and ignored dead letters whose job failed longer ago than they are retained. */
export const cleanUpDeadLetters = defineSystemMethod('dartwing_core.jobs.monitoring.cleanup_old_dlq_entries', {
  result: z.strictObject({ removed: z.int() }),
  examples: [{}],
})

/** Goes on whatever its signal says. Only the sandbox has a handler of it. */
export const ignoreSignal = defineMethod('dartwing_sandbox.ignore_signal', {
  payload: { seconds: z.number().min(1).max(600) },
  result: z.strictObject({ seconds: z.number() }),
  timeout: '30s',
  retry: { attempts: 1 },
  examples: [{ organization: 'ORG-2025-00001', seconds: 120 }],
})
