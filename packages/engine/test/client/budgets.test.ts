// millrace.budgets, and why a job waits for one.
import { defineBudget, defineJob, defineQueues, InvalidDefinition, implement, UnknownBudget } from 'millrace'
import { fakeClock } from 'millrace/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { Registry } from '#src/contract/registry'
import { explainBudget } from '#src/governance/budget-explainer'
import { Database } from '#src/store/db'
import { jobEvent, setup } from '../support/setup.ts'

const { main } = defineQueues({ main: {} })
const ai = defineBudget('ai-tagging', { limit: 1_000, per: 'month', unit: 'cents' })
const calls = defineBudget('weather', { limit: 50, per: 'day', timeZone: 'Europe/Helsinki' })
const tag = defineJob({ type: 'tag', queue: main, payload: z.object({}), budget: ai })
const refresh = defineJob({ type: 'refresh', queue: main, payload: z.object({}), budget: calls })

async function office() {
  const t = await setup()
  const now = new Date('2026-11-15T22:30:00Z')
  const clock = fakeClock(now)
  const millrace = t.client([tag, refresh], { clock })
  return { ...t, now, clock, millrace, budgets: millrace.budgets }
}

const spend = (amount: number) =>
  `insert into millrace.budget_period (budget, period, spent, updated_at) values ('ai-tagging', '2026-11', ${amount}, now())`

test('the list says where each budget stands', async () => {
  await using t = await office()
  await t.sql(spend(760))
  expect(await t.budgets.list()).toMatchObject([
    {
      budget: 'ai-tagging',
      period: '2026-11',
      level: 'REDUCE',
      used: 760,
      spent: 760,
      limit: 1_000,
      limitFrom: 'code',
      remaining: 240,
      percent: 76,
      endsAt: new Date('2026-12-01T00:00:00Z'),
    },
    { budget: 'weather', period: '2026-11-16', level: 'NORMAL', unit: 'units', timeZone: 'Europe/Helsinki' },
  ])
})

test('a limit counts from now on, or for one period, and can be taken back; all of it is in the audit log', async () => {
  await using t = await office()
  const limit = async (period?: string) => {
    const status = await t.budgets.get('ai-tagging', period === undefined ? {} : { period })
    return [status.limit, status.limitFrom]
  }
  expect(await t.budgets.adjust('ai-tagging', { limit: 2_000, by: 'ann' })).toMatchObject({ limit: 2_000 })
  await t.budgets.adjust('ai-tagging', { limit: 3_000, by: 'bob', period: 'current' })
  await t.budgets.adjust('ai-tagging', { limit: 5_000, by: 'bob', period: '2027-01' })
  expect([await limit(), await limit('2026-12'), await limit('2027-01')]).toEqual([
    [3_000, 'period'],
    [2_000, 'setting'],
    [5_000, 'period'],
  ])
  // From now on means now.
  await t.budgets.adjust('ai-tagging', { limit: 4_000, by: 'ann' })
  expect(await limit()).toEqual([4_000, 'setting'])
  await t.budgets.adjust('ai-tagging', { limit: null, by: 'ann' })
  expect([await limit(), await limit('2027-01')]).toEqual([
    [1_000, 'code'],
    [5_000, 'period'],
  ])
  expect(await t.sql('select actor as by, action, target, details from millrace.audit_log order by id')).toEqual([
    audit('ann', 1_000, 2_000, 'setting', null),
    audit('bob', 2_000, 3_000, 'period', '2026-11'),
    audit('bob', 2_000, 5_000, 'period', '2027-01'),
    audit('ann', 3_000, 4_000, 'setting', null),
    audit('ann', 4_000, 1_000, 'code', null),
  ])
})

const audit = (by: string, from: number, to: number, limitFrom: string, period: string | null) => ({
  by,
  action: 'budget.adjust',
  target: 'ai-tagging',
  details: { from, to, limitFrom, period },
})

test('what makes no sense is refused in plain words', async () => {
  await using t = await office()
  await expect(t.budgets.get('ai-taging')).rejects.toThrow(/no budget "ai-taging". Did you mean "ai-tagging"/)
  await expect(t.budgets.get('x')).rejects.toThrow(UnknownBudget)
  await expect(t.budgets.get('weather', { period: '2026-11' })).rejects.toThrow(/per day, and "2026-11" is none/)
  await expect(t.budgets.adjust('weather', { limit: 1.5, by: 'ann' })).rejects.toThrow(InvalidDefinition)
  await expect(t.budgets.adjust('weather', { limit: 1, by: '' })).rejects.toThrow(/`by` is missing/)
})

test('every program sees what a worker declared, also under a limit that another version of the code has', async () => {
  await using t = await office()
  const worker = await t.millrace.work({ handlers: [implement(tag, () => {})] })
  await worker.stop()
  const other = t.client([], { clock: t.clock })
  expect((await other.budgets.list()).map(({ budget, limit }) => [budget, limit])).toEqual([
    ['ai-tagging', 1_000],
    ['weather', 50],
  ])
  expect(await other.budgets.adjust('weather', { limit: 7, by: 'ann' })).toMatchObject({ limit: 7 })
  const older = defineBudget('weather', { limit: 9_999, per: 'month' })
  const old = t.client([defineJob({ type: 'refresh', queue: main, payload: z.object({}), budget: older })], {
    clock: t.clock,
  })
  expect(await old.budgets.get('weather')).toMatchObject({ limit: 7, per: 'day', period: '2026-11-16' })
})

test('a waiting job is told which budget holds it, how full that is, and when it is tried again', async () => {
  await using t = await office()
  const db = new Database({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections: 1 })
  const explain = async (id: string) => {
    const job = await t.millrace.job(id)
    if (job === undefined) throw new Error('the job is gone')
    return explainBudget(job, { db, now: t.clock.now(), registry: new Registry([tag, refresh]), workers: [] })
  }
  const { id } = await t.millrace.enqueue(tag, {})
  expect(await explain(id)).toBeUndefined()
  await t.sql(spend(920))
  expect(await explain(id)).toEqual({
    mechanism: 'budget',
    sentence:
      'Budget "ai-tagging" is at QUEUE: 920 of 1000 cents used in 2026-11 (92 %). The job is tried again at 2026-11-15T23:00:00.000Z and loses no attempt.',
    until: new Date('2026-11-15T23:00:00Z'),
    remedy: 'millrace budgets set ai-tagging --limit N',
  })
  const snoozed = t.millrace.work({ handlers: [implement(tag, () => {})] })
  await jobEvent(t.millrace, 'job_snoozed', id)
  await (await snoozed).stop()
  expect(await explain(id)).toMatchObject({ until: new Date('2026-11-15T23:00:00Z') })
  await t.sql('update millrace.budget_period set spent = 1000')
  expect(await explain(id)).toMatchObject({
    sentence: expect.stringMatching(/HARD_STOP.*cancelled without being retried.*anew at 2026-12-01T00:00:00.000Z/),
    until: new Date('2026-12-01T00:00:00Z'),
  })
  await db.close()
})
