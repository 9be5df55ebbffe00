import { expect, test } from 'vitest'
import { Registry } from '#src/contract/registry'
import { Housekeeper } from '#src/maintenance/housekeeper'
import { hands } from '../support/hands.ts'

const periods = ['2028-10', '2028-11', '2028-11-29', '2028-11-30', '2030-01', '2031-06']

test('periods of budgets are kept for 13 months, and what was spent in them by whom', async () => {
  await using t = await hands([], '2030-01-01T00:00:00Z')
  // Last written long ago, or just now: what counts is when the period was.
  await t.sql(
    `insert into millrace.budget_period (budget, period, updated_at)
    select 'b', period, case when period = '2028-10' then now() else '2020-01-01' end
    from unnest($1::text[]) as period`,
    [periods],
  )
  await t.sql(
    `insert into millrace.budget_usage (budget, period, type, created_by, amount, calls, updated_at)
    select 'b', period, 'tag', who, 1, 1, now() from unnest($1::text[]) as period, unnest('{ann,bob}'::text[]) as who`,
    [periods],
  )
  const housekeeper = new Housekeeper({ db: t.db, clock: t.clock, registry: new Registry([]) })
  const result = await housekeeper.tick()
  expect([result.periodsForgotten, housekeeper.delayAfter(result)]).toEqual([2, 3_600_000])
  const kept = ['2028-11', '2028-11-30', '2030-01', '2031-06']
  const left = await t.sql<{ period: string }>('select period from millrace.budget_period order by period')
  expect(left.map(({ period }) => period)).toEqual(kept)
  const used = await t.sql<{ period: string }>('select distinct period from millrace.budget_usage order by period')
  expect(used.map(({ period }) => period)).toEqual(kept)
})

test('periods are forgotten in batches', async () => {
  await using t = await hands([], '2030-01-01T00:00:00Z')
  await t.sql(`insert into millrace.budget_period (budget, period, updated_at)
    select 'b' || n, '2020-01', now() from generate_series(1, 1005) as n`)
  const housekeeper = new Housekeeper({ db: t.db, clock: t.clock, registry: new Registry([]) })
  const first = await housekeeper.tick()
  expect([first.periodsForgotten, housekeeper.delayAfter(first)]).toEqual([1_000, 0])
  expect(await housekeeper.tick()).toMatchObject({ periodsForgotten: 5 })
})
