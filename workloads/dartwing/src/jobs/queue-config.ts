// The queues as data: workers, timeouts, limits and job types. Everything else is made from it.

export interface QueueConfig {
  /** Slots of one process. */
  readonly workers: number
  readonly timeout_seconds: number
  /** Null: no limit. */
  readonly max_jobs_per_org: number | null
  readonly rate_limit_per_minute?: number
  readonly retry_count: number
  /** Seconds before each retry. */
  readonly retry_delay: readonly [number, ...number[]]
  readonly job_types: readonly string[]
}

export const QUEUE_CONFIG = {
  critical: {
    workers: 4,
    timeout_seconds: 60,
    max_jobs_per_org: null,
    retry_count: 3,
    retry_delay: [10, 30, 60],
    job_types: [
      'dartwing_fax.send_fax',
      'dartwing_core.notifications.send_notification',
      'dartwing_core.auth.sync_keycloak_session',
      'dartwing_core.integrations.refresh_token',
    ],
  },
  default: {
    workers: 8,
    timeout_seconds: 300,
    max_jobs_per_org: 500,
    retry_count: 3,
    retry_delay: [60, 300, 900],
    job_types: ['dartwing_core.sync.process_delta', 'dartwing_core.webhooks.dispatch', 'dartwing_core.email.send'],
  },
  bulk: {
    workers: 2,
    timeout_seconds: 600,
    max_jobs_per_org: 100,
    rate_limit_per_minute: 50,
    retry_count: 2,
    retry_delay: [300, 900],
    job_types: [
      'dartwing_core.imports.process_batch',
      'dartwing_core.reports.generate',
      'dartwing_core.exports.full_export',
    ],
  },
} as const satisfies Readonly<Record<string, QueueConfig>>

export type QueueName = keyof typeof QUEUE_CONFIG

/** `max_retries` and `retry_delay_seconds` are those of the default queue: each queue has its own. */
export const DLQ_CONFIG = {
  max_retries: 3,
  retry_delay_seconds: [60, 300, 900],
  dlq_retention_days: 7,
  alert_threshold: 50,
} as const

/** The queue that lists the method, else `default`. */
export function getQueueForJob(method: string): QueueName {
  const listing = Object.entries(QUEUE_CONFIG).find(([, { job_types: types }]) =>
    (types as readonly string[]).includes(method),
  )
  return (listing?.[0] ?? 'default') as QueueName
}
