import { pagerduty, slack } from '@millrace/escalation'
import { expect, test } from 'vitest'
import { pagerDutyServer, slackServer } from './support/servers.ts'
import { failing, setup } from './support/setup.ts'

const integrationKey = 'a'.repeat(32)

test('the same fault is one incident, which is acknowledged and resolved under the same key', async () => {
  await using t = await setup()
  await using server = await pagerDutyServer()
  const { contract, handler } = failing('HIGH', { escalation: { to: 'page', respondWithin: '15m' } })
  const { millrace, delivery } = await t.working(
    { channels: { page: pagerduty({ integrationKey, url: server.url }) } },
    { handlers: [handler], allow: [server.address] },
  )
  await millrace.enqueue(contract, { error: `down ${'x'.repeat(3_000)}` })
  const [first] = await server.atLeast(1)
  expect(first).toMatchObject({ event_action: 'trigger', routing_key: integrationKey, payload: { severity: 'error' } })
  await millrace.enqueue(contract, { error: `down ${'x'.repeat(3_000)}` })
  await server.atLeast(2)
  expect(server.incidents).toEqual([first?.dedup_key])

  const [latest] = await millrace.escalations.list()
  await millrace.escalations.acknowledge(latest?.id as string, { by: 'ann' })
  await expect.poll(() => [...server.open.values()]).toEqual(['acknowledged'])

  const letters = await millrace.deadLetters.list()
  await millrace.deadLetters.resolve(letters[0]?.id as string, { by: 'ann' })
  await delivery.settle()
  expect(server.open.size).toBe(1)
  await millrace.deadLetters.ignore(letters[1]?.id as string, { by: 'ann' })
  await delivery.settle()
  await expect.poll(() => server.open.size).toBe(0)
  expect(server.received.at(-1)).toMatchObject({ event_action: 'resolve', dedup_key: first?.dedup_key })
  expect(server.refused).toEqual([])

  await millrace.enqueue(contract, { error: `down ${'x'.repeat(3_000)}` })
  await expect.poll(() => server.incidents).toEqual([first?.dedup_key, first?.dedup_key])
})

test('faults come before news, and each is a message of its own, so that one that fails repeats no other', async () => {
  await using t = await setup()
  await using server = await pagerDutyServer()
  const { contract, handler } = failing('HIGH', { escalation: 'page' })
  const { millrace, delivery } = await t.working(
    { channels: { page: pagerduty({ integrationKey, url: server.url }) } },
    { handlers: [handler], allow: [server.address] },
  )
  for (const error of ['a', 'b']) await millrace.enqueue(contract, { error })
  const [a, b] = (await server.atLeast(2)).map(({ dedup_key }) => dedup_key)
  const deliver = 'millrace.escalation.deliver'
  server.mode = 'down'
  const refused = millrace.events.next('job_retry_scheduled', ({ job }) => job.type === deliver)
  for (const key of [a, b]) {
    const row = (await millrace.escalations.list()).find((each) => each.key === key)
    await millrace.escalations.acknowledge(row?.id as string, { by: 'ann' })
  }
  await refused
  const died = millrace.events.next('job_died')
  await millrace.enqueue(contract, { error: 'c' })
  await died
  await delivery.tick()

  // From now on every other request fails.
  server.next.push('ok', 'down', 'ok', 'down', 'ok')
  server.mode = 'ok'
  const arrived = async () => {
    const [waiting] = await millrace.jobs({ type: deliver, status: 'failed' })
    if (waiting !== undefined) await millrace.runNow(waiting.id, { by: 'test' })
    return server.received.slice(2).map(({ event_action, dedup_key }) => [event_action, dedup_key])
  }
  await expect.poll(async () => (await arrived()).length).toBeGreaterThanOrEqual(3)
  const c = server.incidents[2]
  expect(await arrived()).toEqual([
    ['trigger', c],
    ['acknowledge', a],
    ['acknowledge', b],
  ])
})

test('a redriven job that completes, and a later one with the same dedup key, resolve the incident', async () => {
  await using t = await setup()
  await using server = await pagerDutyServer()
  const { contract, handler } = failing('HIGH', { escalation: 'page' })
  const { millrace, delivery } = await t.working(
    { channels: { page: pagerduty({ integrationKey, url: server.url }) } },
    { handlers: [handler], allow: [server.address] },
  )
  const resolved = async () => {
    await delivery.settle()
    return server.open.size === 0
  }
  await millrace.enqueue(contract, { error: 'once' })
  await expect.poll(() => server.open.size).toBe(1)
  const [letter] = await millrace.deadLetters.list()
  await millrace.deadLetters.redrive(letter?.id as string, { by: 'ann', payload: { error: '', ok: true } })
  await expect.poll(resolved).toBe(true)

  await millrace.enqueue(contract, { error: 'of a key' }, { dedupKey: 'stocks' })
  await expect.poll(() => server.open.size).toBe(1)
  await millrace.enqueue(contract, { error: '', ok: true }, { dedupKey: 'other' })
  await millrace.enqueue(contract, { error: '', ok: true }, { dedupKey: 'stocks' })
  await expect.poll(resolved).toBe(true)
})

test('a fault goes to the owner of its queue, or to the ops channel, which names the owner', async () => {
  await using t = await setup()
  await using feeds = await slackServer()
  await using ops = await slackServer()
  const owner = { name: 'Platform Services Guild', channel: 'slack', address: '#platform-feeds' }
  const a = failing('DEFAULT', { escalation: '#ops-alerts', owner }, 'a')
  const b = failing('LOW', { owner: { name: 'Data Insights Pod', channel: 'slack', address: '#analytics' } }, 'b')
  const { millrace } = await t.working(
    {
      ops: '#ops-alerts',
      channels: { '#platform-feeds': slack({ webhook: feeds.url }), '#ops-alerts': slack({ webhook: ops.url }) },
    },
    { handlers: [a.handler, b.handler], allow: [feeds.address, ops.address] },
  )
  const breach = { severity: 'warning', summary: 'P95 is beyond the SLA.', to: 'owner' } as const
  await millrace.escalations.escalate({ ...breach, key: 'sla/DEFAULT', queues: ['DEFAULT'] })
  await millrace.escalations.escalate({ ...breach, key: 'sla/LOW', queues: ['LOW'] })
  const [toOwner] = await feeds.atLeast(1)
  const [toOps] = await ops.atLeast(1)
  expect(JSON.stringify(toOwner)).not.toContain('owner')
  expect(JSON.stringify(toOps)).toContain('owner Data Insights Pod (#analytics)')
  await millrace.escalations.resolve('sla/DEFAULT')
  await feeds.atLeast(2)
  expect(feeds.received[1]?.text).toBe('Resolved: P95 is beyond the SLA.')
  expect(ops.received).toHaveLength(1)
})
