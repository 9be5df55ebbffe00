// Reserving and spending on a real database: against a simple model, side by side, and across crashes.
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { BudgetExceeded, defineBudget, LeaseLost } from 'millrace'
import { expect, test } from 'vitest'
import type { Budgets } from '#src/governance/budgets'
import { budgetReservationSweep } from '#src/store/budgets'
import { Database } from '#src/store/db'
import { budgetSetup, type FakeRun, reserve, spend } from '../support/budgets.ts'
import { eventually } from '../support/setup.ts'

const cents = (limit: number, name = 'ai') => defineBudget(name, { limit, per: 'month', unit: 'cents' })

type Step =
  | { act: 'begin' }
  | { act: 'reserve'; run: number; amount: number }
  | { act: 'spendReserved'; pick: number; amount: number; again: boolean }
  | { act: 'spend'; run: number; amount: number }
  | { act: 'release'; pick: number }
  | { act: 'crash'; run: number }
  | { act: 'sweep' }

const amount = fc.integer({ min: 0, max: 60 })
const pick = fc.nat(20)
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ act: fc.constant('begin' as const) }),
  fc.record({ act: fc.constant('reserve' as const), run: pick, amount }),
  fc.record({ act: fc.constant('spendReserved' as const), pick, amount, again: fc.boolean() }),
  fc.record({ act: fc.constant('spend' as const), run: pick, amount }),
  fc.record({ act: fc.constant('release' as const), pick }),
  fc.record({ act: fc.constant('crash' as const), run: pick }),
  fc.record({ act: fc.constant('sweep' as const) }),
)

interface Kept {
  run: FakeRun
  id: string
  amount: number
}

/** What the tables should say, in a few lines. */
class Model {
  spent = 0
  readonly live: FakeRun[] = []
  kept: Kept[] = []
  readonly limit = 100

  get reserved(): number {
    return this.kept.filter(({ run }) => this.live.includes(run)).reduce((sum, each) => sum + each.amount, 0)
  }
}

async function perform(t: Awaited<ReturnType<typeof budgetSetup>>, budgets: Budgets, model: Model, each: Step) {
  const budget = cents(model.limit)
  const chosen = <Item>(items: readonly Item[], index: number): Item | undefined => items[index % (items.length || 1)]
  switch (each.act) {
    case 'begin':
      model.live.push(await t.run())
      break
    case 'crash': {
      const run = chosen(model.live, each.run)
      if (run === undefined) break
      await t.crash(run)
      model.live.splice(model.live.indexOf(run), 1)
      break
    }
    case 'reserve': {
      const run = chosen(model.live, each.run)
      if (run === undefined) break
      const id = randomUUID()
      const fits = model.spent + model.reserved + each.amount <= Math.max(model.limit, model.spent + model.reserved)
      const outcome = await reserve(budgets, budget, run, each.amount, id).then(
        () => 'reserved',
        (error) => (error instanceof BudgetExceeded ? 'refused' : Promise.reject(error)),
      )
      expect(outcome).toBe(fits ? 'reserved' : 'refused')
      if (fits) model.kept.push({ run, id, amount: each.amount })
      break
    }
    case 'spendReserved': {
      const kept = chosen(model.kept, each.pick)
      if (kept === undefined) break
      // A reply that was lost: it is said again, and counts once.
      for (const _ of each.again ? [1, 2] : [1])
        await spend(budgets, budget, kept.run, { amount: each.amount, id: kept.id })
      model.spent += each.amount
      model.kept = model.kept.filter((other) => other !== kept)
      break
    }
    case 'spend': {
      const run = chosen(model.live, each.run)
      if (run === undefined) break
      await spend(budgets, budget, run, each.amount)
      model.spent += each.amount
      break
    }
    case 'release': {
      const kept = chosen(model.kept, each.pick)
      if (kept === undefined) break
      await budgets.release(kept.run, kept.id)
      model.kept = model.kept.filter((other) => other !== kept)
      break
    }
    case 'sweep':
      await sweep(t.url)
      break
  }
}

async function sweep(url: string): Promise<number> {
  const db = new Database({ connection: { connectionString: url }, schema: 'millrace', maxConnections: 1 })
  try {
    return await budgetReservationSweep(db, 1_000)
  } finally {
    await db.close()
  }
}

