import { randomBytes } from 'node:crypto'
import { type Handler, implement, type JobContract } from 'millrace'
import { runJob } from 'millrace/testing'
import { describe, expect, test } from 'vitest'
import { setup } from '../support/setup.ts'

const module = new URL('./fixtures/enqueues.js', import.meta.url)
const fixture = (await import(module.href)) as Record<'parent' | 'letter' | 'memo', JobContract> & {
  default: Handler<JobContract>
}
const { parent, letter, memo } = fixture
const encryption = { keys: [{ id: 'one', key: randomBytes(32) }], lookupKey: randomBytes(32) }

async function working(handler: Parameters<typeof implement>[1]) {
  const t = await setup()
  const millrace = t.client([parent, letter, memo], { encryption })
  await millrace.tenants.suspend('asleep', { by: 'test', reason: 'unpaid' })
  await millrace.work({ handlers: [implement(parent, handler)] })
  return {
    ...t,
    millrace,
    async resultOf(does: string, more: object = {}) {
      const { id } = await millrace.enqueue(parent, { does, ...more } as never, { correlationId: 'order-8' })
      return { id, ...(await millrace.result(id)) }
    },
    [Symbol.asyncDispose]: () => t[Symbol.asyncDispose](),
  }
}

describe.each([
  ['in the worker', fixture.default],
  ['in a process of its own', { isolation: 'process', module } as const],
])('ctx.enqueue of a handler %s', (_, handler) => {
  test('writes a child with the correlation of its job, its keys and what is sensitive as millrace.enqueue does', async () => {
    await using t = await working(handler)
    const first = await t.resultOf('letter', { options: { priority: 3, tenant: 'acme', createdBy: 'ann' } })
    expect(first).toMatchObject({ status: 'completed', result: { status: 'queued', warnings: [] } })
    const { id } = (first as unknown as { result: { id: string } }).result
    expect(await t.millrace.job(id)).toMatchObject({
      ...{ type: 'letter', queue: 'outbox', tenant: 'acme', priority: 3, createdBy: 'ann', status: 'pending' },
      ...{ parentJobId: first.id, correlationId: 'order-8' },
    })
    const [stored] = await t.sql('select payload::text as text from millrace.job where id = $1', [id])
    expect(stored?.text).not.toContain('4111')
    const other = await t.resultOf('letter', { options: { correlationId: 'own' } })
    const { id: otherId } = (other as unknown as { result: { id: string } }).result
    expect(await t.millrace.job(otherId)).toMatchObject({ correlationId: 'own', parentJobId: other.id })
    const twice = (await t.resultOf('twice')) as unknown as { result: { id: string }[] }
    expect(twice.result).toMatchObject([{ status: 'queued' }, { status: 'duplicate', id: twice.result[0]?.id }])
  })

  test('refuses with the errors of millrace.enqueue', async () => {
    await using t = await working(handler)
    expect(await t.resultOf('refusals')).toMatchObject({
      result: [
        ['InvalidPayload', 'invalid_payload', expect.stringContaining('to: ')],
        ['InvalidPayload', 'invalid_payload', expect.stringContaining('to: ')],
        ['SecretInPayload', 'secret_in_payload', expect.stringContaining('password')],
        ['UnknownJobType', 'unknown_job_type', expect.stringContaining('letter')],
        ['TenantRequired', 'tenant_required', expect.stringContaining('members')],
        ['TenantSuspended', 'tenant_suspended', expect.stringContaining('asleep')],
        ['InvalidDefinition', 'invalid_definition', expect.stringContaining('priority')],
      ],
    })
    expect(await t.sql(`select from millrace.job where type <> 'parent'`)).toEqual([])
  })
})

test('ctx.enqueue in a handler’s own transaction is part of it', async () => {
  await using t = await working(fixture.default)
  expect(await t.resultOf('rollback')).toMatchObject({ status: 'dead', error: expect.stringContaining('rolled back') })
  expect(await t.sql(`select from millrace.job where type = 'letter'`)).toEqual([])
})

test('ctx.enqueue of an isolated handler refuses { tx }, and a contract that the worker knows otherwise', async () => {
  await using t = await working({ isolation: 'process', module })
  expect(await t.resultOf('tx')).toMatchObject({
    result: ['InvalidDefinition', 'invalid_definition', expect.stringContaining('cannot be part of { tx }')],
  })
  expect(await t.resultOf('elsewhere')).toMatchObject({
    result: ['InvalidDefinition', 'invalid_definition', expect.stringContaining('Import the same contract in both')],
  })
})

test('a test without a database fails where a handler enqueues', async () => {
  const running = runJob(implement(parent, fixture.default), { does: 'letter' } as never)
  await expect(running).rejects.toThrow('used ctx.enqueue, and this run has no database')
})
