import { randomUUID } from 'node:crypto'
import { context, trace } from '@opentelemetry/api'
import { defineJob, defineQueues, defineSchedule, defineWorkflow, every, fixed, implement } from 'millrace'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { jobEvent, setup } from '../../../engine/test/support/setup.ts'
import type { ReceivedSpan } from '../support/otlp-receiver.ts'
import { one, traced } from '../support/traced.ts'

const { parents, children, other } = defineQueues({ parents: {}, children: {}, other: {} })
const payload = z.object({ n: z.number().optional() })
const parent = defineJob({ type: 'parent', queue: parents, payload })
const child = defineJob({ type: 'child', queue: children, payload })
const elsewhere = defineJob({ type: 'elsewhere', queue: other, payload })
const isolated = defineJob({ type: 'isolated', queue: parents, payload })

const DEAD_WORKER = randomUUID()
const PARENT = `00-${'a1'.repeat(16)}-${'b2'.repeat(8)}-01`
const linkTo = ({ traceId, spanId }: ReceivedSpan) => [{ traceId, spanId }]

describe('the trace of a job', () => {
  test.each([
    ['ctx.enqueue', 'ctx'],
    ['millrace.enqueue inside the handler', 'ambient'],
  ])('goes on through %s', async (_, how) => {
    await using t = await traced()
    const { millrace } = await t.working([
      implement(parent, async (__, ctx) => {
        if (how === 'ctx') await ctx.enqueue(child, {})
        else await millrace.enqueue(child, {})
      }),
      implement(child, () => {}),
    ])
    await millrace.enqueue(parent, {})
    const run = one(await t.received('process children'))
    const send = one(await t.spans('send children'))
    const parentRun = one(await t.received('process parents'))
    expect(send).toMatchObject({ traceId: parentRun.traceId, parentSpanId: parentRun.spanId })
    expect(run.links).toEqual(linkTo(send))
  })

  test('goes on through the process of an isolated handler, and what that enqueues', async () => {
    await using t = await traced()
    const module = new URL('../fixtures/isolated-handler.js', import.meta.url)
    const { millrace } = await t.working([
      implement(isolated, { isolation: 'process', module }),
      implement(child, () => {}),
    ])
    const { id } = await millrace.enqueue(isolated, {})
    await jobEvent(millrace, 'job_completed', id)
    const run = one(await t.received('process parents'))
    const send = one(await t.received('send children'))
    expect((await millrace.job(id))?.result).toEqual({
      traceParent: `00-${run.traceId}-${run.spanId}-01`,
      traceId: run.traceId,
    })
    expect(run.attributes['job.handler']).toBe('isolated')
    expect(send).toMatchObject({ traceId: run.traceId, parentSpanId: run.spanId })
  })

  test('is that of one send span per queue where many are enqueued, in a transaction too', async () => {
    await using t = await traced()
    const millrace = t.client([child, elsewhere])
    const client = await t.pool.connect()
    const request = await t.inRequest(async () => {
      await client.query('begin')
      await millrace.enqueueMany(
        [
          { job: child, payload: {} },
          { job: elsewhere, payload: {} },
          { job: child, payload: {} },
        ],
        { tx: client },
      )
      await client.query('commit')
    })
    client.release()
    const [toChildren, toOther] = [one(await t.received('send children')), one(await t.received('send other'))]
    expect(toChildren).toMatchObject({
      traceId: request.traceId,
      parentSpanId: request.spanId,
      attributes: { 'messaging.batch.message_count': 2, 'job.type': 'child' },
    })
    const jobs = await millrace.jobs()
    const expected = [toChildren, toOther, toChildren].map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`)
    expect(jobs.map(({ traceParent }) => traceParent).reverse()).toEqual(expected)
  })

  test('is the one that the caller names, by type too, and what is no trace parent is passed over', async () => {
    await using t = await traced()
    const millrace = t.client([child])
    await millrace.enqueueByType('child', {}, { traceParent: PARENT })
    await millrace.enqueue(child, {}, { traceParent: 'nonsense' })
    const [named, root] = await t.received('send children', 2)
    expect(named).toMatchObject({ traceId: 'a1'.repeat(16), parentSpanId: 'b2'.repeat(8) })
    expect(root?.parentSpanId).toBeUndefined()
  })

  test('of each step of a workflow is that of its start', async () => {
    await using t = await traced()
    const flow = defineWorkflow('flow')
      .step('first', parent, { payload: () => ({}) })
      .step('second', child, { after: 'first', payload: () => ({}) })
    const millrace = t.client([], { workflows: [flow] })
    await millrace.work({ handlers: [implement(parent, () => {}), implement(child, () => {})] })
    const request = await t.inRequest(() => millrace.workflows.start(flow))
    const second = one(await t.received('process children'))
    for (const name of ['send parents', 'send children'])
      expect(one(await t.spans(name))).toMatchObject({ traceId: request.traceId, parentSpanId: request.spanId })
    expect(second.links).toEqual(linkTo(one(await t.spans('send children'))))
    expect(second.attributes['millrace.workflow.id']).toBe(request.value.id)
  })

  test('of a schedule’s job begins with its tick', async () => {
    await using t = await traced()
    const schedule = defineSchedule({ name: 'often', job: child, when: every('1h'), payload: {} })
    const millrace = t.client([child], { schedules: [schedule] })
    await millrace.work({ handlers: [implement(child, () => {})] })
    await millrace.schedules.run('often', { by: 'ann' })
    const run = one(await t.received('process children'))
    const send = one(await t.spans('send children'))
    expect(send.parentSpanId).toBeUndefined()
    expect(run.links).toEqual(linkTo(send))
  })

  test('of a redriven dead letter is that of the first enqueue', async () => {
    await using t = await traced()
    let isBroken = true
    const fragile = defineJob({ type: 'fragile', queue: other, payload, retry: { attempts: 1, backoff: fixed('1ms') } })
    const { millrace } = await t.working([
      implement(fragile, () => {
        if (isBroken) throw new Error('broken')
      }),
    ])
    const { id } = await millrace.enqueue(fragile, {})
    await jobEvent(millrace, 'job_died', id)
    isBroken = false
    await millrace.retry(id, { by: 'ann' })
    const [dead, again] = await t.received('process other', 2)
    const send = one(await t.spans('send other'))
    expect([dead?.links, again?.links]).toEqual([linkTo(send), linkTo(send)])
  })

  test('tells of a run whose worker was killed', async () => {
    await using t = await traced()
    const { millrace } = await t.working([implement(child, () => {})])
    const { id } = await millrace.enqueue(child, {}, { runAt: new Date(Date.now() + 3_600_000), traceParent: PARENT })
    // As a process leaves it that is killed between claim and outcome.
    await t.sql(
      `insert into millrace.worker (id, host, pid, version, lanes, started_at, heartbeat_at, expires_at, ended_at, ended_reason)
       values ($1, 'web-3', 411, '0', '{}', now(), now(), now(), now(), 'killed')`,
      [DEAD_WORKER],
    )
    await t.sql(
      `update millrace.job set status = 'processing', attempt = 1, worker_id = $1, run_id = $2, started_at = now(),
         deadline_at = now() + interval '1 hour' where id = $3`,
      [DEAD_WORKER, randomUUID(), id],
    )
    const spans = await t.received('process children')
    const killed = spans.find((each) => each.attributes['error.type'] === 'WorkerDied')
    expect(killed).toMatchObject({
      attributes: { 'job.id': Number(id), 'job.attempt': 1, 'millrace.outcome': 'interrupted' },
      events: [{ name: 'job.interrupted', attributes: { 'host.name': 'web-3' } }],
      links: linkTo(one(await t.spans('send children'))),
    })
  })
})

test('without an SDK nothing is traced, and the trace of the caller travels all the same', async () => {
  await using t = await setup()
  const [contexts, spans] = [vi.spyOn(context, 'with'), vi.spyOn(trace, 'setSpan')]
  const seen: unknown[] = []
  const { millrace } = await t.working([
    implement(parent, async (_, ctx) => {
      seen.push(ctx.traceParent, ctx.traceId)
      await ctx.enqueue(child, {})
      await millrace.enqueue(child, {})
    }),
    implement(child, () => {}),
  ])
  const { id } = await millrace.enqueue(parent, {}, { traceParent: PARENT })
  await jobEvent(millrace, 'job_completed', id)
  expect(seen).toEqual([PARENT, 'a1'.repeat(16)])
  expect((await millrace.jobs()).map(({ traceParent }) => traceParent)).toEqual([PARENT, PARENT, PARENT])
  // Nothing but the look for a tracer.
  expect([contexts.mock.calls, spans.mock.calls]).toEqual([[], []])
  const lone = await millrace.enqueue(child, {})
  expect((await millrace.job(lone.id))?.traceParent).toBeNull()
})