test('whatever runs reserve, spend, release and lose in crashes, the budget says what a simple model says', async () => {
  await using t = await budgetSetup('2026-11-15T12:00:00Z')
  const budgets = t.budgets()
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
      await t.sql('truncate millrace.budget_period, millrace.budget_reservation, millrace.budget_usage, millrace.job')
      const model = new Model()
      for (const each of steps) {
        await perform(t, budgets, model, each)
        const { spent, reserved, used, remaining } = await budgets.look(cents(model.limit))
        expect({ spent, reserved }).toEqual({ spent: model.spent, reserved: model.reserved })
        expect({ used, remaining }).toEqual({ used: spent + reserved, remaining: Math.max(0, model.limit - used) })
      }
      const [usage] = await t.sql<{ sum: string }>('select coalesce(sum(amount), 0) as sum from millrace.budget_usage')
      expect(Number(usage?.sum)).toBe(model.spent)
    }),
    { numRuns: 25 },
  )
}, 120_000)

test('reservations from many connections at once never exceed the limit together', async () => {
  await using t = await budgetSetup()
  const processes = Array.from({ length: 6 }, () => t.budgets(3))
  const runs = await Promise.all(Array.from({ length: 36 }, () => t.run()))
  const outcomes = await Promise.allSettled(
    runs.map((run, i) => reserve(processes[i % processes.length] as Budgets, cents(100), run, 7)),
  )
  const refused = outcomes.filter((each) => each.status === 'rejected')
  // 14 × 7 = 98
  expect(outcomes.length - refused.length).toBe(14)
  for (const { reason } of refused) expect(reason).toMatchObject({ code: 'budget_exceeded', level: 'QUEUE', amount: 7 })
  expect(await processes[0]?.look(cents(100))).toMatchObject({ used: 98, spent: 0, reserved: 98, remaining: 2 })
})

test('amounts spent from many connections at once all count', async () => {
  await using t = await budgetSetup()
  const processes = Array.from({ length: 4 }, () => t.budgets(3))
  const run = await t.run('tag', 'ann')
  await Promise.all(Array.from({ length: 60 }, (_, i) => spend(processes[i % 4] as Budgets, cents(100), run, i)))
  expect(await processes[0]?.look(cents(100))).toMatchObject({ spent: 1_770, level: 'HARD_STOP' })
  expect(t.told.map(({ threshold }) => threshold).sort((a, b) => a - b)).toEqual([75, 80, 90, 100])
})

test('what a dead run had reserved counts no more, whichever way it died, and is swept', async () => {
  await using t = await budgetSetup()
  const budgets = t.budgets()
  const [crashed, failed, again, gone, alive] = [
    await t.run(),
    await t.run(),
    await t.run(),
    await t.run(),
    await t.run(),
  ]
  for (const run of [crashed, failed, again, gone, alive]) await reserve(budgets, cents(100), run, 20)
  expect(await budgets.look(cents(100))).toMatchObject({ reserved: 100 })
  await expect(reserve(budgets, cents(100), alive, 1)).rejects.toThrow(BudgetExceeded)
  await t.crash(crashed)
  // It waits for its next attempt, and still names the run that failed.
  await t.sql(`update millrace.job set status = 'pending' where id = $1`, [failed.fence.id])
  // Another run has taken over.
  await t.sql('update millrace.job set run_id = gen_random_uuid() where id = $1', [again.fence.id])
  await t.sql('delete from millrace.job where id = $1', [gone.fence.id])
  expect(await budgets.look(cents(100))).toMatchObject({ reserved: 20 })
  await reserve(budgets, cents(100), alive, 80)
  expect(await sweep(t.url)).toBe(4)
  expect(await budgets.look(cents(100))).toMatchObject({ reserved: 100 })
})

test('a run that lost its job can reserve nothing, but what it spent still counts', async () => {
  await using t = await budgetSetup()
  const budgets = t.budgets()
  const run = await t.run()
  const id = randomUUID()
  await reserve(budgets, cents(100), run, 25, id)
  await t.crash(run)
  await sweep(t.url)
  await expect(reserve(budgets, cents(100), run, 1)).rejects.toThrow(LeaseLost)
  await spend(budgets, cents(100), run, { amount: 30, id })
  expect(await budgets.look(cents(100))).toMatchObject({ spent: 30, reserved: 0 })
})

