// The first verdict about a job of a bulk operation stands: a run that was taken for dead may come back and find its work done.
import { defineJob, defineQueues } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { bulkRecord } from '#src/store/bulk'
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
