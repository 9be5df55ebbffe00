// No job touches a row of an organization that it does not belong to, and every row says who acted.

import { readdirSync, readFileSync } from 'node:fs'
import { defineJob, type Implementation, implement, tenantPolicySql } from 'millrace'
import { runJob } from 'millrace/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { queues } from '#src/jobs/queues'
import { orgContext } from '#src/organization/org-context'
import { LARGE, SMALL, setup } from '../support/dartwing.ts'

const probe = defineJob({ type: 'test.probe', queue: queues.default, payload: z.object({}) })

/** A job that does what the test says. */
const probing = (work: Parameters<typeof orgContext>[1]): Implementation =>
  implement(probe, (_, ctx) => orgContext(ctx, work, { complete: true }))

const TASKS = 'select distinct organization from dartwing.task'

test('a job sees the rows of its organization only, and acts for its admin', async () => {
  await using t = await setup({ jobs: [probe] })
  const handler = probing(async (tx) => {
    const { rows } = await tx.query(TASKS)
    await tx.query(`insert into dartwing.task (organization, name) values ($1, 'NEW')`, [LARGE])
    return rows
  })
  const run = await runJob(handler, {}, { millrace: t.millrace, tenant: LARGE, createdBy: 'ann@example.com' })
  expect(run).toMatchObject({ outcome: 'completed', result: [{ organization: LARGE }] })
  expect(await t.sql(`select modified_by from dartwing.task where name = 'NEW'`)).toEqual([
    { modified_by: 'admin@org-2025-00001.example' },
  ])
})

test('without an active admin rows stay isolated, and the one who enqueued acts', async () => {
  await using t = await setup({ jobs: [probe] })
  await t.sql(`update dartwing.org_member set status = 'Left' where organization = $1`, [SMALL])
  const handler = probing(async (tx) => {
    await tx.query(`insert into dartwing.task (organization, name) values ($1, 'NEW')`, [SMALL])
    return (await tx.query(TASKS)).rows
  })
  const run = await runJob(handler, {}, { millrace: t.millrace, tenant: SMALL, createdBy: 'ann@example.com' })
  expect(run).toMatchObject({ outcome: 'completed', result: [{ organization: SMALL }] })
  expect(run.logs.filter(({ level }) => level === 'warn').map(({ message }) => message)).toEqual([
    'the organization has no active admin',
  ])
  expect(await t.sql(`select modified_by from dartwing.task where name = 'NEW'`)).toEqual([
    { modified_by: 'ann@example.com' },
  ])
})

test('rows of another organization cannot be changed, and are not there', async () => {
  await using t = await setup({ jobs: [probe] })
  const handler = probing(async (tx) => {
    const changed = await tx.query(`update dartwing.task set fields = '{}' where organization = $1 returning name`, [
      SMALL,
    ])
    const deleted = await tx.query('delete from dartwing.task where organization = $1 returning name', [SMALL])
    return [changed.rows.length, deleted.rows.length]
  })
  const run = await runJob(handler, {}, { millrace: t.millrace, tenant: LARGE })
  expect(run).toMatchObject({ outcome: 'completed', result: [0, 0] })
  expect(await t.sql('select count(*)::int as tasks from dartwing.task where organization = $1', [SMALL])).toEqual([
    { tasks: 20 },
  ])
})

test('writing a row of another organization is a dead letter at once, rolled back and audited', async () => {
  await using t = await setup({ jobs: [probe] })
  const handler = probing(async (tx) => {
    await tx.query(`insert into dartwing.task (organization, name) values ($1, 'OWN')`, [LARGE])
    await tx
      .query(`insert into dartwing.task (organization, name) values ($1, 'FOREIGN')`, [SMALL])
      // It goes on as if nothing had happened, and cannot commit.
      .catch(() => {})
    return 'done'
  })
  const run = await runJob(handler, {}, { millrace: t.millrace, tenant: LARGE })
  expect(run.outcome).toBe('dead')
  expect(JSON.stringify(run)).toContain('Permission denied')
  expect(await t.sql(`select name from dartwing.task where name in ('OWN', 'FOREIGN')`)).toEqual([])
  const entries = await t.millrace.audit.list({ action: 'tenant.isolation_violation' } as never)
  expect(entries).toMatchObject([{ tenant: LARGE, target: 'table:task', by: expect.stringMatching(/^job:\d+$/) }])
})

test('a job without organization cannot open the context of one', async () => {
  await using t = await setup({ jobs: [probe] })
  const run = await runJob(
    probing(async () => 'never'),
    {},
    { millrace: t.millrace },
  )
  expect(run.outcome).toBe('dead')
  expect(JSON.stringify(run)).toContain('has no tenant')
})

test('a person is seen by the organizations whose member they are', async () => {
  await using t = await setup({ jobs: [probe] })
  const handler = probing(async (tx) => (await tx.query('select frappe_user from dartwing.person')).rows)
  const run = await runJob(handler, {}, { millrace: t.millrace, tenant: SMALL })
  expect(run).toMatchObject({ result: [{ frappe_user: 'admin@org-2025-00002.example' }] })
})

test('every table of an organization has its policy', async () => {
  await using t = await setup({ jobs: [probe] })
  const report = await t.millrace.checkTenantPolicies({ schema: 'dartwing', column: 'organization' })
  expect(report.isSound, JSON.stringify(report.tables.filter(({ problems }) => problems.length > 0))).toBe(true)
  expect(report.tables.length).toBeGreaterThan(20)
})

test('the policies are written as the platform writes them', () => {
  const folder = new URL('../../migrations/', import.meta.url)
  const texts = readdirSync(folder).map((name) => readFileSync(new URL(name, folder), 'utf8'))
  const tables = texts.flatMap((text) =>
    [...text.matchAll(/create table dartwing\.(\w+) \(([^;]*)\);/g)].flatMap(([, table, columns]) =>
      /^ {2}organization text/m.test(columns ?? '') ? [table as string] : [],
    ),
  )
  expect(tables).toContain('fax')
  const all = texts.join('\n')
  for (const table of tables)
    expect(all, table).toContain(
      tenantPolicySql({ schema: 'dartwing', table, column: 'organization', role: 'dartwing_tenant' }),
    )
})
