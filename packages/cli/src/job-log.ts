import type { Logger, Millrace, WorkflowRef } from 'millrace'

/** Writes into the log what became of jobs and workflows: failures aloud, success only at debug. */
export function logJobs({ events }: Millrace, logger: Logger): void {
  events.on('job_completed', ({ job, durationMs }) =>
    logger.debug({ ...named(job), ms: round(durationMs) }, 'job completed'),
  )
  events.on('job_cancelled', ({ job, reason }) => logger.info({ ...named(job), reason }, 'job cancelled'))
  events.on('job_retry_scheduled', ({ job, failure, delayMs }) =>
    logger.warn({ ...named(job), error: failure.message, inMs: round(delayMs) }, 'job failed, will be tried again'),
  )
  events.on('job_snoozed', ({ job, delayMs }) => logger.debug({ ...named(job), inMs: round(delayMs) }, 'job postponed'))
  events.on('job_died', ({ job, reason, failure }) =>
    logger.error({ ...named(job), reason, error: failure.message }, 'job failed for good'),
  )
  events.on('job_rescued', ({ id, type, outcome, worker }) =>
    logger.warn({ job: id, type, outcome, worker }, 'job rescued from a dead worker'),
  )
  logWorkflows(events, logger)
}

function logWorkflows(events: Millrace['events'], logger: Logger): void {
  const fields = ({ id, name }: WorkflowRef) => ({ workflow: id, name })
  events.on('workflow_completed', ({ workflow }) => logger.debug(fields(workflow), 'workflow completed'))
  events.on('workflow_cancelled', ({ workflow, reason }) =>
    logger.info({ ...fields(workflow), reason }, 'workflow cancelled'),
  )
  events.on('workflow_failed', ({ workflow, reason }) =>
    logger.error({ ...fields(workflow), reason }, 'workflow failed'),
  )
  events.on('workflow_rolled_back', ({ workflow, reason }) =>
    logger.warn({ ...fields(workflow), reason }, 'workflow rolled back'),
  )
  events.on('workflow_rollback_failed', ({ workflow, reason }) =>
    logger.error({ ...fields(workflow), reason }, 'workflow could not be rolled back: somebody has to look'),
  )
}

const named = ({ id, type, attempt }: { id: string; type: string; attempt: number }) => ({ job: id, type, attempt })
const round = (ms: number): number => Math.round(ms)
