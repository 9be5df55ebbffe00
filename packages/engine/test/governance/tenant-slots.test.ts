// The slots of a tenant in one queue, which precede the tenant's own.
import { defineJob, defineQueues, implement, type Millrace, type SlotsOptions } from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { eventually, type Setup, setup, signal } from '../support/setup.ts'

const queues = defineQueues({ mail: { concurrency: 6 }, bulk: { concurrency: 6 } })
const payload = z.object({ n: z.number() })
const mail = defineJob({ type: 'mail', queue: queues.mail, payload })
const bulk = defineJob({ type: 'bulk', queue: queues.bulk, payload })
const jobs = [mail, bulk]
const numbered = (count: number) => Array.from({ length: count }, (_, n) => ({ n }))
const words = { by: 'the test' }

/** A tenant with a backlog in both queues, and handlers that stay until they are let go. */
async function backlog(prepare: (millrace: Millrace) => Promise<unknown>) {
  const t = await setup()
  const release = signal()
  const millrace = t.client(jobs)
  await prepare(millrace)
  for (const job of jobs) await millrace.enqueueMany(job, numbered(20), { tenant: 'acme' })
  return {
    ...t,
    millrace,
    release,
    start: () => millrace.work({ handlers: jobs.map((job) => implement(job, () => release.promise)) }),
    [Symbol.asyncDispose]() {
      release.resolve()
      return t[Symbol.asyncDispose]()
    },
  }
}

async function running(t: Setup, tenant = 'acme'): Promise<Record<string, number>> {
  const rows = await t.sql<{ queue: string; jobs: number }>(
    `select queue, count(*)::int as jobs from millrace.job where status = 'processing' and tenant = $1 group by queue`,
    [tenant],
  )
  return Object.fromEntries(rows.map(({ queue, jobs: count }) => [queue, count]))
}

const isRunning = (t: Setup, wanted: Record<string, number>) =>
  eventually(async () => {
    const found = await running(t)
    return Object.entries(wanted).every(([queue, count]) => found[queue] === count)
  })

