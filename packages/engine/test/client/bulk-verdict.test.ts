// The first verdict about a job of a bulk operation stands: a run that was taken for dead may come back and find its work done.
import { defineJob, defineQueues } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { bulkBatch } from '#src/client/bulk-batch'
import { Millrace as Client } from '#src/millrace'
import { type BulkCounts, bulkLook, bulkRecord } from '#src/store/bulk'
import { Database } from '#src/store/db'
import { setup } from '../support/setup.ts'

const queues = defineQueues({ mail: {} })
const mail = defineJob({ type: 'mail', queue: queues.mail, payload: z.object({}) })

test('a second run cannot overwrite what the first one wrote down', async () => {
  await using t = await setup()
  const millrace = t.client([mail])
  const { id: job } = await millrace.enqueue(mail, {})
  const { id } = await millrace.bulk.start({ action: 'cancel', ids: [job] }, { by: 'test' })
  const connection = { connectionString: t.url }
  const db = new Database({ connection, schema: 'millrace', maxConnections: 1 })
  await bulkRecord(db, id, [{ jobId: job, outcome: 'changed', reason: null, before: 5 }])
  await bulkRecord(db, id, [{ jobId: job, outcome: 'refused', reason: 'it has changed meanwhile', newJobId: '9' }])
  await db.close()
  expect(await millrace.bulk.items(id)).toMatchObject([{ outcome: 'changed', reason: null, before: 5, newJobId: null }])
  expect(await millrace.bulk.get(id)).toMatchObject({ changed: 1, refused: 0, open: 0 })
})

test('a run counts the items of an operation once, and knows its counts from then on', async () => {
  await using t = await setup()
  const millrace = t.client([mail])
  await millrace.enqueueMany(
    mail,
    Array.from({ length: 250 }, () => ({})),
    { delay: '1h' },
  )
  await millrace.enqueue(mail, {}, { delay: '1h', priority: 1 })
  const request = { action: 'prioritise', query: 'type:mail', priority: 1 } as const
  const { id } = await millrace.bulk.start(request, { by: 'test', rate: 5_000 })
  const services = Client.servicesOf(millrace)
  let known: BulkCounts | undefined
  for (;;) {
    const batch = await bulkBatch(services as never, id, { limit: 100, known })
    if (batch === undefined || batch.next === 'done') break
    known = batch.counts
    expect(await millrace.bulk.get(id)).toMatchObject(pick(known))
  }
  expect(known).toMatchObject({ changed: 250, already: 1, refused: 0, open: 0, hasBefore: true })
  // What is known is not counted again.
  expect(await bulkLook(services.db, id, { ...(known as BulkCounts), changed: 7 })).toMatchObject({ changed: 7 })
})

const pick = (counts: BulkCounts | undefined) => ({
  ...{ changed: counts?.changed, already: counts?.already, refused: counts?.refused, open: counts?.open },
})
