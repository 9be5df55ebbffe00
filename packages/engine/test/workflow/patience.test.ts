// A process that is frozen with rows of a workflow locked must not keep them: others need them.
import { createMillrace, defineJob, defineWorkflow, implement } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { Database } from '#src/store/db'
import type { Transaction } from '#src/store/transaction'
import { workflowSettle } from '#src/store/workflow-items'
import { workflowLock } from '#src/store/workflows'
import { setup, shortLease, silent } from '../support/setup.ts'
import { named, queues, undo, work } from './running.ts'

const pair = defineWorkflow('pair')
  .step('a', work, named('a'))
  .step('b', work, { ...named('b'), after: 'a' })

async function patienceOf(tx: { query(text: string): Promise<{ rows: unknown[] }> }): Promise<string> {
  const { rows } = await tx.query('show idle_in_transaction_session_timeout')
  return (rows as { idle_in_transaction_session_timeout: string }[])[0]?.idle_in_transaction_session_timeout ?? ''
}

test('a transaction of our own that locks rows of a workflow may not stand idle for long', async () => {
  await using t = await setup()
  const millrace = t.client([work, undo], { workflows: [pair] })
  const { id } = await millrace.workflows.start(pair)
  const [jobId = ''] = (await millrace.workflows.get(id))?.steps[0]?.jobIds ?? []
  const db = new Database({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections: 1 })
  const within = (lock: (tx: Transaction) => Promise<unknown>) =>
    db.transaction(async (tx) => {
      await lock(tx)
      return patienceOf(tx)
    })
  expect(await within((tx) => workflowLock(tx, id, { isOwn: true }))).toBe('10s')
  await t.sql('delete from millrace.job')
  const end = { jobId, status: 'completed' as const, result: '{"did":"a"}', reason: null }
  expect(await within((tx) => workflowSettle(tx, [end], { isOwn: true }))).toBe('2s')
  expect(await within(async () => {})).toBe('0')
  await db.close()
})

test('a transaction of somebody else may take its time: one that starts a workflow, and a handler of one', async () => {
  const own = defineJob({ type: 'own', queue: queues.steps, payload: z.object({}) })
  const flow = defineWorkflow('own').step('a', own, { payload: () => ({}) })
  await using t = await setup()
  await using millrace = createMillrace({ database: t.url, jobs: [own], workflows: [flow], logger: silent })
  const seen: string[] = []
  const handler = implement(own, async (_, ctx) => {
    const client = await t.pool.connect()
    await client.query('begin')
    await ctx.complete(client, 'done')
    seen.push(await patienceOf(client))
    await client.query('commit')
    client.release()
  })
  const client = await t.pool.connect()
  await client.query('begin')
  const { id } = await millrace.workflows.start(flow, undefined, { tx: client })
  seen.push(await patienceOf(client))
  await client.query('commit')
  client.release()
  await millrace.work({ handlers: [handler], lease: shortLease })
  expect(await millrace.workflows.result(id)).toMatchObject({ status: 'completed', results: { a: 'done' } })
  expect(seen).toEqual(['0', '0'])
})
