// The test matrix of Dartwing's job isolation, row by row, on its own queues. "Permission isolation" is in
// dartwing-matrix.test.ts.
import { defineJob, defineLimit, defineQueues, delays, implement } from 'millrace'
import { fakeClock } from 'millrace/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { eventually, jobEvent, setup, signal } from '../support/setup.ts'

const MAX_JOBS = 500
const queues = defineQueues({
  critical: {
    priority: 0,
    concurrency: 4,
    timeout: '60s',
    retry: { attempts: 4, backoff: delays(['10s', '30s', '60s']) },
  },
  default: {
    concurrency: 8,
    timeout: '300s',
    tenantJobs: { max: MAX_JOBS },
    retry: { attempts: 4, backoff: delays(['60s', '300s', '900s']) },
  },
  bulk: {
    priority: 9,
    concurrency: 2,
    timeout: '600s',
    tenantJobs: { max: 100 },
    limits: [defineLimit('bulk', { rate: '50/minute' })],
    retry: { attempts: 3, backoff: delays(['300s', '900s']) },
  },
})
const payload = z.object({ n: z.number() })
const sendFax = defineJob({ type: 'dartwing_fax.send_fax', queue: queues.critical, payload })
const processDelta = defineJob({ type: 'dartwing_core.sync.process_delta', queue: queues.default, payload })
const generateReport = defineJob({ type: 'dartwing_core.reports.generate', queue: queues.bulk, payload })
const jobs = [sendFax, processDelta, generateReport]
const numbered = (count: number) => Array.from({ length: count }, (_, n) => ({ n }))
const START = new Date('2025-11-20T08:00:00Z')

