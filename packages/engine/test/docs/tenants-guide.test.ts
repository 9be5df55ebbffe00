// The examples of the guide to tenants and limits are taken out of it, type-checked and run.
import { type Implementation, implement, type JobContract, type Millrace, TenantSuspended } from 'millrace'
import { expect, test } from 'vitest'
import { examplesOf } from '../support/guide.ts'
import { eventually, jobEvent, setup, signal } from '../support/setup.ts'

async function opened() {
  const guide = await examplesOf('tenants-and-limits.md')
  const t = await setup()
  const contracts = await guide.load<{ jobs: JobContract[]; screenshot: JobContract; summarize: JobContract }>(
    'contracts.ts',
  )
  return {
    ...t,
    ...contracts,
    guide,
    millrace: t.client(contracts.jobs),
    async [Symbol.asyncDispose]() {
      await t[Symbol.asyncDispose]()
      await guide[Symbol.asyncDispose]()
    },
  }
}

type Deed<Answer = void> = (millrace: Millrace, tenant: string) => Promise<Answer>
interface TenantDeeds {
  onboard(millrace: Millrace, tenant: string, plan: 'free' | 'gold'): Promise<void>
  shoot(millrace: Millrace, tenant: string, url: string): Promise<string>
  startExport: Deed<string>
  unpaid: Deed
  paid: Deed
  leave: Deed<string>
}

test('the examples pass the type checker', async () => {
  await using guide = await examplesOf('tenants-and-limits.md')
  expect(await guide.complaints()).toBe('')
})

test('a tenant comes, exceeds what it may have, is suspended, comes back and leaves', async () => {
  await using t = await opened()
  const { millrace } = t
  const deeds = await t.guide.load<TenantDeeds>('tenants.ts')
  await deeds.onboard(millrace, 'acme', 'gold')
  await deeds.onboard(millrace, 'small', 'free')
  expect(await millrace.tenants.list()).toMatchObject([
    { name: 'acme', weight: 5, minSlots: 1, maxSlots: null },
    { name: 'small', weight: 1, maxSlots: 2 },
  ])
  expect(await millrace.tenants.slots('small')).toMatchObject([{ queue: 'bulk', minSlots: 0, maxSlots: 1 }])
  const shoot = () => deeds.shoot(millrace, 'acme', 'https://example.com')
  expect(await shoot()).toBe('queued')
  for (const tenant of ['acme', 'small']) {
    await millrace.enqueueMany(
      t.screenshot,
      Array.from({ length: 499 }, () => ({ url: 'https://example.com' })),
      { tenant },
    )
  }
  expect(await shoot()).toBe('queued, but that is too many')
  for (let i = 0; i < 100; i++) expect(await deeds.startExport(millrace, 'small')).toBe('queued')
  expect(await deeds.startExport(millrace, 'small')).toBe('too many exports are waiting')
  await deeds.unpaid(millrace, 'small')
  await expect(deeds.startExport(millrace, 'small')).rejects.toThrow(TenantSuspended)
  await deeds.paid(millrace, 'small')
  expect(await deeds.leave(millrace, 'small')).toBe('599 waiting jobs cancelled, 0 running ones asked to stop')
})

test('limits are changed and paused while they hold', async () => {
  await using t = await opened()
  const { millrace } = t
  const { calmDown, goOn } = await t.guide.load<Record<'calmDown' | 'goOn', Deed<string>>>('operate.ts')
  const release = signal()
  const url = 'https://example.com'
  await millrace.work({ handlers: [implement(t.screenshot, () => release.promise)] })
  await millrace.enqueueMany(t.screenshot, [{ url }, { url }, { url }, { url }])
  const running = async () => (await millrace.limits.get('browsers'))?.uses[0]?.running
  // Three in all, but two in one process.
  await eventually(async () => (await running()) === 2)
  expect(await millrace.limits.free('browsers')).toBe(1)
  expect(await calmDown(millrace, 'ann')).toBe('0 browsers free; paused: the summaries are wrong')
  await goOn(millrace, 'ann')
  expect(await millrace.limits.free('browsers')).toBe(1)
  expect(await t.sql('select distinct actor as by from millrace.audit_log')).toEqual([{ by: 'ann' }])
  release.resolve()
})

test('a service that asks for a pause is left alone by everybody', async () => {
  await using t = await opened()
  const { millrace } = t
  const { summarizing } = await t.guide.load<{ summarizing(call: unknown): Implementation }>('handlers.ts')
  await millrace.work({ handlers: [summarizing(async () => ({ retryAfterS: 30 }))] })
  const { id } = await millrace.enqueue(t.summarize, { text: 'a long text' })
  await jobEvent(millrace, 'job_snoozed', id)
  const use = await eventually(async () => (await millrace.limits.get('tokens'))?.uses.find((each) => each.heldUntil))
  expect(use).toMatchObject({ free: 0 })
  expect(await millrace.job(id)).toMatchObject({ status: 'pending', attempt: 0 })
})
