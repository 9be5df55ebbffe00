import { trace } from '@opentelemetry/api'
import {
  cancel,
  createMillrace,
  defineBudget,
  defineJob,
  defineQueues,
  discard,
  fixed,
  implement,
  type JobContext,
  snooze,
} from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { jobEvent, signal, silent } from '../../../engine/test/support/setup.ts'
import { one, traced } from '../support/traced.ts'

const { mail: queue, high } = defineQueues({ mail: {}, high: { title: 'HIGH' } })
const payload = z.object({ event_id: z.string().optional(), does: z.string().optional() })
const retry = { attempts: 2, backoff: fixed('10ms') }
const work = defineJob({ type: 'work', queue, payload, retry, attributes: ['event_id'] })

const PRODUCER = 4
const CONSUMER = 5
const ERROR = 2
const names = (events: readonly { name: string }[]) => events.map(({ name }) => name)

describe('a traced job', () => {
  test('leads from the request to the enqueue, and its run links to that', async () => {
    await using t = await traced({ service: 'shop', version: '1.4.2', environment: 'staging' })
    const { millrace } = await t.working([implement(work, async function sendMail() {})])
    const request = await t.inRequest(() =>
      millrace.enqueue(work, { event_id: 'e-7' }, { correlationId: 'order-7', tenant: 'acme' }),
    )
    const { id } = request.value
    const run = one(await t.received('process mail'))
    const send = one(await t.spans('send mail'))
    expect(send).toMatchObject({
      kind: PRODUCER,
      traceId: request.traceId,
      parentSpanId: request.spanId,
      attributes: {
        'messaging.system': 'millrace',
        'messaging.operation.name': 'send',
        'messaging.operation.type': 'send',
        'messaging.destination.name': 'mail',
        'messaging.message.id': id,
        'messaging.message.conversation_id': 'order-7',
        'job.id': Number(id),
        'job.type': 'work',
        'millrace.tenant': 'acme',
        'millrace.outcome': 'queued',
        'job.payload.event_id': 'e-7',
      },
    })
    expect(run).toMatchObject({
      kind: CONSUMER,
      parentSpanId: undefined,
      links: [{ traceId: send.traceId, spanId: send.spanId }],
      attributes: {
        'messaging.system': 'millrace',
        'messaging.operation.name': 'process',
        'messaging.operation.type': 'process',
        'messaging.destination.name': 'mail',
        'messaging.message.id': id,
        'messaging.message.conversation_id': 'order-7',
        'job.id': Number(id),
        'job.type': 'work',
        'job.queue': 'mail',
        'job.attempt': 1,
        'job.handler': 'sendMail',
        'job.payload.event_id': 'e-7',
        'millrace.tenant': 'acme',
        'millrace.outcome': 'completed',
      },
      resource: {
        'service.name': 'shop',
        'service.version': '1.4.2',
        'deployment.environment.name': 'staging',
        'process.pid': process.pid,
      },
    })
    expect(run.traceId).not.toBe(send.traceId)
    expect(names(run.events)).toEqual(['job.completed'])
    expect(run.status.code ?? 0).toBe(0)
  })

  test('goes on with the trace of its enqueue if the worker is told so', async () => {
    await using t = await traced()
    const { millrace } = await t.working([implement(work, () => {})], { traces: 'parent' })
    await millrace.enqueue(work, {})
    const run = one(await t.received('process mail'))
    const send = one(await t.spans('send mail'))
    expect(run).toMatchObject({ traceId: send.traceId, parentSpanId: send.spanId, links: [] })
  })

  test('has a span for each attempt, and all link to the one enqueue', async () => {
    await using t = await traced()
    const { millrace } = await t.working([
      implement(work, () => {
        throw new RangeError('too far')
      }),
    ])
    const { id } = await millrace.enqueue(work, {})
    await jobEvent(millrace, 'job_died', id)
    const [first, second] = await t.received('process mail', 2)
    const send = one(await t.spans('send mail'))
    for (const run of [first, second]) {
      expect(run?.links).toEqual([{ traceId: send.traceId, spanId: send.spanId }])
      expect(run?.status).toMatchObject({ code: ERROR, message: 'too far' })
      expect(run?.attributes['error.type']).toBe('RangeError')
    }
    expect(first?.attributes).toMatchObject({ 'job.attempt': 1, 'millrace.outcome': 'retry_scheduled' })
    expect(names(first?.events ?? [])).toEqual(['job.failed', 'job.retry_scheduled'])
    expect(first?.events[0]?.attributes).toMatchObject({
      'exception.type': 'RangeError',
      'exception.message': 'too far',
    })
    expect(first?.events[1]?.attributes).toMatchObject({ delay_ms: 10 })
    expect(second?.attributes).toMatchObject({ 'job.attempt': 2, 'millrace.outcome': 'dead' })
    expect(names(second?.events ?? [])).toEqual(['job.failed', 'job.exhausted'])
  })

  test('calls its queue as people do, and its handler by the name it was given', async () => {
    await using t = await traced()
    const urgent = defineJob({ type: 'urgent', queue: high, payload })
    const name = 'VoelgoedEvents.Workers.Payments.CapturePaymentWorker'
    const { millrace } = await t.working([implement(urgent, () => {}, { name })])
    await millrace.enqueue(urgent, {})
    expect(one(await t.received('process high')).attributes).toMatchObject({ 'job.queue': 'HIGH', 'job.handler': name })
  })

  test('says how else its run ended: snoozed, cancelled, discarded', async () => {
    await using t = await traced()
    const outcomes = { snooze: () => snooze('1h'), cancel: () => cancel('sold out'), discard: () => discard('no use') }
    const { millrace } = await t.working([implement(work, ({ does }) => outcomes[does as keyof typeof outcomes]?.())])
    for (const does of Object.keys(outcomes)) await millrace.enqueue(work, { does })
    const runs = await t.received('process mail', 3)
    const told = Object.fromEntries(
      runs.map((run) => [
        run.attributes['millrace.outcome'],
        run.events.map(({ name, attributes }) => [name, attributes]),
      ]),
    )
    expect(told).toMatchObject({
      snoozed: [['job.snoozed', { delay_ms: 3_600_000 }]],
      cancelled: [['job.cancelled', { reason: 'sold out' }]],
      dead: [
        ['job.failed', {}],
        ['job.died', { reason: 'discarded' }],
      ],
    })
  })

  test('is interrupted when its worker stops, also if its handler never listens', async () => {
    await using t = await traced()
    const { millrace, worker } = await t.working(
      [
        implement(
          work,
          ({ does }, ctx) =>
            new Promise((_, reject) => {
              if (does !== 'ignore') ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason))
            }),
        ),
      ],
      { gracePeriod: '10ms' },
    )
    for (const does of ['listen', 'ignore']) {
      const { id } = await millrace.enqueue(work, { does })
      await jobEvent(millrace, 'job_started', id)
    }
    await worker.stop()
    const runs = await t.received('process mail', 2)
    for (const run of runs) {
      expect(names(run.events)).toEqual(['job.interrupted'])
      expect(run.attributes['millrace.outcome']).toBe('interrupted')
    }
  })

  test('whose budget is spent says so on its span, and listeners can add to it', async () => {
    await using t = await traced()
    const budget = defineBudget('ai', { limit: 100, per: 'month', unit: 'cents' })
    const tag = defineJob({ type: 'tag', queue, payload, budget })
    const { millrace } = await t.working([implement(tag, async (_, ctx) => void (await ctx.budget.spend(100)))])
    millrace.events.on('budget_hard_stop', () =>
      trace.getActiveSpan()?.addEvent('budget_check', { budget_action: 'HARD_STOP' }),
    )
    await jobEvent(millrace, 'job_completed', (await millrace.enqueue(tag, {})).id)
    await jobEvent(millrace, 'job_cancelled', (await millrace.enqueue(tag, {})).id)
    const run = (await t.received('process mail', 2)).find(
      (each) => each.attributes['millrace.outcome'] === 'cancelled',
    )
    expect(run?.events).toMatchObject([
      { name: 'job.cancelled', attributes: { budget: 'ai', level: 'HARD_STOP', percent_used: 100 } },
      { name: 'budget_check', attributes: { budget_action: 'HARD_STOP' } },
    ])
  })

  test('that is held by its budget says so on its span', async () => {
    await using t = await traced()
    const budget = defineBudget('ai', { limit: 100, per: 'month', unit: 'cents' })
    const tag = defineJob({ type: 'tag', queue, payload, budget })
    const { millrace } = await t.working([implement(tag, async (_, ctx) => void (await ctx.budget.spend(95)))])
    await jobEvent(millrace, 'job_completed', (await millrace.enqueue(tag, {})).id)
    const { id } = await millrace.enqueue(tag, {})
    const run = (await t.received('process mail', 2)).find((each) => each.attributes['job.id'] === Number(id))
    expect(run?.attributes['millrace.outcome']).toBe('held')
    expect(run?.events).toMatchObject([
      { name: 'job.held', attributes: { budget: 'ai', level: 'QUEUE', percent_used: 95 } },
    ])
  })

  test('is interrupted when another run has taken over', async () => {
    await using t = await traced()
    const gate = signal()
    const { millrace } = await t.working([implement(work, () => gate.promise)])
    const { id } = await millrace.enqueue(work, {})
    await jobEvent(millrace, 'job_started', id)
    await t.sql('update millrace.job set run_id = gen_random_uuid() where id = $1', [id])
    gate.resolve()
    const run = one(await t.received('process mail'))
    expect(run.attributes['millrace.outcome']).toBe('interrupted')
    expect(run.events).toMatchObject([{ name: 'job.interrupted' }])
  })

  test('that is refused leaves a span that says why', async () => {
    await using t = await traced()
    const millrace = t.client([work])
    await millrace.tenants.suspend('acme', { by: 'ann', reason: 'unpaid' })
    await expect(millrace.enqueue(work, {}, { tenant: 'acme' })).rejects.toThrow('suspended')
    expect(one(await t.received('send mail'))).toMatchObject({
      status: { code: ERROR },
      attributes: { 'error.type': 'TenantSuspended' },
    })
  })

  test('gives its handler a context: spans of its own nest, and it can read the trace', async () => {
    await using t = await traced()
    let seen: Pick<JobContext, 'traceParent' | 'traceId'> | undefined
    const { millrace } = await t.working([
      implement(work, async (_, ctx) => {
        await new Promise((resolve) => setImmediate(resolve))
        trace.getTracer('test').startSpan('fetch').end()
        seen = { traceParent: ctx.traceParent, traceId: ctx.traceId }
      }),
    ])
    const { id } = await millrace.enqueue(work, {})
    const run = one(await t.received('process mail'))
    expect(one(await t.spans('fetch'))).toMatchObject({ traceId: run.traceId, parentSpanId: run.spanId })
    expect(seen).toEqual({ traceParent: `00-${run.traceId}-${run.spanId}-01`, traceId: run.traceId })
    const send = one(await t.spans('send mail'))
    expect((await millrace.job(id))?.traceParent).toBe(`00-${send.traceId}-${send.spanId}-01`)
  })

  test('has the ids of its span and what its contract names in its log lines', async () => {
    await using t = await traced()
    const lines: object[] = []
    const logger = { ...silent, info: (fields: object) => void lines.push(fields) }
    const millrace = createMillrace({ database: t.url, jobs: [work], logger })
    const worker = await millrace.work({
      handlers: [implement(work, (_, ctx) => ctx.log.info({}, 'here'))],
    })
    await millrace.enqueue(work, { event_id: 'e-8' })
    const run = one(await t.received('process mail'))
    await worker.stop()
    await millrace.close()
    expect(lines).toContainEqual(
      expect.objectContaining({ trace_id: run.traceId, span_id: run.spanId, attributes: { event_id: 'e-8' } }),
    )
  })
})
