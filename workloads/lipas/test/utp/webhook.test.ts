// The webhook job: what the partner is told, under which token, and what its answers mean.
import { json } from '@millrace/sandbox'
import { drain } from 'millrace/testing'
import { assert, expect, test } from 'vitest'
import { type Lipas, setup } from '../support/lipas.ts'

const PAYLOAD = { 'lipas-ids': [123, 1_234], 'loi-ids': [91_011], 'operation-type': 'update' }
const start = (perSecond = 1_000) => setup({ hasSampleData: true, sandbox: { utp: { perSecond } } })
const tell = (t: Lipas) => t.run('webhook', PAYLOAD)

test('100 webhooks need one token, and a token that was withdrawn is renewed at once', async () => {
  await using t = await start()
  await t.millrace.limits.set('utp', { rate: '1000/second' }, { by: 'test' })
  await t.millrace.enqueueMany(
    Array.from({ length: 100 }, () => ({ job: t.handler('webhook').contract, payload: PAYLOAD })) as never,
  )
  const reports = await drain(t.millrace, [t.handler('webhook')])
  expect(reports.filter(({ outcome }) => outcome === 'completed')).toHaveLength(100)
  expect(t.sandbox.utp.tokensIssued).toBe(1)
  t.sandbox.utp.revokeTokens()
  expect(await tell(t)).toMatchObject({ outcome: 'completed', result: { sent: 3, unknown: [], status: 202 } })
  expect(t.sandbox.utp.tokensIssued).toBe(2)
})

test('a token that is refused again is a failure', async () => {
  await using t = await start()
  const { utp } = t.sandbox
  const real = utp.answer.bind(utp)
  utp.answer = (call) => (call.path === '/objects' ? json(401, { message: 'Unauthorized' }) : real(call))
  expect(await tell(t)).toMatchObject({ outcome: 'retry', failure: { message: 'The partner answered 401.' } })
  expect(utp.tokensIssued).toBe(2)
})

test('429 waits as long as the partner asks, uses no attempt, and does not count for the breaker', async () => {
  await using t = await start()
  const { utp } = t.sandbox
  // The token first: the partner limits that, too.
  await tell(t)
  t.sandbox.set('utp', 'limited')
  for (let i = 0; i < 6; i += 1) expect(await tell(t)).toMatchObject({ outcome: 'snoozed', delayMs: 2_000 })
  expect(await t.millrace.breakers.get('webhook-service')).toMatchObject({ state: 'closed' })
  expect(utp.calls).toHaveLength(1)
})

test('a body that the partner refuses is dead at once', async () => {
  await using t = await start()
  const { utp } = t.sandbox
  const real = utp.answer.bind(utp)
  utp.answer = (call) => (call.path === '/objects' ? json(422, { message: 'no' }) : real(call))
  expect(await tell(t)).toMatchObject({
    ...{ outcome: 'dead', reason: 'unrecoverable' },
    failure: { message: 'The partner refused the objects with 422.' },
  })
})

test('what is delivered twice has the same webhook-id, and the partner counts it once', async () => {
  await using t = await start()
  const { utp } = t.sandbox
  const real = utp.answer.bind(utp)
  // The partner has taken it, and its answer is lost.
  let losesAnswer = true
  utp.answer = (call) => {
    const answer = real(call)
    if (call.path !== '/objects' || !losesAnswer) return answer
    losesAnswer = false
    return { status: 502 }
  }
  const { id } = await t.millrace.enqueueByType('webhook', PAYLOAD)
  expect(await drain(t.millrace, [t.handler('webhook')])).toMatchObject([{ outcome: 'retry' }])
  await t.millrace.runNow(id, { by: 'test' })
  expect(await drain(t.millrace, [t.handler('webhook')])).toMatchObject([{ outcome: 'completed' }])
  expect(utp.calls).toMatchObject([{ webhookId: id, deliveries: 2, objects: expect.any(Array) }])
})

test('ids that the register does not have are told of in the result, and alone nobody is called', async () => {
  await using t = await start()
  const some = await t.run('webhook', { 'lipas-ids': [123, 999_999], 'loi-ids': [888_888] })
  expect(some).toMatchObject({ outcome: 'completed', result: { sent: 1, unknown: [999_999, 888_888], status: 202 } })
  const none = await t.run('webhook', { 'lipas-ids': [999_999] })
  assert(none.outcome === 'completed')
  expect(none.result).toEqual({ sent: 0, unknown: [999_999], status: 204 })
  expect(t.sandbox.utp.calls).toHaveLength(1)
})
