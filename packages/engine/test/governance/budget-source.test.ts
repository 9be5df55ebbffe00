// A budget that is kept in a table of the program's own: its SQL takes effect at once, and the engine knows nothing of it.
import { type BudgetSource, defineBudget, defineJob, defineQueues, implement } from 'millrace'
import { fakeClock, runJob } from 'millrace/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { setup } from '../support/setup.ts'

const TABLE = `
  create table ai_usage_tracking (
    month date not null,
    provider text not null,
    total_requests integer not null default 0,
    total_tokens_input bigint not null default 0,
    total_tokens_output bigint not null default 0,
    estimated_cost_cents integer not null default 0,
    budget_limit_cents integer not null default 50000,
    updated_at timestamptz not null default now(),
    primary key (month, provider)
  )`

const tracking: BudgetSource = {
  async read(tx, { period }) {
    const { rows } = await tx.query(
      `select estimated_cost_cents, budget_limit_cents from ai_usage_tracking where month = $1 and provider = 'anthropic'`,
      [`${period}-01`],
    )
    const row = rows[0] as { estimated_cost_cents: number; budget_limit_cents: number } | undefined
    return { spent: row?.estimated_cost_cents ?? 0, limit: row?.budget_limit_cents ?? null }
  },
  async add(tx, { period }, { amount, calls, details }) {
    await tx.query(
      `insert into ai_usage_tracking as t (month, provider, total_requests, total_tokens_input, estimated_cost_cents)
       values ($1, 'anthropic', $2, $3, $4)
       on conflict (month, provider) do update
       set total_requests = t.total_requests + excluded.total_requests,
           total_tokens_input = t.total_tokens_input + excluded.total_tokens_input,
           estimated_cost_cents = t.estimated_cost_cents + excluded.estimated_cost_cents`,
      [`${period}-01`, calls, details.tokensInput ?? 0, amount],
    )
  },
}

const { bulk } = defineQueues({ bulk: {} })

async function village(source: BudgetSource = tracking) {
  const t = await setup()
  await t.sql(TABLE)
  const budget = defineBudget('ai-tagging', { limit: 50_000, per: 'month', unit: 'cents', source })
  const contract = defineJob({ type: 'AI_TAGGING', queue: bulk, payload: z.looseObject({ cents: z.number() }), budget })
  const tagging = implement(contract, async ({ cents }, ctx) => {
    await ctx.budget.spend(cents, { calls: 20, details: { tokensInput: 1_000 } })
    return ctx.budget.level
  })
  const millrace = t.client([contract], { clock: fakeClock('2026-11-15T12:00:00Z') })
  const told: number[] = []
  millrace.events.on('budget_threshold', ({ threshold }) => told.push(threshold))
  return { ...t, told, contract, millrace, run: (cents: number) => runJob(tagging, { cents }, { millrace }) }
}

test('spending goes to the own table, and the table decides', async () => {
  await using t = await village()
  expect(await t.run(40_000)).toMatchObject({ outcome: 'completed', result: 'REDUCE' })
  expect(await t.sql('select total_requests, total_tokens_input, estimated_cost_cents from ai_usage_tracking')).toEqual(
    [{ total_requests: 20, total_tokens_input: '1000', estimated_cost_cents: 40_000 }],
  )
  await t.sql('update ai_usage_tracking set estimated_cost_cents = 45000')
  expect(await t.run(1)).toMatchObject({ outcome: 'snoozed' })
  await t.sql('update ai_usage_tracking set estimated_cost_cents = 50000')
  expect(await t.run(1)).toMatchObject({ outcome: 'cancelled' })
  expect(t.told).toEqual([75, 80, 90, 100])
})

test('the emergency reset takes effect at once, and arms the thresholds again', async () => {
  await using t = await village()
  await t.run(50_000)
  expect(await t.run(1)).toMatchObject({ outcome: 'cancelled' })
  await t.sql(`
    UPDATE ai_usage_tracking
    SET estimated_cost_cents = 0, total_requests = 0, total_tokens_input = 0, total_tokens_output = 0, updated_at = NOW()
    WHERE month = DATE '2026-11-01' AND provider = 'anthropic'`)
  expect(await t.millrace.budgets.get('ai-tagging')).toMatchObject({ spent: 0, level: 'NORMAL' })
  t.told.splice(0)
  expect(await t.run(40_000)).toMatchObject({ outcome: 'completed' })
  expect(t.told).toEqual([75, 80])
})

test('the limit of the table stands before the code, and what somebody sets before both', async () => {
  await using t = await village()
  await t.run(40_000)
  await t.sql('update ai_usage_tracking set budget_limit_cents = 75000')
  expect(await t.millrace.budgets.get('ai-tagging')).toMatchObject({
    limit: 75_000,
    limitFrom: 'source',
    level: 'NORMAL',
  })
  await t.millrace.budgets.adjust('ai-tagging', { limit: 40_000, by: 'ops', period: 'current' })
  expect(await t.millrace.budgets.get('ai-tagging')).toMatchObject({
    limit: 40_000,
    limitFrom: 'period',
    level: 'HARD_STOP',
  })
})

test('what the own table refuses is not counted by us either', async () => {
  await using t = await village()
  await t.sql('alter table ai_usage_tracking add check (estimated_cost_cents < 100)')
  expect(await t.run(100)).toMatchObject({
    outcome: 'retry',
    failure: { message: expect.stringMatching(/check constraint/) },
  })
  expect(await t.millrace.budgets.usage('ai-tagging')).toEqual([])
})

test.each([
  [
    'throws',
    () => Promise.reject(new Error('no such provider')),
    /source of budget "ai-tagging" failed \(Error: no such/,
  ],
  ['reads text', async () => ({ spent: '5' as never }), /read \{"spent":"5"\}.*Number/],
])('a source that %s fails the attempt in plain words', async (_, read, message) => {
  await using t = await village({ ...tracking, read })
  expect(await t.run(1)).toMatchObject({ outcome: 'retry', failure: { message: expect.stringMatching(message) } })
})

test('another program sees what was read last, and says so while nothing was', async () => {
  await using t = await village()
  const worker = await t.millrace.work({ handlers: [implement(t.contract, () => {})] })
  await worker.stop()
  const other = t.client([])
  expect(await other.budgets.list()).toMatchObject([
    { budget: 'ai-tagging', limit: 50_000, spent: 0, source: { readAt: null } },
  ])
  await t.run(40_000)
  await t.sql('update ai_usage_tracking set estimated_cost_cents = 45000')
  const clock = fakeClock('2026-11-15T12:05:00Z')
  const read = { spent: 40_000, level: 'REDUCE', source: { readAt: new Date('2026-11-15T12:00:00Z'), limit: 50_000 } }
  expect(await t.client([], { clock }).budgets.get('ai-tagging')).toMatchObject(read)
  expect(await t.millrace.budgets.get('ai-tagging')).toMatchObject({ spent: 45_000, level: 'QUEUE' })
  // What was read last month says nothing about this one.
  const later = t.client([], { clock: fakeClock('2026-12-01T00:00:00Z') })
  expect(await later.budgets.get('ai-tagging')).toMatchObject({ spent: 0, source: { readAt: null } })
})
