// The test matrix of Dartwing's job isolation, row by row.
import { defineJob, defineQueues, implement } from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { jobEvent } from '../support/setup.ts'
import { tenants } from '../support/tenants.ts'

describe('Dartwing test matrix', () => {
  test('Permission isolation: Job accesses other org data → Permission denied', async () => {
    await using t = await tenants()
    const queues = defineQueues({ default: { tenant: 'required' } })
    const sync = defineJob({ type: 'sync', queue: queues.default, payload: z.object({ sql: z.string() }) })
    const { millrace } = await t.working([
      implement(sync, ({ sql }, ctx) => ctx.tenantDb(async (tx) => (await tx.query(sql)).rows, { complete: true })),
    ])
    const asOrgA = async (sql: string) => (await millrace.enqueue(sync, { sql }, { tenant: 'a' })).id
    const foreign = `where organization_id = 'b'`

    // Rows of another organization cannot be read, changed or deleted …
    for (const sql of [
      `select * from task ${foreign}`,
      `update task set title = 'taken' ${foreign} returning id`,
      `delete from task ${foreign} returning id`,
    ])
      expect(await millrace.result(await asOrgA(sql))).toEqual({ status: 'completed', result: [] })

    // … and writing one is refused, in so many words, and noted.
    const id = await asOrgA(`insert into task values (3, 'b', 'smuggled')`)
    expect(await jobEvent(millrace, 'job_died', id)).toMatchObject({
      failure: { class: 'TenantIsolationViolation', message: expect.stringMatching(/Permission denied/) },
    })
    expect(await t.audit()).toMatchObject([{ by: `job:${id}`, action: 'tenant.isolation_violation', tenant: 'a' }])
    expect(await t.tasks()).toEqual([
      { id: 1, organization_id: 'a', title: 'of a' },
      { id: 2, organization_id: 'b', title: 'of b' },
    ])
  })
})
