// enqueueMany of several contracts, each with options of its own.
import { defineJob, defineQueues, InvalidPayload, type Millrace, SecretInPayload, TenantSuspended } from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Setup, setup } from '../support/setup.ts'

const queues = defineQueues({
  mail: {},
  exports: { tenant: 'required', tenantJobs: { max: 2, over: 'reject' } },
})
const mail = defineJob({ type: 'mail', queue: queues.mail, payload: z.object({ to: z.string() }) })
const report = defineJob({ type: 'report', queue: queues.exports, payload: z.object({ month: z.number() }) })
const once = defineJob({
  type: 'once',
  queue: queues.mail,
  payload: z.object({ key: z.string() }),
  dedupe: { key: ({ key }) => key },
})
const contracts = [mail, report, once]

const rows = (t: Setup) =>
  t.sql('select type, queue, tenant, priority, dedup_key, created_by from millrace.job order by id')
const forX = { tenant: 'x' }
const by = 'the test'

async function withTransaction(t: Setup, end: 'commit' | 'rollback', work: (tx: never) => Promise<unknown>) {
  const tx = await t.pool.connect()
  try {
    await tx.query('begin')
    const result = await work(tx as never)
    await tx.query(end)
    return result
  } finally {
    tx.release(true)
  }
}

test('jobs of several contracts are written together, each with options of its own', async () => {
  await using t = await setup()
  const millrace = t.client(contracts)
  const results = await millrace.enqueueMany([
    { job: mail, payload: { to: 'ann' }, options: { priority: 7, createdBy: 'bob' } },
    { job: once, payload: { key: 'k' } },
    { job: report, payload: { month: 3 }, options: forX },
    { job: once, payload: { key: 'k' } },
  ])
  expect(results.map(({ status }) => status)).toEqual(['queued', 'queued', 'queued', 'duplicate'])
  expect(results[3]?.id).toBe(results[1]?.id)
  expect(new Set(await rows(t))).toEqual(
    new Set([
      { type: 'mail', queue: 'mail', tenant: null, priority: 7, dedup_key: null, created_by: 'bob' },
      { type: 'once', queue: 'mail', tenant: null, priority: 5, dedup_key: 'k', created_by: null },
      { type: 'report', queue: 'exports', tenant: 'x', priority: 5, dedup_key: null, created_by: null },
    ]),
  )
  expect(await millrace.enqueueMany([])).toEqual([])
})

test('a payload, a tenant and a job that was not listed are checked by their contracts', async () => {
  await using t = await setup()
  const millrace = t.client([mail, report])
  // @ts-expect-error The payload is that of another contract.
  await expect(millrace.enqueueMany([{ job: mail, payload: { month: 1 } }])).rejects.toThrow(InvalidPayload)
  // @ts-expect-error The queue demands a tenant.
  await expect(millrace.enqueueMany([{ job: report, payload: { month: 1 } }])).rejects.toThrow(/tenant/)
  await expect(millrace.enqueueMany([{ job: once, payload: { key: 'k' } }])).rejects.toThrow(/once/)
})

describe('all or none', () => {
  test.each<[string, (millrace: Millrace) => Promise<unknown>, RegExp]>([
    ['an invalid payload', async () => ({ to: 7 }), /\[1\]\.to/],
    ['a secret', async () => ({ to: 'AKIAIOSFODNN7EXAMPLE' }), /\[1\]\.to/],
  ])('one item with %s refuses the list', async (_, payload, message) => {
    await using t = await setup()
    const millrace = t.client(contracts)
    const items = [
      { job: mail, payload: { to: 'ann' } },
      { job: mail, payload: (await payload(millrace)) as { to: string } },
    ]
    await expect(millrace.enqueueMany(items)).rejects.toThrow(message)
    expect(await rows(t)).toEqual([])
  })

  test('a tenant with no room in one queue refuses the list, and a transaction that is rolled back leaves nothing', async () => {
    await using t = await setup()
    const millrace = t.client(contracts)
    const reports = [1, 2, 3].map((month) => ({ job: report, payload: { month }, options: forX }))
    await expect(millrace.enqueueMany([{ job: mail, payload: { to: 'ann' } }, ...reports])).rejects.toThrow(/its limit/)
    await withTransaction(t, 'rollback', (tx) => millrace.enqueueMany(reports.slice(0, 2), { tx }))
    expect(await rows(t)).toEqual([])
    await withTransaction(t, 'commit', (tx) => millrace.enqueueMany(reports.slice(0, 2), { tx }))
    expect(await rows(t)).toHaveLength(2)
  })
})

