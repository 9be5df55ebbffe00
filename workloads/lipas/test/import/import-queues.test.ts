// The import from the older queues: each waiting row becomes exactly one job, whatever dies on the way.
import { drain } from 'millrace/testing'
import { expect, test } from 'vitest'
import { LipasDatabase } from '#src/database/pool'
import { type ImportPlan, importQueues } from '#src/import/import-queues'
import { refusedIn, reportText } from '#src/import/report'
import { freshDatabase } from '../../../../packages/engine/test/support/database.ts'
import { type Lipas, setup } from '../support/lipas.ts'
import { addBrokenRows, createOlderQueues, fillOlderQueues } from '../support/older-queues.ts'

const run = (t: Lipas, plan: Partial<ImportPlan> = {}) =>
  importQueues({ millrace: t.millrace, database: t.system.database, ...plan })

const jobsByType = async (t: Lipas) =>
  Object.fromEntries(
    (await t.sql<{ type: string; count: number }>('select type, count(*)::int from millrace.jobs group by 1')).map(
      ({ type, count }) => [type, count],
    ),
  )
const left = async (t: Lipas, table: string) =>
  (await t.sql<{ count: number }>(`select count(*)::int from public.${table}`))[0]?.count

const figures = ({ queues }: Awaited<ReturnType<typeof run>>) =>
  Object.fromEntries(
    queues.map(({ table, found, imported, alreadyThere, refused }) => [
      table,
      [found, imported, alreadyThere, refused.length],
    ]),
  )

test('killed between two pages and run again, every waiting row of five tables is exactly one job', async () => {
  await using t = await setup()
  await createOlderQueues(t.pool)
  await fillOlderQueues(t.pool, 60)
  await addBrokenRows(t.pool)
  const die = (table: string) => {
    if (table === 'email_out_queue') throw new Error('killed')
  }
  await expect(run(t, { onProgress: die, pageSize: 50 })).rejects.toThrow('killed')
  expect(await jobsByType(t)).toEqual({ analysis: 60, elevation: 60, email: 50 })

  const report = await run(t)
  expect(await jobsByType(t)).toEqual({ analysis: 60, elevation: 60, email: 60, webhook: 60 })
  expect(figures(report)).toEqual({
    analysis_queue: [5, 0, 0, 5],
    elevation_queue: [5, 0, 0, 5],
    email_out_queue: [15, 10, 0, 5],
    webhook_queue: [65, 60, 0, 5],
    integration_out_queue: [0, 0, 0, 0],
  })
  expect(refusedIn(report)).toBe(20)
  for (const table of ['analysis_queue', 'elevation_queue', 'email_out_queue', 'webhook_queue'])
    expect(await left(t, table), table).toBe(5)
  expect(await left(t, 'integration_out_queue')).toBe(60)
  expect(report.queues.at(-1)).toMatchObject({ retired: 60 })
  expect(await t.sql('select count(*)::int, count(distinct job_id)::int as jobs from lipas.legacy_import')).toEqual([
    { count: 240, jobs: 240 },
  ])

  // Once more: there is nothing left to do.
  await run(t)
  expect(await jobsByType(t)).toEqual({ analysis: 60, elevation: 60, email: 60, webhook: 60 })
  const [job] = await t.sql(
    `select created_by, correlation_id, payload from millrace.jobs where type = 'webhook' limit 1`,
  )
  expect(job).toMatchObject({
    ...{ created_by: 'import: webhook_queue', correlation_id: report.correlationId },
    payload: { 'operation-type': 'update', 'initiated-by': 'batch' },
  })
})

test('the reminders of the older queue are sent as they are, and its webhooks are told', async () => {
  await using t = await setup({ hasSampleData: true })
  await createOlderQueues(t.pool)
  await t.pool.query(`insert into public.email_out_queue (message) values ($1)`, [
    { email: 'owner@example.com', link: 'https://lipas.example/123', body: { message: 'Please look.' } },
  ])
  await t.pool.query('insert into public.webhook_queue (batch_data) values ($1)', [{ 'lipas-ids': [123] }])
  await run(t)
  const runs = await drain(t.millrace, [t.handler('email'), t.handler('webhook')])
  expect(runs.map(({ outcome }) => outcome)).toEqual(['completed', 'completed'])
  const [mail] = t.sandbox.mailboxes.of('owner@example.com')
  expect(mail?.text).toContain('Please look.\n\nLook at the entry: https://lipas.example/123')
  expect(t.sandbox.utp.calls).toHaveLength(1)
})

