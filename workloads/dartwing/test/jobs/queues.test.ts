// The queues are those of the configuration, and the configuration is that of the specification.
import { expect, test } from 'vitest'
import { contracts } from '#src/contracts'
import { DLQ_CONFIG, getQueueForJob, QUEUE_CONFIG, type QueueName } from '#src/jobs/queue-config'
import { declareQueues, queues } from '#src/jobs/queues'

const SPECIFIED = {
  critical: { workers: 4, timeout_seconds: 60, max_jobs_per_org: null, retry_count: 3, retry_delay: [10, 30, 60] },
  default: { workers: 8, timeout_seconds: 300, max_jobs_per_org: 500, retry_count: 3, retry_delay: [60, 300, 900] },
  bulk: {
    ...{ workers: 2, timeout_seconds: 600, max_jobs_per_org: 100, rate_limit_per_minute: 50 },
    ...{ retry_count: 2, retry_delay: [300, 900] },
  },
}
const METHODS: Readonly<Record<string, QueueName>> = {
  'dartwing_fax.send_fax': 'critical',
  'dartwing_core.notifications.send_notification': 'critical',
  'dartwing_core.auth.sync_keycloak_session': 'critical',
  'dartwing_core.integrations.refresh_token': 'critical',
  'dartwing_core.sync.process_delta': 'default',
  'dartwing_core.webhooks.dispatch': 'default',
  'dartwing_core.email.send': 'default',
  'dartwing_core.imports.process_batch': 'bulk',
  'dartwing_core.reports.generate': 'bulk',
  'dartwing_core.exports.full_export': 'bulk',
}

test('the configuration has the figures of the specification, key by key', () => {
  const listed = (queue: string) => Object.keys(METHODS).filter((method) => METHODS[method] === queue)
  for (const [name, figures] of Object.entries(SPECIFIED))
    expect(QUEUE_CONFIG[name as QueueName], name).toEqual({ ...figures, job_types: listed(name) })
  expect(Object.keys(QUEUE_CONFIG)).toEqual(Object.keys(SPECIFIED))
  expect(DLQ_CONFIG).toEqual({
    ...{ max_retries: 3, retry_delay_seconds: [60, 300, 900], dlq_retention_days: 7, alert_threshold: 50 },
  })
})

test.each(Object.entries(SPECIFIED))('the declared queue %s has those figures, too', (name, figures) => {
  const { concurrency, options, tenantJobs, limits } = queues[name as QueueName]
  expect(concurrency).toBe(figures.workers)
  expect(options.timeout).toBe(`${figures.timeout_seconds}s`)
  expect(options.retry?.attempts).toBe(figures.retry_count + 1)
  const waits = figures.retry_delay.map((_, i) =>
    options.retry?.backoff?.({ attempt: i + 1, error: undefined, random: 0.5 }),
  )
  expect(waits).toEqual(figures.retry_delay.map((seconds) => seconds * 1_000))
  expect(tenantJobs).toEqual(
    figures.max_jobs_per_org === null ? undefined : { max: figures.max_jobs_per_org, over: 'warn' },
  )
  const rates = limits.map(({ rate }) => rate)
  expect(rates).toEqual(
    'rate_limit_per_minute' in figures ? [{ jobs: figures.rate_limit_per_minute, perMs: 60_000 }] : [],
  )
})

test('critical runs before default, and default before bulk', () => {
  expect(queues.critical.priority).toBeLessThan(queues.default.priority)
  expect(queues.default.priority).toBeLessThan(queues.bulk.priority)
})

test('the rate of bulk can be that of each organization', () => {
  expect(declareQueues('queue').bulk.limits[0]?.isPerTenant).toBe(false)
  expect(declareQueues('organization').bulk.limits[0]?.isPerTenant).toBe(true)
})

test.each(Object.entries(METHODS))('%s goes to %s', (method, queue) => {
  expect(getQueueForJob(method)).toBe(queue)
})

test('a method that no queue lists goes to default', () => {
  expect(getQueueForJob('dartwing_core.crud.update_documents')).toBe('default')
})

test('every contract is in the queue of its name, derives its organization, and has examples', () => {
  for (const { type, queue, tenantOf, examples } of contracts) {
    expect(queue.name, type).toBe(getQueueForJob(type))
    expect(examples.length, type).toBeGreaterThan(0)
    if (Object.hasOwn(examples[0] as object, 'organization'))
      expect(tenantOf?.(examples[0] as never)).toBe('ORG-2025-00001')
    else expect(type).toMatch(/monitoring/)
  }
})
