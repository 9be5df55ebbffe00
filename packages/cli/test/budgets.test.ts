import { expect, test } from 'vitest'
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
  expect(out).toMatch(/--module\.\n$/)
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
