// The queues of the configuration, as the platform declares them.
import { type Duration, defineLimit, defineQueues, delays, type Limit, type Queue, type QueueOptions } from 'millrace'
import { readSettings } from '../settings.ts'
import { QUEUE_CONFIG, type QueueConfig, type QueueName } from './queue-config.ts'

/** What the configuration does not say: for the claim, and for people. */
const FACTS: Readonly<Record<QueueName, QueueOptions>> = {
  critical: { priority: 0, critical: true, sla: '15s', color: '#c2410c', use: 'faxes, notifications, sign-ins' },
  default: { priority: 5, color: '#0b7285', use: 'sync, webhooks, mail' },
  bulk: { priority: 9, color: '#6d5bd0', use: 'imports, reports, exports' },
}

export type BulkRate = 'queue' | 'organization'

/** `bulkRate`: whether the rate of a queue is for all organizations together, or for each. */
export function declareQueues(bulkRate: BulkRate): Readonly<Record<QueueName, Queue>> {
  const options = Object.entries(QUEUE_CONFIG).map(([name, config]) => [
    name,
    optionsOf(name as QueueName, config, bulkRate),
  ])
  return defineQueues(Object.fromEntries(options)) as Readonly<Record<QueueName, Queue>>
}

function optionsOf(name: QueueName, config: QueueConfig, bulkRate: BulkRate): QueueOptions {
  const [first, ...more] = config.retry_delay.map((seconds): Duration => `${seconds}s`)
  const { max_jobs_per_org: max, rate_limit_per_minute: rate } = config
  return {
    ...FACTS[name],
    concurrency: config.workers,
    timeout: `${config.timeout_seconds}s`,
    // The seed counts retries, the platform attempts.
    retry: { attempts: config.retry_count + 1, backoff: delays([first as Duration, ...more]) },
    ...(max !== null && { tenantJobs: { max, over: 'warn' as const } }),
    ...(rate !== undefined && { limits: [rateLimit(name, rate, bulkRate)] }),
  }
}

const rateLimit = (name: string, jobs: number, bulkRate: BulkRate): Limit =>
  defineLimit(name, { rate: { jobs, per: '1m' }, ...(bulkRate === 'organization' && { per: 'tenant' }) })

/** Every program that loads the contracts declares the same. */
export const queues = declareQueues(readSettings().DARTWING_BULK_RATE ?? 'queue')

/** One organization runs one long bulk job at a time: running jobs are never pre-empted, so fair shares cannot undo two of them. */
export const longBulkWork = defineLimit('bulk-long', { running: 1, per: 'tenant' })
