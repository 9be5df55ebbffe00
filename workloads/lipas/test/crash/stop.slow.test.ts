// A worker process that is asked to stop: what ends soon ends, and what takes long goes on elsewhere at its next batch.
import { drain } from 'millrace/testing'
import { assert, expect, test } from 'vitest'
import { holdNext } from '../support/hold.ts'
import { setup } from '../support/lipas.ts'
import { startWorkerProcess } from '../support/worker-process.ts'

test('at SIGTERM an e-mail is sent to its end, and an analysis goes back and repeats no finished batch', {
  timeout: 90_000,
}, async () => {
  await using t = await setup({ hasSampleData: true, env: { LIPAS_DISTANCE_MODE: 'euclid' } })
  const { search, received } = t.sandbox
  let bulks = 0
  const second = holdNext(search, ({ path }) => path.endsWith('/_bulk') && ++bulks === 2)
  t.sandbox.set('smtp', 'slow', { delayMs: 700 })
  const analysis = await t.millrace.enqueueByType('analysis', { 'lipas-id': 123 })
  const worker = startWorkerProcess(t, ['--grace', '3s'])
  await second.reached
  const mail = await t.millrace.enqueueByType('email', { to: 'user@example.com' })
  await received.until(() => received.calls.some(({ what }) => what.startsWith('MAIL FROM')))
  worker.signal('SIGTERM')
  expect(await worker.ended()).toMatchObject({ code: 0 })
  second.release({ status: 503, body: 'nobody listens' })

  expect(await t.millrace.job(mail.id)).toMatchObject({ status: 'completed' })
  expect(t.sandbox.mailboxes.mails).toHaveLength(1)
  const [job] = await t.sql('select status, attempts from millrace.jobs where id = $1', [analysis.id])
  expect(job).toEqual({ status: 'pending', attempts: 0 })
  expect(search.bulkItems).toBe(50)
  const [report] = await drain(t.millrace, [t.handler('analysis')])
  assert(report?.outcome === 'completed', JSON.stringify(report))
  expect(report.job.attempt).toBe(1)
  expect(search.bulkItems).toBe((report.result as { cells: number }).cells)
})
