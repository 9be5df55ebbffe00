// The workflow after many places came at once, and chains of jobs.
import { expect, test } from 'vitest'
import { JobsApi } from '#src/jobs-api'
import { massImport } from '#src/mass-import'
import { type Lipas, setup } from './support/lipas.ts'

const UNKNOWN = 999_999

const jobsBy = (t: Lipas, correlationId: string) =>
  t.sql<{ type: string; status: string; count: number }>(
    `select type, status, count(*)::int as count from millrace.jobs
     where correlation_id = $1 group by 1, 2 order by 1, 2`,
    [correlationId],
  )

test('of 20 places one is unknown: 19 are computed, the partner is told once, and one mail says so', async () => {
  await using t = await setup({ hasSampleData: true, env: { LIPAS_DISTANCE_MODE: 'euclid' } })
  // Points at the edge of the town: few squares each.
  const places = await t.sql<{ id: number }>(
    `select lipas_id as id from lipas.sports_site
     where geometries #>> '{features,0,geometry,type}' = 'Point'
     order by bounds[0] <-> point(388800, 6677600) desc, lipas_id limit 19`,
  )
  const ids = [...places.map(({ id }) => id), UNKNOWN]
  const input = { ids, 'reply-to': 'import@example.org' }
  const { id } = await t.millrace.workflows.start(massImport, input, { correlationId: 'import-1' })
  await t.work()
  const ended = await t.millrace.workflows.result(id, { timeout: '60s' })
  expect(ended.status).toBe('completed')
  expect(await jobsBy(t, 'import-1')).toEqual([
    { type: 'analysis', status: 'completed', count: 19 },
    { type: 'analysis', status: 'dead', count: 1 },
    { type: 'elevation', status: 'completed', count: 19 },
    { type: 'elevation', status: 'dead', count: 1 },
    { type: 'email', status: 'completed', count: 1 },
    { type: 'webhook', status: 'completed', count: 1 },
  ])
  const computed = await t.sql(
    'select lipas_id from lipas.sports_site where lipas_id = any($1) and elevation_of = revision',
    [ids],
  )
  expect(computed).toHaveLength(19)
  expect(t.sandbox.utp.calls.map(({ objects }) => objects.length)).toEqual([19])
  expect(t.sandbox.mailboxes.mails).toMatchObject([
    { to: 'import@example.org', subject: 'The import of 20 places is done' },
  ])
  expect(t.sandbox.mailboxes.mails[0]?.text).toBe(
    `19 of 20 places have been worked on.\nThe register does not have: ${UNKNOWN}.\n`,
  )
})

test('a chain is all of its jobs under one correlation id, or none', async () => {
  await using t = await setup({ hasSampleData: true })
  const jobs = new JobsApi(t.millrace)
  const chain = [
    { type: 'email', payload: { to: 'user@example.com' } },
    { type: 'analysis', payload: { 'lipas-id': 123 } },
  ]
  const { correlationId } = await jobs.createJobChain(chain)
  expect(correlationId).toMatch(/^[\da-f-]{36}$/)
  expect(await jobsBy(t, correlationId)).toEqual([
    { type: 'analysis', status: 'pending', count: 1 },
    { type: 'email', status: 'pending', count: 1 },
  ])
  const broken = [...chain, { type: 'analysis', payload: { 'lipas-id': 0 } }]
  await expect(jobs.createJobChain(broken, { correlationId: 'broken' })).rejects.toThrow(/lipas-id/)
  expect(await jobsBy(t, 'broken')).toEqual([])
})

test('in order, the second job of a chain starts when the first has completed', async () => {
  await using t = await setup({ hasSampleData: true, env: { LIPAS_DISTANCE_MODE: 'euclid' } })
  const jobs = new JobsApi(t.millrace)
  const started = await jobs.createJobChain(
    [
      { type: 'email', payload: { to: 'user@example.com' } },
      { type: 'elevation', payload: { 'lipas-id': 123 } },
    ],
    { correlationId: 'in-order', inOrder: true },
  )
  if (!('workflowId' in started)) throw new Error('A chain in order is a workflow.')
  expect(await jobsBy(t, 'in-order')).toEqual([{ type: 'email', status: 'pending', count: 1 }])
  await t.work()
  expect((await t.millrace.workflows.result(started.workflowId, { timeout: '30s' })).status).toBe('completed')
  const [row] = await t.sql(
    `select (select completed_at from millrace.jobs where type = 'email')
       <= (select started_at from millrace.jobs where type = 'elevation') as "isInOrder"`,
  )
  expect(row).toEqual({ isInOrder: true })
})
