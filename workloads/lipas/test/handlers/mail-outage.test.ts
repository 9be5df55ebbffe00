// The mail server is gone: its breaker opens, e-mails wait without losing attempts, and all are sent when it is back.
import { expect, test } from 'vitest'
import { email, services, webhook } from '#src/contracts'
import { eventually } from '../../../../packages/engine/test/support/setup.ts'
import { closedGate } from '../support/gate.ts'
import { setup } from '../support/lipas.ts'

test('a mail server that refuses connections opens the breaker, which closes again without losing a mail', async () => {
  await using gate = await closedGate()
  await using t = await setup({ env: { LIPAS_SMTP_URL: `smtp://127.0.0.1:${gate.port}` }, hasSampleData: true })
  const breaker = () => t.millrace.breakers.get(services.email.name)
  await t.millrace.breakers.configure(services.email.name, { openFor: '3s', by: 'test' })
  await t.work()

  const opened = t.millrace.events.next('breaker_opened')
  const first = await t.millrace.enqueueMany(
    email,
    Array.from({ length: 5 }, (_, i) => ({ to: `user${i}@example.com` })),
  )
  expect(await opened).toMatchObject({ service: 'email-service' })
  const later = await t.millrace.enqueueMany(email, [{ to: 'late@example.com' }, { to: 'later@example.com' }])

  // Other types go on.
  const told = await t.millrace.enqueue(webhook, { 'lipas-ids': [123] })
  expect(await t.millrace.result(told.id)).toMatchObject({ status: 'completed' })
  expect(await breaker()).not.toMatchObject({ state: 'closed' })
  // At most one of them has tried the service meanwhile.
  const waiting = await Promise.all(later.map(async ({ id }) => (await t.millrace.job(id))?.attempt ?? 0))
  expect(waiting.reduce((a, b) => a + b)).toBeLessThanOrEqual(1)

  const closed = t.millrace.events.next('breaker_closed')
  await gate.open(t.sandbox.variables.LIPAS_SMTP_URL ?? '')
  expect(await closed).toMatchObject({ service: 'email-service' })
  for (const { id } of [...first, ...later]) expect(await t.millrace.result(id)).toMatchObject({ status: 'completed' })
  expect(t.sandbox.mailboxes.mails).toHaveLength(7)
  expect(await t.millrace.deadLetters.list()).toEqual([])

  // The recipe of the operations guide.
  await t.millrace.breakers.trip(services.email.name, { by: 'test' })
  const { id } = await t.millrace.enqueue(email, { to: 'last@example.com' })
  await eventually(async () => (await breaker())?.state === 'open')
  expect(await t.millrace.job(id)).toMatchObject({ status: 'pending', attempt: 0 })
  await t.sql(`
    UPDATE millrace.circuit_breakers
    SET state = 'closed', failure_count = 0, success_count = 0
    WHERE service_name = 'email-service';`)
  expect(await t.millrace.result(id)).toMatchObject({ status: 'completed' })
})
