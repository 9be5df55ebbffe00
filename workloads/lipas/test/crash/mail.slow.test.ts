// The worker dies after the mail server has taken a mail and before that is recorded: the mail is sent again, and shown once.
import { expect, test } from 'vitest'
import { email } from '#src/contracts'
import { setup } from '../support/lipas.ts'
import { startWorkerProcess } from '../support/worker-process.ts'

const LEASE = ['--lease', 'heartbeat=300ms,ttl=3s,sweep=200ms', '--grace', '5s']

test('a mail that was taken before the worker was killed is sent again under the same Message-ID', {
  timeout: 120_000,
}, async () => {
  await using t = await setup()
  t.sandbox.set('smtp', 'slow', { delayMs: 1_500 })
  const begun = t.sandbox.received.until(() => t.sandbox.received.count('smtp') === 1)
  const doomed = startWorkerProcess(t, LEASE)
  const { id } = await t.millrace.enqueue(email, { to: 'user@example.com' })
  await begun
  // While this lock is held no step is recorded.
  const lock = await t.pool.connect()
  await lock.query('begin; lock table millrace.once_key in share mode')
  await t.sandbox.received.until(() => t.sandbox.mailboxes.mails.length === 1)
  doomed.signal('SIGKILL')
  await doomed.ended()
  await lock.query('rollback')
  lock.release()
  t.sandbox.set('smtp', 'ok')
  const second = startWorkerProcess(t, LEASE)
  expect(await t.millrace.result(id, { timeout: '60s' })).toMatchObject({ status: 'completed' })
  expect(t.sandbox.mailboxes.of('user@example.com')).toMatchObject([
    { messageId: `<job-${id}@lipas.example>`, deliveries: 2 },
  ])
  second.signal('SIGTERM')
  expect(await second.ended()).toMatchObject({ code: 0 })
})