describe('an answer per item', () => {
  const items = [
    { job: mail, payload: { to: 'ann' } },
    { job: mail, payload: { to: 7 as never } },
    ...[1, 2, 3].map((month) => ({ job: report, payload: { month }, options: forX })),
    { job: mail, payload: { to: 'AKIAIOSFODNN7EXAMPLE' } },
    { job: report, payload: { month: 9 }, options: { tenant: 'suspended' } },
    { job: once, payload: { key: 'k' } },
  ]
  const expected = [
    { status: 'queued' },
    { status: 'refused', error: expect.any(InvalidPayload) },
    { status: 'queued' },
    { status: 'queued' },
    { status: 'refused', error: { code: 'tenant_limit_reached', tenant: 'x', queue: 'exports' } },
    { status: 'refused', error: expect.any(SecretInPayload) },
    { status: 'refused', error: expect.any(TenantSuspended) },
    { status: 'queued' },
  ]
  const written = ['mail', 'report', 'report', 'once']

  test('refused items are answers, and the others go in', async () => {
    await using t = await setup()
    const millrace = t.client(contracts)
    await millrace.tenants.suspend('suspended', { by })
    expect(await millrace.enqueueMany(items, { perItem: true })).toMatchObject(expected)
    expect((await rows(t)).map(({ type }) => type).sort()).toEqual([...written].sort())
  })

  test('in a transaction of the caller it is the same, the transaction goes on, and its rollback takes all back', async () => {
    await using t = await setup()
    const millrace = t.client(contracts)
    await millrace.tenants.suspend('suspended', { by })
    const enqueue = (tx: never) => millrace.enqueueMany(items, { tx, perItem: true })
    expect(await withTransaction(t, 'rollback', enqueue)).toMatchObject(expected)
    expect(await rows(t)).toEqual([])
    expect(await withTransaction(t, 'commit', enqueue)).toMatchObject(expected)
    expect((await rows(t)).map(({ type }) => type).sort()).toEqual([...written].sort())
  })

  test('a row that the server refuses is an answer, in a transaction too', async () => {
    await using t = await setup()
    const millrace = t.client(contracts)
    await t.sql(`alter table millrace.job add constraint no_eve check (payload ->> 'to' <> 'eve')`)
    const mails = ['ann', 'eve', 'bob'].map((to) => ({ job: mail, payload: { to } }))
    const answers = [
      { status: 'queued' },
      { status: 'refused', error: { code: 'invalid_payload' } },
      { status: 'queued' },
    ]
    expect(await millrace.enqueueMany(mails, { perItem: true })).toMatchObject(answers)
    const enqueue = (tx: never) => millrace.enqueueMany(mails, { tx, perItem: true })
    expect(await withTransaction(t, 'commit', enqueue)).toMatchObject(answers)
    expect(await rows(t)).toHaveLength(4)
  })

  test('an item whose connection broke before the answer is unknown, not refused, and the others keep their answers', async () => {
    await using t = await setup()
    const millrace = t.client(contracts)
    await t.sql(`alter table millrace.job add constraint no_eve check (payload ->> 'to' <> 'eve')`)
    await t.sql(`create function public.break_off() returns trigger language plpgsql
      as $$ begin perform pg_terminate_backend(pg_backend_pid()); return new; end $$`)
    await t.sql(`create trigger break_off before insert on millrace.job for each row
      when (new.payload ->> 'to' = 'bob') execute function public.break_off()`)
    const mails = ['ann', 'eve', 'bob'].map((to) => ({ job: mail, payload: { to } }))
    expect(await millrace.enqueueMany(mails, { perItem: true })).toMatchObject([
      { status: 'queued' },
      { status: 'refused', error: { code: 'invalid_payload' } },
      { status: 'unknown', error: { code: 'enqueue_unknown' } },
    ])
  })

  test('what says nothing about an item is thrown: a mistake in the contract, a database that is away', async () => {
    await using t = await setup()
    const broken = defineJob({
      ...{ type: 'broken', queue: queues.mail, payload: z.object({}) },
      dedupe: {
        key: () => {
          throw new RangeError('a mistake')
        },
      },
    })
    const millrace = t.client([mail, broken])
    const both = [
      { job: mail, payload: { to: 'ann' } },
      { job: broken, payload: {} },
    ] as const
    await expect(millrace.enqueueMany(both, { perItem: true })).rejects.toThrow(RangeError)
    expect(await rows(t)).toEqual([])
    const away = t.client([mail], { database: 'postgres://nobody@127.0.0.1:1/nowhere' })
    await expect(away.enqueueMany([both[0]], { perItem: true })).rejects.toMatchObject({ code: 'database_unavailable' })
  })
})
