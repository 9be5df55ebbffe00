// Who gets what share of a queue, and which rule holds whom.
import { defineJob, defineLimit, defineQueues, defineService } from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Holder, heldJobs } from '#src/governance/holding-rules'
import { sharesOf } from '#src/governance/shares'
import { setup } from '../support/setup.ts'

const NOW_MS = Date.UTC(2026, 10, 18, 12)
const row = (tenant: string | null, counts: Partial<Record<'due' | 'ordered' | 'parked' | 'running', number>>) => ({
  ...{ queue: 'mail', tenant, type: 'send', due: 0, ordered: 0, keyed: 0, parked: 0, deferred: 0, running: 0 },
  oldestDueAt: counts.due ? new Date(NOW_MS - 60_000) : null,
  ...counts,
})
const holder = (rule: Holder['rule'], until: number | null, name = ''): Holder => ({
  ...{ rule, name, until: until === null ? null : new Date(until), by: null, reason: null },
})

describe('shares', () => {
  const share = (tenant: string | null, weightOf = (_: string | null) => 1) => {
    const work = [row('loud', { due: 90, running: 2 }), row('quiet', { due: 1 }), row(null, { running: 2 })]
    const runs = [{ queue: 'mail', tenant: 'loud', runs: 6, waits: [0, 0, 6] }]
    const all = sharesOf({ nowMs: NOW_MS, work, runs, capacity: 20, weightOf })
    return all.find((each) => each.tenant === tenant)
  }

  test('are due by weight among those with work', () => {
    expect(share('quiet')?.dueShare).toBeCloseTo(1 / 3)
    expect(share('quiet', (tenant) => (tenant === 'quiet' ? 4 : 1))?.dueShare).toBeCloseTo(4 / 6)
  })

  test('say what a tenant asks for as a multiple of what it is due', () => {
    // 98 jobs, and a third of 20 runs is due.
    expect(share('loud')?.asks).toBeCloseTo(98 / (20 / 3))
    expect(share('quiet')?.asks).toBeLessThan(1)
  })

  test('take the age of the oldest due job for its wait where no run tells more', () => {
    expect(share('quiet')).toMatchObject({ waitP50Ms: 60_000, waitP95Ms: 60_000 })
    expect(share('loud')?.waitP95Ms).toBe(60_000)
    expect(share(null)?.waitP95Ms).toBeNull()
  })
})

describe('held jobs', () => {
  const held = (rows: ReturnType<typeof row>[], holders: Holder[], isOverShare = false) =>
    heldJobs(rows, { holdersOf: () => holders, isOverShare: () => isOverShare }).map(
      ({ holder: { rule }, jobs }) => `${rule} ${jobs}`,
    )

  test('are counted once, by the rule that ends last', () => {
    const holders = [holder('breaker', NOW_MS + 1_000), holder('pause', NOW_MS + 9_000), holder('limit', NOW_MS)]
    expect(held([row('a', { due: 5, parked: 2 })], holders)).toEqual(['pause 7'])
    expect(held([row('a', { due: 5 })], [...holders, holder('suspension', null)])).toEqual(['suspension 5'])
  })

  test('wait for their share if their tenant asks for more, and are next in line otherwise', () => {
    expect(held([row('a', { due: 5 })], [], true)).toEqual(['fair share 5'])
    expect(held([row('a', { due: 5 })], [])).toEqual(['none 5'])
  })

  test('that wait in an order key do so whatever holds the others, unless that never ends by itself', () => {
    const rows = [row('a', { due: 1, ordered: 3 })]
    expect(held(rows, [holder('limit', NOW_MS)])).toEqual(['limit 1', 'order key 3'])
    expect(held(rows, [holder('suspension', null)])).toEqual(['suspension 1', 'suspension 3'])
  })
})

test('a reading of a queue names the busiest tenants and sums up the others, however many there are', async () => {
  const queues = defineQueues({ mail: {} })
  const send = defineJob({ type: 'send', queue: queues.mail, payload: z.object({}) })
  await using t = await setup()
  const millrace = t.client([send])
  for (let tenant = 0; tenant < 40; tenant++)
    await millrace.enqueueMany(
      send,
      Array.from({ length: tenant === 7 ? 30 : 1 }, () => ({})),
      { tenant: `shop-${tenant}` },
    )
  await millrace.tenants.set('shop-9', { weight: 21 }, { by: 'test' })
  const fairness = await millrace.fairness('mail', { tenant: 'shop-9' })
  expect(fairness).toMatchObject({
    queue: 'mail',
    waiting: 69,
    running: 0,
    working: 40,
    idle: 0,
    weights: 60,
    slots: 0,
  })
  expect(fairness.top[0]).toMatchObject({ tenant: 'shop-7', waiting: 30, heldBy: { rule: 'none' }, held: 30 })
  expect(fairness.top.find(({ tenant }) => tenant === 'shop-9')?.dueShare).toBeCloseTo(21 / 60)
  expect(fairness.top.length + fairness.others.tenants).toBe(40)
  expect(fairness.top.length).toBeLessThanOrEqual(10)
  expect(fairness.cells.reduce((sum, { tenants }) => sum + tenants, 0)).toBe(40)
  expect(fairness.rules).toMatchObject([{ rule: 'none', tenants: 40, jobs: 69 }])
  expect(await millrace.tenantQueues('shop-7')).toMatchObject([{ queue: 'mail', waiting: 30, running: 0 }])
})

test('a reading of a queue tells suspensions, pauses, breakers, limits and slots apart', async () => {
  const service = defineService('post-office')
  const limit = defineLimit('printer', { running: 1, per: 'tenant' })
  const queues = defineQueues({ mail: {} })
  const send = defineJob({ type: 'send', queue: queues.mail, payload: z.object({}) })
  const call = defineJob({ type: 'call', queue: queues.mail, payload: z.object({}), services: [service] })
  const print = defineJob({ type: 'print', queue: queues.mail, payload: z.object({}), limits: [limit] })
  await using t = await setup()
  const millrace = t.client([send, call, print])
  const by = 'test'
  await millrace.enqueue(send, {}, { tenant: 'bad' })
  await millrace.enqueue(send, {}, { tenant: 'still' })
  await millrace.enqueue(call, {}, { tenant: 'good' })
  await millrace.enqueue(print, {}, { tenant: 'good' })
  await millrace.enqueue(send, {}, { tenant: 'full' })
  await millrace.tenants.suspend('bad', { by, reason: 'unpaid' })
  await millrace.pauses.pause({ tenant: 'still' }, { by, reason: 'asked for it', for: '1h' })
  await millrace.breakers.trip(service.name, { by, for: '1h' })
  await millrace.limits.set('printer', { running: 0 }, { by })
  await millrace.tenants.set('full', { maxSlots: 0 }, { by })
  const { rules } = await millrace.fairness('mail')
  expect(rules.map(({ rule, name, who }) => `${rule} ${name}: ${who}`).sort()).toEqual([
    'breaker post-office: good',
    'limit printer: good',
    'pause : still',
    'slots 0: full',
    'suspension : bad',
  ])
  expect(rules.find(({ rule }) => rule === 'pause')).toMatchObject({ by: 'test', reason: 'asked for it', jobs: 1 })
})
