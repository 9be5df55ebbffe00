// Nothing that jobs carry, say or fail with is on the page of metrics: whoever scrapes it may be anybody.
import { defineJob, defineQueues, implement, Unrecoverable } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { scrape, setup } from '../support/setup.ts'

const CANARY = 'canary-5f2b7d'
const queues = defineQueues({ mail: {} })
const send = defineJob({
  type: 'send',
  queue: queues.mail,
  payload: z.object({ to: z.string(), dies: z.boolean() }),
  result: z.object({ text: z.string() }),
  dedupe: { key: ({ to }) => to },
})
const sending = implement(send, ({ to, dies }, ctx) => {
  ctx.log.warn({ to }, CANARY)
  if (dies) throw new Unrecoverable(`${CANARY}: no letter box`)
  return { text: CANARY }
})

test('no payload, result, error, log line, key, token or reason is told', async () => {
  await using t = await setup()
  const { millrace, metrics } = await t.process([sending])
  for (const dies of [false, true]) {
    const to = `${CANARY}-${dies}`
    const { id } = await millrace.enqueue(send, { to, dies }, { correlationId: CANARY, createdBy: CANARY })
    await millrace.result(id)
  }
  await millrace.tokens.ensure(`${CANARY}-of-enough-length`, { name: CANARY, role: 'admin', by: CANARY })
  await millrace.pauses.pause({ queue: 'mail' }, { by: CANARY, reason: CANARY })
  await metrics.refresh()
  const { plain, open } = await scrape(metrics)
  expect(plain).toMatch(/send/)
  expect(`${plain}${open}`.toLowerCase()).not.toContain(CANARY)
})
