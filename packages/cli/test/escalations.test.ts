import { expect, test } from 'vitest'
import { slackServer } from '../../escalation/test/support/servers.ts'
import { fixture, Program } from './support/program.ts'
import { setup as base } from './support/setup.ts'

async function setup() {
  const t = await base()
  return { ...t, run: (...args: string[]) => t.run('escalations', ...args) }
}

test('a worker delivers the escalation of its workload, and the command shows and acknowledges it', async () => {
  await using t = await setup()
  await using server = await slackServer()
  await using worker = new Program(['work', fixture('loud.js'), '--queues', 'orders'], {
    ...t.env,
    SLACK_OPS_WEBHOOK: server.url,
    PORT: '0',
  })
  await worker.said(/"msg":"running"/)
  await t.millrace.enqueueByType('order', {})
  const [message] = await server.atLeast(1)
  expect(message?.text).toContain('the shop is closed')

  // The worker notes what it has sent after the channel has taken it.
  const sent = /error +job \d+ of type order died: exhausted +orders +#ops-alerts +sent .* due in 15m/
  await expect.poll(async () => (await t.run()).out).toMatch(sent)
  expect((await t.run()).out).toMatch(/^ID +WHEN +SEVERITY +WHAT +QUEUE +CHANNEL +DELIVERY +RESPONSE\n/)
  const [row] = JSON.parse((await t.run('--json')).out) as { id: string }[]
  const id = row?.id as string
  expect((await t.run('show', id)).out).toMatch(/^what +job \d+ of type order died/)
  expect(await t.run('acknowledge', id, '--by', 'ann')).toMatchObject({ code: 0, out: `${id}: acknowledged\n` })
  expect(await t.millrace.escalations.get(id)).toMatchObject({ acknowledgedBy: 'ann' })
  expect(await t.run('resend', id, '999')).toMatchObject({ code: 1, out: `${id}: is sent again\n999: not found\n` })

  expect(await t.run('test', '#ops-alerts')).toMatchObject({
    code: 0,
    out: 'The test message has reached #ops-alerts.\n',
  })
  expect(await t.run('test', 'nowhere')).toMatchObject({
    code: 1,
    out: expect.stringContaining('There is no channel "nowhere"'),
  })
})

test('overdue escalations are shown, and a missing deliverer is told', async () => {
  await using t = await setup()
  expect(await t.run()).toMatchObject({ code: 0, out: 'No escalation is open.\n' })
  expect(await t.run('test', '#ops')).toMatchObject({ code: 1, err: expect.stringContaining('No worker delivers') })
  expect(await t.run('show', '1')).toMatchObject({ code: 1, err: expect.stringContaining('There is no escalation 1.') })
})
