import { createMillrace, defineBudget, defineJob, defineQueues, implement } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { fixture } from './support/program.ts'
import { setup as base } from './support/setup.ts'

const { default: workload } = await import(fixture('spender.js'))

/** A database on which a worker has spent 800 of 1000 cents for ann. */
async function setup() {
  const t = await base({ jobs: workload.jobs })
  await t.millrace.work({ handlers: workload.handlers })
  const { id } = await t.millrace.enqueueByType('tag', { cents: 800 }, { createdBy: 'ann' })
  await t.millrace.result(id)
  return { ...t, run: (...args: string[]) => t.run('budgets', ...args) }
}

test('budgets says where they stand, with and without the workload', async () => {
  await using t = await setup()
  const { code, out } = await t.run()
  expect(code).toBe(0)
  expect(out).toMatch(/^BUDGET +LEVEL +USED +PERIOD +ENDS/)
  expect(out).toMatch(/^ai-tagging +REDUCE +800 of 1000 cents +80 % +\d{4}-\d\d +in \d+\w$/m)
  const [budget] = JSON.parse((await t.run('list', '--json', '--module', fixture('spender.js'))).out)
  expect(budget).toMatchObject({ budget: 'ai-tagging', used: 800, limit: 1_000, level: 'REDUCE', limitFrom: 'code' })
})

test('budgets usage says who spent it', async () => {
  await using t = await setup()
  expect((await t.run('usage', 'ai-tagging')).out).toMatch(
    /^TYPE +FOR +SPENT +CALLS +LAST\ntag +ann +800 cents +1 +(now|\d+s ago)\n$/,
  )
  expect((await t.run('usage', 'ai-tagging', '--period', '2020-01')).out).toMatch(/Nothing was spent .* in 2020-01/)
  expect(JSON.parse((await t.run('usage', 'ai-tagging', '--json')).out)).toMatchObject({
    unit: 'cents',
    usage: [{ type: 'tag', createdBy: 'ann', amount: 800, calls: 1 }],
  })
})

test('budgets set changes the limit from now on, for a period, and back', async () => {
  await using t = await setup()
  const set = (...args: string[]) => t.run('set', 'ai-tagging', '--by', 'bob', '--limit', ...args)
  const limit = async () => {
    const { limit, limitFrom } = await t.millrace.budgets.get('ai-tagging')
    return [limit, limitFrom]
  }
  expect((await set('2000')).out).toMatch(/^Level {6}NORMAL, 40 %$/m)
  expect(await limit()).toEqual([2_000, 'setting'])
  expect((await set('800', '--period', 'current')).out).toMatch(/^Limit {6}800 cents, set for this period$/m)
  expect(await limit()).toEqual([800, 'period'])
  expect((await t.run('show', 'ai-tagging')).out).toMatch(/^Level {6}HARD_STOP, 100 %$/m)
  expect(JSON.parse((await set('code', '--json')).out)).toMatchObject({ limit: 1_000, limitFrom: 'code' })
})

test.each([
  [['show', 'ai-taging'], /There is no budget "ai-taging"\. Did you mean "ai-tagging"\?/],
  [['set', 'ai-tagging', '--limit', '7.5'], /Expected a whole number of the budget's unit/],
  [['set', 'ai-tagging'], /required option '--limit <amount>'/],
  [['show', 'ai-tagging', '--period', '2026-11-15'], /per month, and "2026-11-15" is none/],
])('budgets %j is refused in plain words', async (args, message) => {
  await using t = await setup()
  expect(await t.run(...args)).toMatchObject({ code: 1, err: expect.stringMatching(message) })
})

test('a budget in a table of the workload is shown as it was last read, with its age, and is set without the code', async () => {
  await using t = await base({ jobs: [] })
  let spent = 0
  const source = { read: async () => ({ spent, limit: 500 }), add: async () => {} }
  const budget = defineBudget('ink', { limit: 1_000, per: 'month', unit: 'ml', source })
  const { office } = defineQueues({ office: {} })
  const letter = defineJob({ type: 'letter', queue: office, payload: z.object({}), budget })
  const program = createMillrace({ database: t.env.DATABASE_URL, jobs: [letter] })
  const handler = implement(letter, async (_, ctx) => {
    spent += 100
    await ctx.budget.spend(100)
  })
  await program.work({ handlers: [handler] })
  expect((await t.run('budgets')).out).toMatch(/^ink +NORMAL +0 of 1000 ml +0 % .* not in this period$/m)
  const { id } = await program.enqueue(letter, {})
  await program.result(id)
  await program.close()
  expect((await t.run('budgets')).out).toMatch(
    /^ink +NORMAL +100 of 500 ml +20 % .* of the workload's table +(now|\d+s ago)$/m,
  )
  expect((await t.run('budgets', 'show', 'ink')).out).toMatch(/^Read {7}(now|\d+s ago)$/m)
  expect(await t.millrace.budgets.get('ink')).toMatchObject({
    spent: 100,
    source: { limit: 500, readAt: expect.any(Date) },
  })
  const set = await t.run('budgets', 'set', 'ink', '--limit', '200')
  expect(set.out).toMatch(/^Level {6}NORMAL, 50 %$/m)
  expect((await t.run('budgets', 'set', 'ink', '--limit', 'code')).out).toMatch(
    /^Limit {6}500 ml, of the workload's table$/m,
  )
})
