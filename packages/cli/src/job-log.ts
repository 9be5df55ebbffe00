import type { Logger, Millrace } from 'millrace'

/** Writes into the log what became of jobs: failures aloud, success only at debug. */
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
  events.on('job_rescued', ({ id, type, outcome }) =>
    logger.warn({ job: id, type, outcome }, 'job rescued from a dead worker'),
  )
}

const named = ({ id, type, attempt }: { id: string; type: string; attempt: number }) => ({ job: id, type, attempt })
const round = (ms: number): number => Math.round(ms)
