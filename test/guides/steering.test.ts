import type { JobContract, Millrace, Resumption } from 'millrace'
import { defineJob, defineQueues, implement } from 'millrace'
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { eventually, setup } from '../../packages/engine/test/support/setup.ts'
import { openDocument } from '../support/document.ts'

const page = 'docs/guides/steering.md'
const { print } = defineQueues({ print: {} })
const invoice = defineJob({ type: 'invoice.print', queue: print, payload: z.object({}) })

test('the pause of the guide holds what it names, and is ended', async () => {
  await using t = await setup()
  await using guide = await openDocument(page)
  const { holdPrinting } = await guide.load<{
    holdPrinting(millrace: Millrace, customer: string): Promise<() => Promise<Resumption>>
  }>('pause.ts')
  const millrace = t.client([invoice])
  const { id } = await millrace.enqueue(invoice, {}, { tenant: 'acme' })
  const resume = await holdPrinting(millrace, 'acme')
  const { reasons } = await millrace.explain(id)
  expect(reasons.find(({ mechanism }) => mechanism === 'pause')).toMatchObject({
    sentence: expect.stringMatching(/^Paused by ann since .*, until .*: the printer is being repaired$/),
    remedy: 'millrace resume --type invoice.print --tenant acme',
  })
  expect(await resume()).toMatchObject({ ended: [{ tenant: 'acme', by: 'ann' }], others: [] })
  expect(await millrace.pauses.list()).toEqual([])
})

test('the job of the guide gets another priority', async () => {
  await using t = await setup()
  await using guide = await openDocument(page)
  const { runFirst } = await guide.load<{ runFirst(millrace: Millrace, id: string): Promise<string> }>('prioritise.ts')
  const millrace = t.client([invoice])
  const { id } = await millrace.enqueue(invoice, {})
  expect(await runFirst(millrace, id)).toBe('It had priority 5.')
  expect((await millrace.job(id))?.priority).toBe(0)
  await millrace.cancel(id, { by: 'ann' })
  expect(await runFirst(millrace, id)).toBe('It does not wait: finished.')
})

test('the queues of the guide boost as it says', async () => {
  await using guide = await openDocument(page)
  const { queues } = await guide.load<{ queues: Record<string, JobContract['queue']> }>('contracts.ts')
  expect(queues.reports?.boost).toEqual([
    { afterMs: 300_000, priority: 3 },
    { afterMs: 600_000, priority: 1 },
  ])
  expect(queues.cleanup?.boost).toEqual([])
  expect(queues.orders).toMatchObject({ isCritical: true, slaMs: 30_000 })
})

test('the worker of the guide says when orders go first', async () => {
  await using t = await setup()
  await using guide = await openDocument(page)
  const { placeOrder } = await guide.load<{ placeOrder: JobContract }>('contracts.ts')
  const { startWorker } = await guide.load<{ startWorker(database: string): Promise<Millrace> }>('worker.ts')
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  const millrace = await startWorker(t.url)
  millrace.events.emit('overload', { why: 'a claim takes 2 s', isOverloaded: true })
  const { id } = await millrace.enqueue(placeOrder, { id: '1' })
  expect(await millrace.result(id)).toMatchObject({ status: 'completed' })
  await millrace.close()
  expect(log.mock.calls.flat()).toContain('Orders go first: a claim takes 2 s.')
  log.mockRestore()
})

test('the guide tells why a job waits, also of workers that were asked to take no more', async () => {
  await using t = await setup()
  await using guide = await openDocument(page)
  const { why } = await guide.load<{ why(millrace: Millrace, id: string): Promise<string[]> }>('why.ts')
  const { millrace, worker } = await t.working([implement(invoice, () => {})])
  const asked = millrace.events.next('worker_asked', ({ request }) => request !== null)
  await millrace.workers.quiet(worker.id, { by: 'ann', reason: 'a leak' })
  await asked
  await eventually(async () => (await millrace.workers.get(worker.id))?.report?.state === 'quiet')
  const { id } = await millrace.enqueue(invoice, {})
  const [held, unknown] = await why(millrace, id)
  expect(held).toMatch(/^The only worker that could run it, .* takes no more jobs, as ann asked: a leak\.$/)
  expect(unknown).toMatch(/^Workers say with their heartbeat/)
})
