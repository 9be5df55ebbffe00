// The same with an ordinary owner of the tables as login, as in production: row security binds it, too.
import { defineJob, implement } from 'millrace'
import { runJob } from 'millrace/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { queues } from '#src/jobs/queues'
import { orgContext } from '#src/organization/org-context'
import { LARGE, SMALL, setup } from '../support/dartwing.ts'

const probe = defineJob({ type: 'test.probe', queue: queues.default, payload: z.object({ writesFor: z.string() }) })
const probing = implement(probe, ({ writesFor }, ctx) =>
  orgContext(
    ctx,
    async (tx) => {
      await tx.query(`insert into dartwing.task (organization, name) values ($1, 'NEW')`, [writesFor])
      return (await tx.query('select distinct organization from dartwing.task')).rows
    },
    { complete: true },
  ),
)

test('a job sees and writes the rows of its organization only, and the owner sees none without naming one', async () => {
  await using t = await setup({ jobs: [probe], login: 'owner' })
  expect(await t.sql('select rolsuper from pg_roles where rolname = current_user')).toEqual([{ rolsuper: false }])
  const own = await runJob(probing, { writesFor: LARGE }, { millrace: t.millrace, tenant: LARGE })
  expect(own).toMatchObject({ outcome: 'completed', result: [{ organization: LARGE }] })
  const foreign = await runJob(probing, { writesFor: SMALL }, { millrace: t.millrace, tenant: LARGE })
  expect(foreign.outcome).toBe('dead')
  expect(JSON.stringify(foreign)).toContain('Permission denied')
  expect(await t.millrace.audit.list({ action: 'tenant.isolation_violation' })).toMatchObject([
    { tenant: LARGE, target: 'table:task' },
  ])
  expect(await t.sql('select name from dartwing.task')).toEqual([])
  expect((await t.sql('select name from dartwing.organization')).length, 'the directory').toBe(5)
})
