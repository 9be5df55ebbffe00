import { digest, email } from '@millrace/escalation'
import { fakeClock } from 'millrace/testing'
import { expect, test } from 'vitest'
import { mailServer } from './support/servers.ts'
import { failing, setup } from './support/setup.ts'

const from = 'millrace@example.com'

test('a mail is sent at once, as HTML and text, and says when the fault is gone', async () => {
  await using t = await setup()
  await using server = await mailServer()
  const { handler } = failing('orders', {})
  const { millrace } = await t.working(
    { channels: { ops: email({ to: 'ops@example.com' }) }, mail: { url: server.url, from } },
    { handlers: [handler] },
  )
  await millrace.escalations.escalate({
    key: 'breaker/mail',
    severity: 'critical',
    summary: 'The breaker <mail> is open.',
  })
  const [mail] = await server.atLeast(1)
  expect(mail).toMatchObject({ subject: '[Millrace] The breaker <mail> is open.', from: { address: from } })
  expect(mail?.messageId).toMatch(/^<millrace-\d+@example\.com>$/)
  expect(mail?.text).toContain('* The breaker <mail> is open.')
  expect(mail?.html).toContain('The breaker &lt;mail&gt; is open.')
  await millrace.escalations.resolve('breaker/mail')
  await server.atLeast(2)
  expect(server.mails[1]?.subject).toBe('[Millrace] Resolved: The breaker <mail> is open.')
})

test('a digest is one mail a day for a recipient, grouped by fault, across restarts and several processes', async () => {
  await using t = await setup()
  await using server = await mailServer()
  const clock = fakeClock(new Date('2026-11-18T04:30:00Z'))
  const { contract, handler } = failing('LOW', { escalation: 'digest', title: 'Low' })
  const options = {
    channels: { digest: digest({ to: 'ops@example.com', hour: 7, timeZone: 'Europe/Helsinki' }) },
    mail: { url: server.url, from },
    publicUrl: 'https://jobs.example.com',
  }
  const { millrace } = await t.working(options, { handlers: [handler], clock })
  for (const [error, tenant] of [
    ['no route', 'a'],
    ['no route', 'b'],
    ['no memory', 'a'],
  ] as const)
    await millrace.enqueue(contract, { error }, { tenant })
  const waiting = async () => (await millrace.escalations.list({ channel: 'digest', state: 'undelivered' })).length
  await expect.poll(waiting).toBe(3)
  const [row] = await millrace.escalations.list()
  expect(row?.dueAt?.toISOString()).toBe('2026-11-18T05:00:00.000Z')
  expect(server.mails).toEqual([])

  // A test of the channel does not wait for the hour.
  await millrace.escalations.test('digest', { by: 'ann' })
  await server.atLeast(1)
  expect(server.mails.splice(0)[0]?.text).toContain('This is a test of the channel digest')

  // Three processes look at the hour, and one that starts after it.
  await t.working(options, { handlers: [handler], clock })
  await t.working(options, { handlers: [handler], clock })
  clock.moveTo(new Date('2026-11-18T05:00:01Z'))
  const [mail] = await server.atLeast(1)
  await expect.poll(waiting).toBe(0)
  expect(mail?.subject).toBe('[Millrace] Digest of 2026-11-18: 2 faults, seen 3 times')
  expect(mail?.text).toContain('2 jobs of type fail: the last used up its attempts: no route')
  expect(mail?.text).toContain('Tenants: a, b')
  expect(mail?.text).toContain(`https://jobs.example.com/admin/failures/${row?.fingerprint}`)
  expect(mail?.html).toContain('https://jobs.example.com/admin/queues/LOW')

  // What comes later that day waits for the next digest, even if its due time is set back.
  await millrace.enqueue(contract, { error: 'late' })
  await expect.poll(waiting).toBe(1)
  await t.sql(`update millrace.escalation set due_at = '2026-11-18T05:00:00Z' where sent_at is null`)
  const dueAt = async () => (await millrace.escalations.list({ state: 'undelivered' }))[0]?.dueAt?.toISOString()
  await expect.poll(dueAt).toBe('2026-11-19T05:00:00.000Z')
  await t.working(options, { handlers: [handler], clock })
  clock.moveTo(new Date('2026-11-19T05:00:01Z'))
  await server.atLeast(2)
  // Nothing to say, no mail.
  clock.moveTo(new Date('2026-11-20T05:00:01Z'))
  await expect.poll(waiting).toBe(0)
  expect(server.mails.map(({ subject }) => subject?.slice(11, 31))).toEqual([
    'Digest of 2026-11-18',
    'Digest of 2026-11-19',
  ])
})

test('a recipient that the mail server refuses is visible, and the mail can be sent again', async () => {
  await using t = await setup()
  await using server = await mailServer()
  const { millrace } = await t.working(
    { channels: { ops: email({ to: 'nobody@example.com' }) }, mail: { url: server.url, from } },
    { handlers: [] },
  )
  server.state.refuses = true
  const id = (await millrace.escalations.test('ops', { by: 'ann' })) as string
  await expect.poll(async () => (await millrace.escalations.get(id))?.lastError).toContain('mailbox unavailable')
  server.state.refuses = false
  await millrace.escalations.resend(id, { by: 'ann' })
  const [mail] = await server.atLeast(1)
  expect(mail?.to).toMatchObject([{ address: 'nobody@example.com' }])
})
