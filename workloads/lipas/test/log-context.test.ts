// What is told of jobs: enough to find them, and nothing that is nobody's business.
import { expect, test } from 'vitest'
import { lipasMetrics } from '#src/telemetry/metrics'
import { setup, silent } from './support/lipas.ts'

const CANARIES = {
  LIPAS_ALERT_TO: 'canary-operator@example.net',
  LIPAS_MML_API_KEY: 'canary-elevation-key',
  LIPAS_SEARCH_API_KEY: 'canary-search-key',
  LIPAS_UTP_SUBSCRIPTION_KEY: 'canary-subscription',
  LIPAS_UTP_CLIENT_SECRET: 'canary-client-secret',
}

test.each([
  ['while all is well', {}, 'ok'],
  ['while keys are refused', CANARIES, 'ok'],
  ['while every service is down', CANARIES, 'down'],
] as const)('%s, no address, key, token or mail body is in logs, errors or metrics', async (_, given, mode) => {
  const lines: unknown[] = []
  const hear = (...line: unknown[]) => void lines.push(line)
  const logger = { ...silent, debug: hear, info: hear, warn: hear, error: hear }
  await using t = await setup({ env: given, logger, hasSampleData: true })
  for (const service of ['smtp', 'search', 'wcs', 'utp'] as const) t.sandbox.set(service, mode)
  const { system } = t
  await t.millrace.enqueueByType('email', {
    to: 'private.person@example.com',
    subject: 'canary-subject',
    body: 'canary-body',
  })
  await t.millrace.enqueueByType('webhook', { 'lipas-ids': [123] })
  await t.millrace.enqueueByType('elevation', { 'lipas-id': 123 })
  await t.millrace.breakers.trip('routing-service', { by: 'test' })
  await t.millrace.enqueueByType('monitor-queue-health', {})
  const worker = await t.work({ gracePeriod: '5s' })
  const kinds = ['job_completed', 'job_retry_scheduled', 'job_died'] as const
  const ended = new Set<string>()
  await new Promise<void>((resolve) => {
    for (const kind of kinds)
      t.millrace.events.on(kind, ({ job }) => {
        ended.add(job.type)
        if (ended.size === 4) resolve()
      })
  })
  await worker.stop()
  const attempts = await t.sql(`select last_error, error_message, result from millrace.jobs`)
  const metrics = await Promise.all(lipasMetrics.map(({ metric }) => metric.get()))
  const told = JSON.stringify([lines, attempts, metrics], (_key, value: unknown) =>
    value instanceof Error ? { message: value.message, stack: value.stack } : value,
  )
  const { mail, search, elevation, utp } = system.addresses
  const urls = [mail.url, search.url, elevation.url, utp.url, utp.tokenUrl]
  for (const secret of [
    ...urls,
    ...Object.values(CANARIES),
    'private.person',
    'canary-subject',
    'canary-body',
    'Bearer',
  ])
    expect(told.includes(secret), secret).toBe(false)
})

test('a line of a handler names its job, its type and its correlation id', async () => {
  const lines: { fields: object; message: string }[] = []
  const info = (fields: object | string, message = '') =>
    void (typeof fields === 'object' && lines.push({ fields, message }))
  await using t = await setup({ logger: { ...silent, info } })
  const options = { correlationId: 'user-action-123' }
  const { id } = await t.millrace.enqueueByType('email', { to: 'user@example.com' }, options)
  const worker = await t.work()
  await t.millrace.result(id)
  await worker.stop()
  const line = lines.find(({ message }) => message === 'sending a mail')
  expect(line?.fields).toMatchObject({
    job: id,
    type: 'email',
    correlation: 'user-action-123',
    domain: 'example.com',
  })
})
