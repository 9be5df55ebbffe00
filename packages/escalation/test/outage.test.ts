import { verifyWebhook, webhookSecret } from '@millrace/egress'
import { slack, webhook } from '@millrace/escalation'
import { expect, test } from 'vitest'
import { slackServer, webhookServer } from './support/servers.ts'
import { failing, setup } from './support/setup.ts'

test('an outage of Slack loses nothing, blocks nothing, and ends with one message', async () => {
  await using t = await setup()
  await using server = await slackServer()
  await using other = await webhookServer()
  const secrets = webhookSecret()
  const loud = failing('loud', { escalation: '#ops' }, 'loud')
  const hooked = failing('hooked', { escalation: 'hook' }, 'hooked')
  const { millrace } = await t.working(
    { channels: { '#ops': slack({ webhook: server.url }), hook: webhook({ url: other.url, secrets }) } },
    { handlers: [loud.handler, hooked.handler], allow: [server.address, other.address] },
  )
  server.mode = 'down'
  // 70 kinds of failures: more than a message has blocks for.
  for (let i = 0; i < 70; i++)
    await millrace.enqueue(loud.contract, { error: `kind ${'abcdefghij'[i % 10]}${'klmnopq'[i % 7]}` })
  await millrace.enqueue(hooked.contract, { error: 'not blocked' })
  const [call] = await other.atLeast(1)
  expect(verifyWebhook({ headers: call?.headers as never, body: call?.body as string, secrets }).id).toMatch(
    /^millrace-/,
  )
  await expect
    .poll(
      async () =>
        (await millrace.escalations.list({ state: 'undelivered', limit: 100 })).filter(
          ({ lastError }) => lastError !== null,
        ).length,
    )
    .toBeGreaterThan(0)
  await expect.poll(async () => (await millrace.escalations.list({ queue: 'loud', limit: 100 })).length).toBe(70)
  expect(await millrace.escalations.list({ state: 'undelivered', limit: 100 })).toContainEqual(
    expect.objectContaining({ lastError: expect.stringContaining('Slack answered 503') }),
  )
  server.mode = 'ok'
  const [delivering] = await millrace.jobs({ type: 'millrace.escalation.deliver', status: 'pending' })
  if (delivering !== undefined) await millrace.runNow(delivering.id, { by: 'test' })
  await expect.poll(async () => millrace.escalations.list({ state: 'undelivered' })).toEqual([])
  expect(server.received).toHaveLength(1)
  const rows = await millrace.escalations.list({ queue: 'loud', limit: 100 })
  expect(new Set(rows.map(({ messageKey }) => messageKey)).size).toBe(1)
  expect(server.received[0]?.blocks.length).toBeLessThanOrEqual(50)
  expect(server.refused).toEqual([])
})

test('messages to Slack keep a second apart, and Retry-After is honoured', async () => {
  await using t = await setup()
  await using server = await slackServer()
  const { contract, handler } = failing('loud', { escalation: '#ops' })
  const { millrace } = await t.working(
    { channels: { '#ops': { ...slack({ webhook: server.url }), spacingMs: 0 } } },
    { handlers: [handler], allow: [server.address] },
  )
  await millrace.enqueue(contract, { error: 'first' })
  await server.atLeast(1)
  await millrace.enqueue(contract, { error: 'second' })
  await server.atLeast(2)
  expect(server.refused.length).toBeGreaterThan(0)
  expect(server.refused[0]).toBe('429 rate_limited')
  const [job] = await millrace.jobs({ type: 'millrace.escalation.deliver' })
  // It waited as it was told to, and that was no failed attempt.
  expect(await millrace.attempts(job?.id as string)).toEqual([])
})

test('what a channel refuses is not tried again, is a dead letter, and can be sent again', async () => {
  await using t = await setup()
  await using server = await slackServer()
  const { contract, handler } = failing('loud', { escalation: '#ops' })
  const { millrace } = await t.working(
    { channels: { '#ops': slack({ webhook: server.url }) } },
    { handlers: [handler], allow: [server.address] },
  )
  server.mode = 'gone'
  await millrace.enqueue(contract, { error: 'unheard' })
  await expect.poll(async () => (await millrace.escalations.standing()).undeliverable).toBe(1)
  const [row] = await millrace.escalations.list()
  expect(row).toMatchObject({ lastError: 'Slack answered 404: no_service', undeliverableAt: expect.any(Date) })
  await expect
    .poll(async () => (await millrace.deadLetters.list()).map(({ queue }) => queue))
    .toContain('millrace.escalation')
  // The death of the delivery is not escalated itself.
  expect(await millrace.escalations.list()).toHaveLength(1)
  server.mode = 'ok'
  await millrace.escalations.resend(row?.id as string, { by: 'ann' })
  await server.atLeast(1)
})

test('a test message reaches its channel, and one for an unknown channel says which there are', async () => {
  await using t = await setup()
  await using server = await slackServer()
  const { millrace } = await t.working(
    { channels: { '#ops': slack({ webhook: server.url }) } },
    { handlers: [], allow: [server.address] },
  )
  await millrace.escalations.test('#ops', { by: 'ann' })
  const [message] = await server.atLeast(1)
  expect(message?.text).toBe('This is a test of the channel #ops, asked for by ann.')
  const id = (await millrace.escalations.test('#opps', { by: 'ann' })) as string
  await expect
    .poll(async () => (await millrace.escalations.get(id))?.lastError)
    .toBe('There is no channel "#opps". Known are: #ops.')
})

test('a private address is not reached without an allow-list, and the row says so', async () => {
  await using t = await setup()
  await using server = await slackServer()
  const { contract, handler } = failing('loud', { escalation: '#ops' })
  const { millrace } = await t.working(
    { channels: { '#ops': slack({ webhook: server.url }) } },
    { handlers: [handler] },
  )
  await millrace.enqueue(contract, { error: 'unheard' })
  await expect.poll(async () => (await millrace.escalations.list())[0]?.undeliverableAt).toEqual(expect.any(Date))
  expect(server.received).toEqual([])
})
