// A session that listens and never ends its transaction fills the server's queue of notifications. A notification that cannot
// be sent must not fail the commit of a caller.
import { startThrowAway, type ThrowAwayPostgres } from '@millrace/embedded'
import { defineJob, defineQueues, defineWorkflow, implement, migrate } from 'millrace'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { z } from 'zod'
import { attentive, setup as base, jobEvent, type Setup } from '../support/setup.ts'

const { mail } = defineQueues({ mail: { pollInterval: '100ms' } })
const payload = z.object({ n: z.number() })
const plain = defineJob({ type: 'plain', queue: mail, payload })
const ordered = defineJob({ type: 'ordered', queue: mail, payload, order: { key: () => 'all' } })
const latest = defineJob({ type: 'latest', queue: mail, payload, dedupe: { key: () => 'all', mode: 'latest' } })
const flow = defineWorkflow('flow').step('only', plain, { payload: () => ({ n: 1 }) })
const jobs = [plain, ordered, latest]

const nothing = async () => {}

async function serverVersion(): Promise<number> {
  const client = new pg.Client(inject('serverUrl'))
  await client.connect()
  const { rows } = await client.query('show server_version_num')
  await client.end()
  return Number(rows[0].server_version_num)
}

let server: ThrowAwayPostgres | undefined

/** A server whose queue is small, which can be set from PostgreSQL 17 on, and a session that keeps the queue from shrinking. */
async function setup() {
  const { url } = server as ThrowAwayPostgres
  const t = await base(Promise.resolve({ url, name: 'the only one', drop: nothing, [Symbol.asyncDispose]: nothing }))
  await t.sql('delete from millrace.job')
  const idler = new pg.Client(url)
  idler.on('error', () => {})
  await idler.connect()
  await idler.query('listen anything')
  await idler.query('begin')
  return {
    ...t,
    async fill() {
      const say = `select pg_notify('anything', n || repeat('x', 7000)) from generate_series(1, 8) as n`
      for (;;) {
        const error = await t.sql(say).then(() => undefined, String)
        if (error?.includes('too many notifications')) return
        if (error !== undefined) throw new Error(error)
      }
    },
    async [Symbol.asyncDispose]() {
      await idler.end()
      await t[Symbol.asyncDispose]()
    },
  }
}

async function inTransaction(t: Setup, work: (tx: pg.PoolClient) => Promise<unknown>): Promise<void> {
  const tx = await t.pool.connect()
  try {
    await tx.query('begin')
    await work(tx)
    await tx.query('commit')
  } finally {
    tx.release()
  }
}

describe.skipIf((await serverVersion()) < 170_000)('a full queue of notifications', () => {
  beforeAll(async () => {
    server = await startThrowAway({ isDurable: false, settings: { max_notify_queue_pages: '64' } })
    await migrate(server.url)
  })
  afterAll(() => server?.stop())

  test('makes workers poll', async () => {
    await using t = await setup()
    const millrace = t.client(jobs)
    const trusts = millrace.events.next('listen_trusted', ({ isTrusted }) => isTrusted)
    await millrace.work({ handlers: [implement(plain, () => {})], lease: attentive })
    await trusts
    const polls = millrace.events.next('listen_trusted', ({ isTrusted }) => !isTrusted)
    await t.fill()
    await polls
    const { id } = await t.client(jobs).enqueue(plain, { n: 1 })
    await jobEvent(millrace, 'job_completed', id)
  })

  test('fails no enqueue, no start of a workflow, and no commit of a caller', async () => {
    await using t = await setup()
    await t.fill()
    const millrace = t.client(jobs, { workflows: [flow] })
    await millrace.enqueue(plain, { n: 1 })
    await millrace.enqueueMany(plain, [{ n: 2 }, { n: 3 }])
    await millrace.enqueue(ordered, { n: 4 })
    await millrace.enqueue(latest, { n: 5 })
    await millrace.enqueue(latest, { n: 6 })
    await millrace.workflows.start(flow)
    await inTransaction(t, async (tx) => {
      await millrace.enqueue(plain, { n: 7 }, { tx })
      await millrace.enqueueMany(plain, [{ n: 8 }, { n: 9 }], { tx })
      await millrace.enqueue(ordered, { n: 10 }, { tx })
      await millrace.enqueue(latest, { n: 11 }, { tx })
      await millrace.workflows.start(flow, undefined, { tx })
    })
    expect(await t.sql(`select type, count(*)::int from millrace.job group by type order by type`)).toEqual([
      { type: 'latest', count: 1 },
      { type: 'ordered', count: 2 },
      { type: 'plain', count: 8 },
    ])
  })

  test('is no reason to believe that a payload is not valid, however late it fills', async () => {
    await using t = await setup()
    await t.fill()
    // As if there had been room when the statement looked.
    await t.sql(
      `create function public.pg_notification_queue_usage() returns float8 language sql as 'select 0.0::float8'`,
    )
    const url = new URL(t.url)
    url.searchParams.set('options', '-c search_path=public,pg_catalog')
    const millrace = t.client(jobs, { database: url.href })
    expect(await millrace.enqueue(plain, { n: 1 })).toMatchObject({ status: 'queued' })
    expect(await millrace.enqueue(latest, { n: 1 })).toMatchObject({ status: 'queued' })
    const tx = new pg.Client(url.href)
    await tx.connect()
    await tx.query('begin')
    await millrace.enqueue(plain, { n: 2 }, { tx })
    await expect(tx.query('commit')).rejects.toMatchObject({ code: '54000' })
    await tx.end()
  })
})