describe('the slots of a tenant in one queue', () => {
  test('are a maximum there and nowhere else', async () => {
    await using t = await backlog(({ tenants }) => tenants.setSlots('acme', 'mail', { maxSlots: 1 }, words))
    await t.start()
    await isRunning(t, { mail: 1, bulk: 6 })
  })

  test('are never exceeded, and the next job starts when one has ended', async () => {
    await using t = await setup()
    let atOnce = 0
    let most = 0
    const handler = implement(mail, async () => {
      most = Math.max(most, ++atOnce)
      await t.sql('select')
      atOnce--
    })
    const { millrace } = await t.working([handler])
    await millrace.tenants.setSlots('acme', 'mail', { maxSlots: 1 }, words)
    await millrace.enqueueMany(mail, numbered(20), { tenant: 'acme' })
    await eventually(async () => (await t.sql('select from millrace.job_archive')).length === 20)
    expect(most).toBe(1)
  })

  test.each<[string, SlotsOptions, SlotsOptions, number]>([
    ['a higher maximum', { maxSlots: 1 }, { maxSlots: 3 }, 3],
    ['a lower maximum', { maxSlots: 3 }, { maxSlots: 1 }, 1],
    ['no maximum', { maxSlots: 1 }, { maxSlots: null }, 6],
    ['nothing at all', { maxSlots: 3 }, { maxSlots: 0 }, 0],
    ['a minimum only: its own maximum holds', { maxSlots: 2 }, { minSlots: 1 }, 2],
  ])('precede its own: %s', async (_, own, inBulk, expected) => {
    await using t = await backlog(async ({ tenants }) => {
      await tenants.set('acme', own, words)
      await tenants.setSlots('acme', 'bulk', inBulk, words)
    })
    const { maxSlots } = own
    await t.start()
    await isRunning(t, { mail: maxSlots as number, ...(expected > 0 && { bulk: expected }) })
    expect((await running(t)).bulk ?? 0).toBe(expected)
  })

  test.each([
    ['set', 0, { minSlots: 4 }, 4],
    ['taken away', 4, { minSlots: 0 }, 1],
  ] as const)('are a minimum there and nowhere else: %s', async (_, minSlots, inMail, expected) => {
    await using t = await backlog(async ({ tenants }) => {
      await tenants.set('acme', { minSlots }, words)
      await tenants.set('big', { weight: 1_000 }, words)
      await tenants.setSlots('acme', 'mail', inMail, words)
    })
    for (const job of jobs) await t.millrace.enqueueMany(job, numbered(20), { tenant: 'big' })
    await t.start()
    await eventually(async () => (await t.sql(`select from millrace.job where status = 'processing'`)).length === 12)
    expect(await running(t)).toEqual({ mail: expected, bulk: minSlots === 0 ? 1 : minSlots })
  })

  test('are raised and taken back while jobs wait', async () => {
    await using t = await backlog(({ tenants }) => tenants.setSlots('acme', 'mail', { maxSlots: 1 }, words))
    const { tenants } = t.millrace
    await t.start()
    await isRunning(t, { mail: 1, bulk: 6 })
    await tenants.setSlots('acme', 'mail', { maxSlots: 2 }, words)
    await isRunning(t, { mail: 2 })
    expect(await tenants.unsetSlots('acme', 'mail', words)).toBe(true)
    await isRunning(t, { mail: 6 })
    expect(await tenants.unsetSlots('acme', 'mail', words)).toBe(false)
  })

  test('keep what a later call does not name, and are told as they hold', async () => {
    await using t = await setup()
    const { tenants } = t.client(jobs)
    await tenants.set('acme', { minSlots: 2, maxSlots: 5 }, words)
    await tenants.setSlots('acme', 'mail', { maxSlots: null }, words)
    await tenants.setSlots('acme', 'bulk', { minSlots: 0 }, words)
    expect(await tenants.slots('acme')).toMatchObject([
      { queue: 'bulk', minSlots: 0, maxSlots: 5, updatedBy: 'the test' },
      { queue: 'mail', minSlots: 2, maxSlots: null },
    ])
    await tenants.setSlots('acme', 'mail', { minSlots: 1 }, words)
    await tenants.setSlots('acme', 'bulk', { maxSlots: 3 }, words)
    expect(await tenants.slots('acme')).toMatchObject([
      { queue: 'bulk', minSlots: 0, maxSlots: 3 },
      { queue: 'mail', minSlots: 1, maxSlots: null },
    ])
    expect(await tenants.get('acme')).toMatchObject({ minSlots: 2, maxSlots: 5 })
    expect(await tenants.slots('other')).toEqual([])
  })

  test('are set and taken back in a transaction of the caller, with their audit entries', async () => {
    await using t = await setup()
    const { tenants, audit } = t.client(jobs)
    const inTransaction = async (end: 'commit' | 'rollback') => {
      const tx = await t.pool.connect()
      await tx.query('begin')
      await tenants.setSlots('new', 'mail', { minSlots: 1, maxSlots: 2 }, { by: 'ann', tx })
      await tenants.unsetSlots('new', 'mail', { by: 'bob', tx })
      await tenants.setSlots('new', 'bulk', { maxSlots: null }, { by: 'ann', tx })
      await tx.query(end)
      tx.release()
    }
    await inTransaction('rollback')
    expect(await tenants.list()).toEqual([])
    expect(await audit.list()).toEqual([])
    await inTransaction('commit')
    expect(await tenants.slots('new')).toMatchObject([{ queue: 'bulk', maxSlots: null }])
    expect((await audit.list()).reverse()).toMatchObject([
      { by: 'ann', action: 'tenant.set_slots', target: 'mail', tenant: 'new', details: { minSlots: 1, maxSlots: 2 } },
      { by: 'bob', action: 'tenant.unset_slots', target: 'mail', tenant: 'new' },
      { by: 'ann', action: 'tenant.set_slots', target: 'bulk', tenant: 'new', details: { maxSlots: null } },
    ])
  })

  test('are refused where they make no sense', async () => {
    await using t = await setup()
    const { tenants } = t.client(jobs)
    const set = (slots: SlotsOptions, queue = 'mail', name = 'acme', by = 'ann') =>
      tenants.setSlots(name, queue, slots, { by })
    await expect(set({})).rejects.toThrow(/give minSlots or maxSlots/)
    await expect(set({ minSlots: -1 })).rejects.toThrow(/minSlots is -1/)
    await expect(set({ maxSlots: 1.5 })).rejects.toThrow(/maxSlots is 1.5/)
    await expect(set({ maxSlots: 1 }, 'mial')).rejects.toThrow(/Did you mean "mail"/)
    await expect(set({ maxSlots: 1 }, 'mail', '')).rejects.toThrow(/needs a name/)
    await expect(set({ maxSlots: 1 }, 'mail', 'acme', '')).rejects.toThrow(/`by` is missing/)
    expect(await tenants.list()).toEqual([])
  })
})
