import { defineJob, defineQueues, defineWorkflow, NotATransaction, type Queryable } from 'millrace'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { setup } from '../support/setup.ts'

const queues = defineQueues({ mails: {} })
const mail = defineJob({ type: 'mail', queue: queues.mails, payload: z.object({}) })
const flow = defineWorkflow('flow', {})
  .signal('approval', {})
  .step('mail', mail, { after: 'approval', payload: () => ({}) })

/** Every call of a client that takes a transaction. */
const calls: Record<string, (millrace: Client, tx: Queryable, workflow: string) => Promise<unknown>> = {
  enqueue: (millrace, tx) => millrace.enqueue(mail, {}, { tx }),
  'enqueue for a tenant': (millrace, tx) => millrace.enqueue(mail, {}, { tx, tenant: 'acme' }),
  'enqueue under a key': (millrace, tx) => millrace.enqueue(mail, {}, { tx, dedupKey: 'a' }),
  enqueueMany: (millrace, tx) => millrace.enqueueMany(mail, [{}, {}], { tx }),
  enqueueByType: (millrace, tx) => millrace.enqueueByType('mail', {}, { tx }),
  'workflows.start': (millrace, tx) => millrace.workflows.start(flow, undefined, { tx }),
  'workflows.startChain': (millrace, tx) => millrace.workflows.startChain([{ job: mail, payload: {} }], { tx }),
  'workflows.signal': (millrace, tx, id) => millrace.workflows.signal(id, 'approval', undefined, { by: 'ada', tx }),
}

type Client = ReturnType<Awaited<ReturnType<typeof setup>>['client']>

describe.each(Object.entries(calls))('%s', (_, call) => {
  test('refuses a pool, and a client before begin and after commit, and writes nothing', async () => {
    await using t = await setup()
    const millrace = t.client([mail], { workflows: [flow] })
    const { id } = await millrace.workflows.start(flow)
    const other = new pg.Pool({ connectionString: t.url, max: 1 })
    const client = await t.pool.connect()
    const written = () =>
      t.sql('select (select count(*) from millrace.job) + (select count(*) from millrace.workflow_signal) as written')
    const before = await written()
    const refuse = (tx: unknown) => expect(call(millrace, tx as Queryable, id)).rejects.toThrow(NotATransaction)
    await refuse(t.pool)
    await refuse(other)
    await refuse({})
    await client.query('select 1')
    await refuse(client)
    await client.query('begin; commit')
    await refuse(client)
    expect(await written()).toEqual(before)
    await client.query('begin')
    await call(millrace, client, id)
    await client.query('rollback')
    expect(await written()).toEqual(before)
    client.release()
    await other.end()
  })
})

test('a begin that was sent and not awaited is a transaction', async () => {
  await using t = await setup()
  const millrace = t.client([mail])
  const client = await t.pool.connect()
  const begun = client.query('begin')
  const { id } = await millrace.enqueue(mail, {}, { tx: client })
  await begun
  await client.query('rollback')
  expect(await millrace.job(id)).toBeUndefined()
  client.release()
})
