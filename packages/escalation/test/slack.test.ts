import { slack } from '@millrace/escalation'
import { expect, test } from 'vitest'
import { slackServer } from './support/servers.ts'
import { failing, setup } from './support/setup.ts'

const text = (message: { blocks: { text?: { text: string } }[] } | undefined): string =>
  (message?.blocks ?? []).flatMap((block) => block.text?.text ?? []).join('\n')

test('a dead job of a queue with a policy reaches Slack, delivered by a job', async () => {
  await using t = await setup()
  await using server = await slackServer()
  const { contract, handler } = failing('orders', { escalation: { to: '#ops', respondWithin: '4h' }, title: 'Orders' })
  const { millrace } = await t.working(
    { channels: { '#ops': slack({ webhook: server.url }) }, publicUrl: 'https://jobs.example.com/' },
    { handlers: [handler], allow: [server.address] },
  )
  const { id } = await millrace.enqueue(contract, { error: 'the <shop> is closed' })
  const [message] = await server.atLeast(1)
  expect(text(message)).toContain('A job of type fail used up its attempts: the &lt;shop&gt; is closed')
  expect(text(message)).toContain(`<https://jobs.example.com/admin/jobs/${id}|Job ${id}>`)
  expect(text(message)).toContain('Queue Orders')
  await expect
    .poll(async () => (await millrace.escalations.list())[0])
    .toMatchObject({ channel: '#ops', sentAt: expect.any(Date), tries: 1, repeats: 0, respondBy: expect.any(Date) })
  const [delivered] = await millrace.jobs({ type: 'millrace.escalation.deliver' })
  expect(delivered).toMatchObject({ queue: 'millrace.escalation' })
})