test('a dry run says what would be done, and writes nothing', async () => {
  await using t = await setup()
  await createOlderQueues(t.pool)
  await fillOlderQueues(t.pool, 30)
  await addBrokenRows(t.pool)
  const report = await run(t, { isDryRun: true, pageSize: 10 })
  expect(figures(report).email_out_queue).toEqual([35, 30, 0, 5])
  expect(reportText(report)).toContain('Dry run: nothing was written')
  expect(await jobsByType(t)).toEqual({})
  expect(await left(t, 'email_out_queue')).toBe(35)
  expect(await t.sql('select 1 from lipas.legacy_import')).toEqual([])
})

test('another database is only read, and what was imported from it is not imported twice', async () => {
  await using t = await setup()
  await using older = await freshDatabase({ migrated: false })
  const from = new LipasDatabase()
  from.open(older.url, { onError: () => {} })
  const { default: pg } = await import('pg')
  const pool = new pg.Pool({ connectionString: older.url, max: 1 })
  await createOlderQueues(pool)
  await fillOlderQueues(pool, 20)
  expect(figures(await run(t, { from, pageSize: 7 })).analysis_queue).toEqual([20, 20, 0, 0])
  expect(figures(await run(t, { from })).analysis_queue).toEqual([20, 0, 20, 0])
  expect(await jobsByType(t)).toEqual({ analysis: 20, elevation: 20, email: 20, webhook: 20 })
  expect((await pool.query('select count(*)::int from analysis_queue')).rows).toEqual([{ count: 20 }])
  // The older system queues a place again: that is news.
  await pool.query(`update analysis_queue set added_at = now() + interval '1 hour' where lipas_id = 1`)
  await t.sql(`update millrace.job set dedup_key = null where type = 'analysis'`)
  expect(figures(await run(t, { from })).analysis_queue).toEqual([20, 1, 19, 0])
  await pool.end()
  await from.close()
})

test('rows that older workers have begun are left unless they are asked for, and other statuses are left always', async () => {
  await using t = await setup()
  await createOlderQueues(t.pool)
  await t.pool.query(
    `insert into analysis_queue (lipas_id, status) values (1, 'pending'), (2, 'in-progress'), (3, 'completed')`,
  )
  const first = await run(t)
  expect(first.queues[0]).toMatchObject({ found: 1, imported: 1, inProgress: 1 })
  expect(reportText(first)).toContain('--include-in-progress')
  expect((await run(t, { includesInProgress: true })).queues[0]).toMatchObject({ found: 1, imported: 1, inProgress: 0 })
  expect(await t.sql('select status from analysis_queue')).toEqual([{ status: 'completed' }])
})

test('a place that has such a job already gets no second one, and its row goes', async () => {
  await using t = await setup()
  await createOlderQueues(t.pool)
  await t.pool.query('insert into analysis_queue (lipas_id) values (123)')
  const { id } = await t.millrace.enqueueByType('analysis', { 'lipas-id': 123 })
  expect((await run(t)).queues[0]).toMatchObject({ found: 1, imported: 0, alreadyThere: 1 })
  expect(await t.sql('select job_id from lipas.legacy_import')).toEqual([{ job_id: id }])
  expect(await left(t, 'analysis_queue')).toBe(0)
})

test('two imports at once share the rows', async () => {
  await using t = await setup()
  await createOlderQueues(t.pool)
  await fillOlderQueues(t.pool, 100)
  await Promise.all([run(t, { pageSize: 10 }), run(t, { pageSize: 10 })])
  expect(await jobsByType(t)).toEqual({ analysis: 100, elevation: 100, email: 100, webhook: 100 })
})

test('missing tables are reported and no error; a table of another shape is one', async () => {
  await using t = await setup()
  const report = await run(t)
  expect(report.queues.map(({ isMissing }) => isMissing)).toEqual([true, true, true, true, true])
  expect(reportText(report)).toContain('analysis_queue: there is no such table here.')
  await t.pool.query('create table public.analysis_queue (place integer)')
  await expect(run(t)).rejects.toThrow(
    'The table public.analysis_queue is not the older queue of that name: column "status" does not exist. Expected the columns lipas_id, added_at, status.',
  )
})