describe('Dartwing test matrix', () => {
  test('Queue routing: Enqueue fax job → Goes to critical queue', async () => {
    await using t = await setup()
    const millrace = t.client(jobs)
    const fax = await millrace.enqueue(sendFax, { n: 1 }, { tenant: 'org-1' })
    const sync = await millrace.enqueue(processDelta, { n: 1 }, { tenant: 'org-1' })
    const report = await millrace.enqueue(generateReport, { n: 1 }, { tenant: 'org-1' })
    expect(await millrace.job(fax.id)).toMatchObject({ queue: 'critical', maxAttempts: 4 })
    expect(await millrace.job(sync.id)).toMatchObject({ queue: 'default', maxAttempts: 4 })
    expect(await millrace.job(report.id)).toMatchObject({ queue: 'bulk', maxAttempts: 3 })
  })

  test('Org limit: Enqueue 501 jobs for one org → 501st logs warning', async () => {
    await using t = await setup()
    const millrace = t.client(jobs)
    const events: unknown[] = []
    millrace.events.on('job_limit_warning', (event) => events.push(event))
    const allowed = await millrace.enqueueMany(processDelta, numbered(MAX_JOBS), { tenant: 'org-1' })
    expect(allowed.every((each) => each.status === 'queued' && each.warnings.length === 0)).toBe(true)
    expect(events).toEqual([])
    expect(await millrace.enqueue(processDelta, { n: 501 }, { tenant: 'org-1' })).toMatchObject({
      status: 'queued',
      warnings: [{ code: 'tenant_limit', message: 'tenant "org-1" has more than its 500 jobs in queue "default"' }],
    })
    expect(events).toEqual([{ tenant: 'org-1', queue: 'default', jobs: 501, limit: 500, createdBy: null }])
    // Neither another organization nor the queue without a limit is concerned.
    const others = [
      await millrace.enqueue(processDelta, { n: 1 }, { tenant: 'org-2' }),
      ...(await millrace.enqueueMany(sendFax, numbered(MAX_JOBS + 1), { tenant: 'org-1' })),
    ]
    expect(others.every((each) => each.status === 'queued' && each.warnings.length === 0)).toBe(true)
    expect(events).toHaveLength(1)
  })

  test('Retry success: Job fails once, succeeds on retry → Job completes after retry', async () => {
    await using t = await setup()
    const clock = fakeClock(START)
    const millrace = t.client(jobs, { clock })
    const handler = implement(sendFax, (_, { attempt }) => {
      if (attempt === 1) throw new Error('the line is busy')
      return 'sent'
    })
    await millrace.work({ handlers: [handler] })
    const { id } = await millrace.enqueue(sendFax, { n: 1 }, { tenant: 'org-1' })
    await jobEvent(millrace, 'job_retry_scheduled', id)
    expect((await millrace.job(id))?.runAt).toEqual(new Date(START.getTime() + 10_000))
    clock.advance('10s')
    await jobEvent(millrace, 'job_completed', id)
    expect(await millrace.job(id)).toMatchObject({ status: 'completed', attempt: 2, result: 'sent' })
  })

  test('DLQ routing: Job fails 3 times → Moves to DLQ, when its retries are exhausted', async () => {
    await using t = await setup()
    const clock = fakeClock(START)
    const millrace = t.client(jobs, { clock })
    const handler = implement(sendFax, () => {
      throw new Error('no such number')
    })
    await millrace.work({ handlers: [handler] })
    const { id } = await millrace.enqueue(sendFax, { n: 1 }, { tenant: 'org-1' })
    for (const [attempt, wait] of (['10s', '30s', '60s'] as const).entries()) {
      await eventually(async () => {
        const job = await millrace.job(id)
        return job?.attempt === attempt + 1 && job.status === 'failed'
      })
      expect(await millrace.deadLetters.list()).toEqual([])
      clock.advance(wait)
    }
    expect(await jobEvent(millrace, 'job_died', id)).toMatchObject({ reason: 'exhausted' })
    expect(await millrace.deadLetters.list()).toMatchObject([
      { jobId: id, type: sendFax.type, queue: 'critical', tenant: 'org-1', attempts: 4, status: 'pending' },
    ])
  })

  test('Stuck detection: Job runs for 2x timeout → Detected and killed', async () => {
    await using t = await setup()
    const release = signal()
    const told = signal<unknown>()
    const handler = implement(sendFax, async (_, ctx) => {
      ctx.signal.addEventListener('abort', () => told.resolve(ctx.signal.reason))
      await release.promise
    })
    // A minute in production.
    const { millrace } = await t.working([handler], { timeouts: { [sendFax.type]: '300ms' } })
    const { id } = await millrace.enqueue(sendFax, { n: 1 }, { tenant: 'org-1' })
    expect(await told.promise).toMatchObject({ name: 'TimedOut' })
    expect(await jobEvent(millrace, 'job_died', id)).toMatchObject({ reason: 'stuck' })
    expect(await millrace.deadLetters.list()).toMatchObject([{ jobId: id, reason: 'stuck', tenant: 'org-1' }])
    release.resolve()
  })

  test('Worker scaling: High load on critical queue → Critical jobs still process', async () => {
    await using t = await setup()
    const release = signal()
    const faxes = new Map<string | null, number>()
    const handlers = [
      implement(sendFax, (_, { tenant }) => void faxes.set(tenant, (faxes.get(tenant) ?? 0) + 1)),
      implement(processDelta, () => release.promise),
      implement(generateReport, () => release.promise),
    ]
    const millrace = t.client(jobs)
    await millrace.enqueueMany(generateReport, numbered(300), { tenant: 'org-1' })
    await millrace.enqueueMany(processDelta, numbered(400), { tenant: 'org-1' })
    await millrace.work({ handlers })
    const running = () =>
      t.sql(
        `select queue, count(*)::int from millrace.job where status = 'processing' and queue <> 'critical'
         group by queue order by queue`,
      )
    // Every slot of the other queues is taken, and stays so.
    await eventually(async () => (await running()).length === 2)
    await millrace.enqueueMany(sendFax, numbered(500), { tenant: 'org-1' })
    await millrace.enqueueMany(sendFax, numbered(10), { tenant: 'org-2' })
    await eventually(async () => faxes.get('org-1') === 500 && faxes.get('org-2') === 10, 60_000)
    expect(await running()).toEqual([
      { queue: 'bulk', count: 2 },
      { queue: 'default', count: 8 },
    ])
    release.resolve()
  })
})
