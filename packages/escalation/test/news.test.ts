// What a channel is told after a fault: that it was acknowledged or resolved.
import { webhookSecret } from '@millrace/egress'
import { webhook } from '@millrace/escalation'
import { expect, test } from 'vitest'
import { webhookServer } from './support/servers.ts'
import { failing, setup } from './support/setup.ts'

test('acknowledged and resolved have keys of their own, so that a receiver drops neither as a repeat', async () => {
  await using t = await setup()
  await using server = await webhookServer()
  const { contract, handler } = failing('hooked', { escalation: 'hook' })
  const { millrace, delivery } = await t.working(
    { channels: { hook: webhook({ url: server.url, secrets: webhookSecret() }) } },
    { handlers: [handler], allow: [server.address] },
  )
  await millrace.enqueue(contract, { error: 'it broke' })
  await server.atLeast(1)
  const [row] = await millrace.escalations.list()
  await millrace.escalations.acknowledge(row?.id as string, { by: 'ann' })
  await server.atLeast(2)
  const [letter] = await millrace.deadLetters.list()
  await millrace.deadLetters.resolve([letter?.id as string], { by: 'ann' })
  await delivery.settle()
  const calls = await server.atLeast(3)
  const ids = calls.map(({ headers }) => (headers as Record<string, string>)['webhook-id'])
  expect(new Set(ids).size).toBe(3)
})

test('a channel that refuses news is not asked again and again', async () => {
  await using t = await setup()
  await using server = await webhookServer()
  const { contract, handler } = failing('hooked', { escalation: 'hook' })
  const { millrace, delivery } = await t.working(
    { channels: { hook: webhook({ url: server.url, secrets: webhookSecret() }) } },
    { handlers: [handler], allow: [server.address] },
  )
  await millrace.enqueue(contract, { error: 'it broke' })
  await server.atLeast(1)
  server.mode = 'gone'
  const [row] = await millrace.escalations.list()
  const died = millrace.events.next('job_died', ({ job }) => job.type === 'millrace.escalation.deliver')
  await millrace.escalations.acknowledge(row?.id as string, { by: 'ann' })
  await died
  // A look at the outbox finds no channel for which anything waits.
  expect(await delivery.tick()).toEqual([])
})
