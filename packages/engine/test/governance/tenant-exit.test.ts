import { defineJob, defineQueues, defineWorkflow, type Handler, implement } from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { tenants } from '../support/tenants.ts'

const queues = defineQueues({ default: {} })
const report = defineJob({ type: 'report', queue: queues.default, payload: z.object({}) })
const forA = { tenant: 'a', maxAttempts: 1 }

async function working(handler: Handler<typeof report>) {
  const t = await tenants()
  const { millrace } = await t.working([implement(report, handler)])
  return {
    ...t,
    millrace,
    async ended() {
      const { id } = await millrace.enqueue(report, {}, forA)
      return (await millrace.result(id)) as unknown as { status: string; result: unknown; error: string }
    },
  }
}

describe('a statement that ends the transaction of ctx.tenantDb', () => {
  const before: [string, unknown][] = [
    ['a comment before it', '-- note\ncommit'],
    ['a comment of several lines before it', '/* a /* nested */ note */ rollback'],
    ['an object', { text: 'commit' }],
    ['an empty statement before it', ' ; commit'],
  ]

  test.each(before)('is refused before it runs: %s', async (_, statement) => {
    await using t = await working((_, ctx) =>
      ctx.tenantDb(async (tx) => {
        const answer = await tx.query(statement as string).catch(({ message }) => message)
        return [answer, (await tx.query('select id from task')).rows]
      }),
    )
    expect(await t.ended()).toMatchObject({ result: [expect.stringMatching(/owns its transaction/), [{ id: 1 }]] })
  })

  const after: [string, unknown][] = [
    ['behind another one', `update task set title = 'x'; commit`],
    ['with a new one behind it', `select 1; commit; begin`],
    ['as commit and chain', `select 1; commit and chain`],
    ['as an object', { text: 'select 1; rollback' }],
    ['which only leaves the role', `select set_config('role', 'none', true)`],
    ['which only leaves the tenant', `select set_config('millrace.tenant', 'b', true)`],
  ]

  test.each(after)('is noticed, no further statement runs, and the job is a dead letter: %s', async (_, statement) => {
    const seen: unknown[] = []
    await using t = await working((_, ctx) =>
      ctx.tenantDb(
        async (tx) => {
          await tx.query(statement as string).catch(({ message }) => seen.push(message))
          await tx.query('select id from task').then(
            ({ rows }) => seen.push(rows),
            ({ message }) => seen.push(message),
          )
        },
        { complete: true },
      ),
    )
    expect(await t.ended()).toMatchObject({ status: 'dead', error: expect.stringMatching(/left the transaction/) })
    expect(seen).toEqual(Array(2).fill(expect.stringMatching(/left the transaction/)))
  })
})

describe('a failed statement in ctx.tenantDb', () => {
  test('of a workflow’s start is taken back alone, and the transaction goes on under the tenant’s role', async () => {
    const step = defineJob({ type: 'step', queue: queues.default, payload: z.object({}) })
    const flow = defineWorkflow('flow').step('only', step, { payload: () => ({}) })
    await using t = await tenants()
    const handler = implement(report, (_, ctx) =>
      ctx.tenantDb(async (tx) => {
        await tx.query(`update task set title = 'kept'`)
        const refusal = await millrace.workflows
          .start(flow, undefined, { tx, tenant: 'a' })
          .catch(({ message }) => message)
        return [refusal, (await tx.query('select id, current_user::text as role from task')).rows]
      }),
    )
    const millrace = t.client([report, step], { tenantRole: t.role, maxConnections: 1, workflows: [flow] })
    await millrace.work({ handlers: [handler, implement(step, () => {})] })
    await t.sql(`alter table millrace.workflow add check (tenant is distinct from 'a') not valid`)
    const { id } = await millrace.enqueue(report, {}, forA)
    expect(await millrace.result(id)).toMatchObject({
      result: [expect.stringMatching(/violates check constraint/), [{ id: 1, role: t.role }]],
    })
    expect(await t.tasks()).toMatchObject([{ title: 'kept' }, { title: 'of b' }])
  })
})
