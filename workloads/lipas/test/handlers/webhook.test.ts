// The handler of `webhook`: what the partner is told, its token, and what its answers mean.
import { drain } from 'millrace/testing'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { limits, services, webhook } from '#src/contracts'
import { latestDeliveries } from '#src/utp/deliveries'
import { eventually } from '../../../../packages/engine/test/support/setup.ts'
import { type Lipas, setup } from '../support/lipas.ts'

let t: Lipas
beforeAll(async () => {
  t = await setup({ hasSampleData: true, sandbox: { utp: { perSecond: 1_000 } } })
  await t.millrace.limits.set(limits.utp.name, { rate: '1000/second' }, { by: 'test' })
})
afterAll(() => t[Symbol.asyncDispose]())
beforeEach(() => t.sandbox.set('utp', 'ok'))

const handlers = () => [t.handler('webhook')]
const breaker = () => t.millrace.breakers.get(services.webhook.name)

test('the partner is told which places and places of interest have changed, and which are unknown is the result', async () => {
  const payload = { 'lipas-ids': [1234, 5678, 999_999], 'loi-ids': [91_011, 121_314], 'operation-type': 'update' }
  const run = await t.run('webhook', payload)
  expect(run).toMatchObject({ outcome: 'completed', result: { sent: 4, unknown: [999_999], status: 202 } })
  const [call] = t.sandbox.utp.calls
  expect(call).toMatchObject({ webhookId: run.job.id, sourceEnv: 'dev', deliveries: 1 })
  expect(call?.objects).toEqual(['sports-site 1234', 'sports-site 5678', 'loi 91011', 'loi 121314'])
  expect(await latestDeliveries(t.system.database, 1)).toMatchObject([
    { jobId: run.job.id, operationType: 'update', objects: 4, status: 202 },
  ])
})

test('nothing is sent where every id is unknown', async () => {
  const before = t.sandbox.received.count('utp')
  const run = await t.run('webhook', { 'lipas-ids': [999_999] })
  expect(run).toMatchObject({ outcome: 'completed', result: { sent: 0, unknown: [999_999], status: 204 } })
  expect(t.sandbox.received.count('utp')).toBe(before)
})

test('a payload of the older queue is lifted to the new version', async () => {
  const { id } = await t.millrace.enqueue(webhook, { 'lipas-ids': [123] })
  await t.sql('update millrace.job set payload_version = 1, payload = $2 where id = $1', [
    id,
    { 'batch-data': { 'lipas-ids': [1234], 'operation-type': 'batch', 'initiated-by': 'ann' } },
  ])
  const [run] = await drain(t.millrace, handlers())
  expect(run).toMatchObject({ job: { id }, outcome: 'completed', result: { sent: 1 } })
  expect(t.sandbox.utp.calls[0]?.objects).toEqual(['sports-site 1234'])
})

test('one token does for a hundred webhooks, also side by side', async () => {
  t.sandbox.utp.revokeTokens()
  await t.run('webhook', { 'lipas-ids': [123] })
  const before = t.sandbox.utp.tokensIssued
  await t.millrace.enqueueMany(
    webhook,
    Array.from({ length: 100 }, () => ({ 'lipas-ids': [123] })),
  )
  const done = new Promise<void>((resolve) => {
    let count = 0
    t.millrace.events.on('job_completed', () => {
      count += 1
      if (count === 100) resolve()
    })
  })
  const worker = await t.work()
  await done
  await worker.stop()
  expect(t.sandbox.utp.tokensIssued).toBe(before)
})

test('a token that was withdrawn is replaced once, within the same attempt', async () => {
  await t.run('webhook', { 'lipas-ids': [123] })
  const before = t.sandbox.utp.tokensIssued
  t.sandbox.utp.revokeTokens()
  expect(await t.run('webhook', { 'lipas-ids': [123] })).toMatchObject({ outcome: 'completed' })
  expect(t.sandbox.utp.tokensIssued).toBe(before + 1)
})

test('an answer that is lost is a failed attempt, and the partner counts the repeated webhook-id once', async () => {
  t.sandbox.utp.failWith(500)
  const { id } = await t.millrace.enqueue(webhook, { 'lipas-ids': [123] })
  const [first] = await drain(t.millrace, handlers())
  expect(first).toMatchObject({ outcome: 'retry', failure: { message: 'The partner answered 500.' } })
  expect(await breaker()).toMatchObject({ state: 'closed', failureCount: 1 })
  t.sandbox.utp.failWith(undefined)
  await t.millrace.runNow(id, { by: 'test' })
  expect(await drain(t.millrace, handlers())).toMatchObject([{ outcome: 'completed' }])
  const calls = t.sandbox.utp.calls.filter(({ webhookId }) => webhookId === id)
  expect(calls).toMatchObject([{ deliveries: 2 }])
})

test.each([400, 404, 422])('%i is a dead letter at once, and no sign that the partner is unwell', async (status) => {
  t.sandbox.utp.failWith(status)
  const run = await t.run('webhook', { 'lipas-ids': [123] })
  expect(run).toMatchObject({
    outcome: 'dead',
    reason: 'unrecoverable',
    failure: { message: expect.stringContaining(String(status)) },
  })
  expect(await breaker()).toMatchObject({ state: 'closed', failureCount: 0 })
  t.sandbox.utp.failWith(undefined)
})

test('429 makes all webhooks wait as long as the partner asks, without an attempt and without the breaker', async () => {
  t.sandbox.set('utp', 'limited')
  const snoozed = t.millrace.events.next('job_snoozed')
  const worker = await t.work()
  const { id } = await t.millrace.enqueue(webhook, { 'lipas-ids': [123] })
  expect(await snoozed).toMatchObject({ job: { id } })
  // The attempt was given back.
  expect(await t.millrace.job(id)).toMatchObject({ attempt: 0 })
  expect(await breaker()).toMatchObject({ state: 'closed', failureCount: 0 })
  const use = async () => (await t.millrace.limits.list()).find(({ name }) => name === limits.utp.name)?.uses[0]
  expect(await eventually(async () => (await use())?.heldUntil ?? undefined)).toBeInstanceOf(Date)
  t.sandbox.set('utp', 'ok')
  expect(await t.millrace.result(id)).toMatchObject({ status: 'completed' })
  await worker.stop()
})
