import { defineJob, defineQueues, defineWorkflow, implement, type Millrace, type Queryable } from 'millrace'
import { runJob } from 'millrace/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { tenants } from '../support/tenants.ts'

const queues = defineQueues({ default: {} })
const report = defineJob({ type: 'report', queue: queues.default, payload: z.object({}) })
const follow = defineJob({ type: 'follow', queue: queues.default, payload: z.object({}) })
const mailTo = defineJob({
  type: 'mailTo',
  queue: queues.default,
  payload: z.object({ to: z.string() }),
  tenant: ({ to }) => to,
})
const plain = defineWorkflow('plain').step('first', follow, { payload: () => ({}) })
const approval = defineWorkflow('approval').signal('go', {})
const mailing = defineWorkflow('mailing', { input: z.object({ to: z.string() }) }).step('mail', mailTo, {
  payload: ({ input }) => ({ to: input.to }),
})

type Deed = (millrace: Millrace, tx: Queryable) => Promise<unknown>

/** Runs a job of tenant a that does it inside ctx.tenantDb. */
async function doing(deed: Deed, { before = async (_: Millrace) => {} } = {}) {
  const t = await tenants()
  const workflows = [plain, approval, mailing]
  const millrace = t.client([report, follow, mailTo], { tenantRole: t.role, workflows })
  await before(millrace)
  const handler = implement(report, async (_, ctx) => {
    await ctx.tenantDb(async (tx) => {
      await tx.query(`update task set title = 'changed'`)
      await deed(millrace, tx)
    })
  })
  const run = await runJob(handler, {}, { millrace, tenant: 'a' })
  return { ...t, millrace, run }
}

const written = async (millrace: Millrace) => [
  ...(await millrace.jobs({ type: 'follow' })),
  ...(await millrace.jobs({ type: 'mailTo' })),
]

describe('through the tx of ctx.tenantDb', () => {
  const forB = { tenant: 'b' }
  let workflowOfB = ''
  const start = async (millrace: Millrace) => {
    workflowOfB = (await millrace.workflows.start(approval, undefined, forB)).id
  }
  test.each<[string, Deed]>([
    ['enqueue a job', (millrace, tx) => millrace.enqueue(follow, {}, { tx, ...forB })],
    ['enqueue a job under a key', (millrace, tx) => millrace.enqueue(follow, {}, { tx, ...forB, dedupKey: 'k' })],
    ['enqueue a job whose payload names the tenant', (millrace, tx) => millrace.enqueue(mailTo, { to: 'b' }, { tx })],
    ['enqueue a list with one job', (millrace, tx) => millrace.enqueueMany(mailTo, [{ to: 'a' }, { to: 'b' }], { tx })],
    ['start a workflow', (millrace, tx) => millrace.workflows.start(plain, undefined, { tx, ...forB })],
    [
      'start a workflow with a first job',
      (millrace, tx) => millrace.workflows.start(mailing, { to: 'b' }, { tx, tenant: 'a' }),
    ],
    [
      'signal a workflow',
      (millrace, tx) => millrace.workflows.signal(workflowOfB, 'go', undefined, { tx, by: 'report' }),
    ],
  ])('a job cannot %s of another tenant; the attempt is audited', async (_, deed) => {
    await using t = await doing(deed, { before: start })
    const message = expect.stringMatching(/belongs to tenant "a" and named tenant "b"/)
    expect(t.run).toMatchObject({ outcome: 'dead', failure: { class: 'TenantIsolationViolation', message } })
    expect(await t.audit()).toMatchObject([
      { action: 'tenant.isolation_violation', tenant: 'a', details: { otherTenant: 'b' } },
    ])
    expect(await written(t.millrace)).toEqual([])
    expect(await t.tasks()).toMatchObject([{ title: 'of a' }, { title: 'of b' }])
    expect((await t.millrace.workflows.get(workflowOfB))?.status).toBe('running')
  })

  test('a refusal that the handler catches still keeps everything from being committed', async () => {
    await using t = await doing(async (millrace, tx) => {
      await millrace.enqueue(follow, {}, { tx, tenant: 'a' })
      await millrace.enqueue(follow, {}, { tx, ...forB }).catch(() => {})
    })
    expect(t.run).toMatchObject({ outcome: 'dead', failure: { class: 'TenantIsolationViolation' } })
    expect(await written(t.millrace)).toEqual([])
    expect(await t.audit()).toHaveLength(1)
  })

  test('a job enqueues for its own tenant and for none, and starts workflows of both kinds', async () => {
    await using t = await doing(async (millrace, tx) => {
      await millrace.enqueue(follow, {}, { tx })
      await millrace.enqueue(mailTo, { to: 'a' }, { tx })
      await millrace.workflows.start(plain, undefined, { tx })
      await millrace.workflows.start(mailing, { to: 'a' }, { tx, tenant: 'a' })
    })
    expect(t.run).toMatchObject({ outcome: 'completed' })
    const found = (await written(t.millrace)).map(({ type, tenant }) => `${type} of ${tenant}`)
    expect(found.sort()).toEqual(['follow of null', 'follow of null', 'mailTo of a', 'mailTo of a'])
    expect(await t.audit()).toEqual([])
  })
})