test('a spend whose connection breaks is said again, and counted once', async () => {
  await using t = await budgetSetup()
  const budgets = t.budgets()
  const run = await t.run()
  await spend(budgets, cents(100), run, 1)
  const holder = await t.pool.connect()
  await holder.query('begin')
  await holder.query('select from millrace.budget_period for update')
  const spending = spend(budgets, cents(100), run, 30)
  const waiting = `select pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
  await eventually(async () => (await t.sql(waiting)).length > 0)
  await holder.query('rollback')
  holder.release()
  expect(await spending).toMatchObject({ spent: 31 })
})

test('two processes that cross thresholds at once tell each of them once', async () => {
  await using t = await budgetSetup()
  const [one, two] = [t.budgets(), t.budgets()]
  const run = await t.run()
  await Promise.all(Array.from({ length: 50 }, (_, i) => spend(i % 2 ? one : two, cents(100), run, 2)))
  await Promise.all([one.look(cents(100)), two.look(cents(100))])
  expect(t.told.map(({ threshold }) => threshold).sort((a, b) => a - b)).toEqual([75, 80, 90, 100])
  expect(t.told.at(-1)?.status).toMatchObject({ budget: 'ai', limit: 100 })
})

test('a threshold is written down with the spend that reaches it, and told by another process if that one dies', async () => {
  await using t = await budgetSetup('2026-01-31T23:59:59Z')
  const [dying, living] = [t.budgets(), t.budgets()]
  const run = await t.run()
  const tx = await t.pool.connect()
  const spendIn = (amount: number) =>
    dying.spend(cents(100), run, { id: randomUUID(), period: null, amount, calls: 1, details: {} }, tx)
  await tx.query('begin')
  await spendIn(80)
  await tx.query('rollback')
  expect(await t.sql('select from millrace.budget_notice')).toEqual([])
  await tx.query('begin')
  await spendIn(80)
  await tx.query('commit')
  tx.release()
  // The process that spent tells nothing. The month ends before another one looks.
  expect(await t.sql('select budget, period, threshold, told_at from millrace.budget_notice order by id')).toEqual(
    [75, 80].map((threshold) => ({ budget: 'ai', period: '2026-01', threshold, told_at: null })),
  )
  t.clock.now = new Date('2026-02-01T00:00:00Z')
  await living.look(cents(100))
  await living.look(cents(100))
  expect(t.told.map(({ threshold, status }) => [threshold, status.period, status.spent])).toEqual([
    [75, '2026-01', 80],
    [80, '2026-01', 80],
  ])
  expect(await t.sql('select from millrace.budget_notice where told_at is null')).toEqual([])
})

test('a process that dies while it tells a threshold leaves it to another one', async () => {
  await using t = await budgetSetup()
  const budgets = t.budgets()
  await spend(budgets, cents(100), await t.run(), 75)
  // As if it had died between taking the row and noting that listeners heard of it.
  await t.sql(`update millrace.budget_notice set told_at = null, taken_until = now() + interval '1 minute'`)
  t.told.splice(0)
  await budgets.look(cents(100))
  expect(t.told).toEqual([])
  await t.sql(`update millrace.budget_notice set taken_until = now() - interval '1 second'`)
  await budgets.look(cents(100))
  expect(t.told.map(({ threshold }) => threshold)).toEqual([75])
})

test('thresholds are armed again by a raise, and by a new period', async () => {
  await using t = await budgetSetup('2026-01-31T23:59:59Z')
  const budgets = t.budgets()
  const run = await t.run()
  const thresholds = () => t.told.splice(0).map(({ threshold, status }) => [threshold, status.period])
  await spend(budgets, cents(100), run, 90)
  expect(thresholds()).toEqual([75, 80, 90].map((threshold) => [threshold, '2026-01']))
  await spend(budgets, cents(100), run, 1)
  expect(thresholds()).toEqual([])
  await budgets.adjust(cents(100), { limit: 200, period: null, by: 'ops' })
  expect(thresholds()).toEqual([])
  await spend(budgets, cents(100), run, 59)
  expect(thresholds()).toEqual([[75, '2026-01']])
  t.clock.now = new Date('2026-02-01T00:00:00Z')
  expect(await budgets.look(cents(100))).toMatchObject({ period: '2026-02', spent: 0, level: 'NORMAL' })
  await spend(budgets, cents(100), run, 160)
  expect(thresholds()).toEqual([75, 80].map((threshold) => [threshold, '2026-02']))
  // Lowered: what is reached now is told at once.
  await budgets.adjust(cents(100), { limit: 160, period: null, by: 'ops' })
  expect(thresholds()).toEqual([90, 100].map((threshold) => [threshold, '2026-02']))
})

test('what was reserved last month is spent last month', async () => {
  await using t = await budgetSetup('2026-11-30T23:59:59Z')
  const budgets = t.budgets()
  const run = await t.run()
  const id = randomUUID()
  const { period } = await reserve(budgets, cents(100), run, 60, id)
  t.clock.now = new Date('2026-12-01T00:00:10Z')
  expect(await budgets.look(cents(100))).toMatchObject({ period: '2026-12', used: 0 })
  expect(await spend(budgets, cents(100), run, { amount: 55, id, period })).toMatchObject({
    period: '2026-11',
    spent: 55,
  })
  expect(await budgets.look(cents(100))).toMatchObject({ period: '2026-12', used: 0 })
})
