import { webhookSecret } from '@millrace/egress'
import { email, pagerduty, slack, webhook } from '@millrace/escalation'
import { defineJob, defineQueues, fixed, implement, type Logger } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { mailServer, pagerDutyServer, slackServer, webhookServer } from './support/servers.ts'
import { setup } from './support/setup.ts'

const CANARY = 'ghp_canary0123456789abcdefghijklmnopqrst'

test('messages say what the contract names of the payload, and a canary secret is in no message, mail, row or log line', async () => {
  await using t = await setup()
  await using chat = await slackServer()
  await using pages = await pagerDutyServer()
  await using hooks = await webhookServer()
  await using post = await mailServer()
  const queues = defineQueues({
    a: { escalation: 'chat' },
    b: { escalation: 'page' },
    c: { escalation: 'hook' },
    d: { escalation: 'mail' },
  })
  const contracts = Object.values(queues).map((queue) =>
    defineJob({
      ...{ type: `fetch-${queue.name}`, queue, retry: { attempts: 1, backoff: fixed(0) } },
      payload: z.object({ event_id: z.string(), url: z.string(), token: z.string() }),
      attributes: ['event_id', 'url'],
      allowSecrets: ['token'],
    }),
  )
  const lines: unknown[] = []
  const log = (fields: object, message: string) => void lines.push([fields, message])
  const logger: Logger = { debug: log, info: log, warn: log, error: log }
  const handlers = contracts.map((contract) =>
    implement(contract, async ({ token }, ctx) => {
      ctx.log.warn({ token }, `about to fail with ${token}`)
      throw new Error(`401 for token ${token}`)
    }),
  )
  const { millrace } = await t.working(
    {
      mail: { url: post.url, from: 'millrace@example.com' },
      channels: {
        chat: slack({ webhook: chat.url }),
        page: pagerduty({ url: pages.url, integrationKey: 'a'.repeat(32) }),
        hook: webhook({ url: hooks.url, secrets: webhookSecret() }),
        mail: email({ to: 'ops@example.com' }),
      },
    },
    { handlers, logger, allow: [chat.address, pages.address, hooks.address] },
  )
  for (const contract of contracts)
    await millrace.enqueue(contract, { event_id: 'evt-17', url: 'https://example.com/feed', token: CANARY })

  await Promise.all([chat.atLeast(1), pages.atLeast(1), hooks.atLeast(1), post.atLeast(1)])
  const told = [chat.received, pages.received, hooks.received, post.mails].map((each) => JSON.stringify(each))
  for (const message of told) {
    expect(message).toContain('evt-17')
    expect(message).toContain('https://example.com/feed')
    expect(message).toContain('401 for token')
    expect(message).not.toContain('canary')
  }
  expect(JSON.stringify(lines)).not.toContain('canary')
  const rows = await t.sql('select * from millrace.escalation')
  expect(rows).toHaveLength(4)
  expect(JSON.stringify(rows)).not.toContain('canary')
})
