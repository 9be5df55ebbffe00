// The budget holds, whatever runs side by side and wherever a run dies.
import { randomUUID } from 'node:crypto'
import { runJob } from 'millrace/testing'
import { expect, test } from 'vitest'
import { addItems, itemStates, ledgers, setMonth } from '../support/articles.ts'
import { setup, type Village } from '../support/setup.ts'

const handlerOf = (t: Village) => t.handler('AI_TAGGING')
const tag = (t: Village, dedupKey: string = randomUUID()) =>
  runJob(handlerOf(t), { trigger: 'manual' }, { millrace: t.millrace, dedupKey })

test('eight runs side by side on ten cents never spend more, and pay for no item twice', async () => {
  await using t = await setup({ sandbox: { latencyMs: 5 } })
  await addItems(t, 100)
  await setMonth(t, { limitCents: 10 })
  const over: number[] = []
  const watch = setInterval(() => {
    over.push(t.sandbox.anthropic.microdollars)
  }, 5)
  const reports = await Promise.all(Array.from({ length: 8 }, () => tag(t)))
  clearInterval(watch)
  const { usage, calls, provider, uncounted } = await ledgers(t)
  expect(Math.max(...over, provider)).toBeLessThanOrEqual(100_000)
  // As much as the level QUEUE lets through.
  expect(provider).toBeGreaterThan(60_000)
  expect({ usage, calls, uncounted }).toEqual({ usage: provider, calls: provider, uncounted: 0 })
  const perItem = await t.sql('select item_id from village.ai_calls group by item_id having count(*) > 1')
  expect(perItem).toEqual([])
  const tagged = (await itemStates(t)).filter(({ ai_tagged }) => ai_tagged)
  expect(tagged).toHaveLength(t.sandbox.anthropic.billed.length)
  expect((await itemStates(t)).every(({ tagging_batch }) => tagging_batch === null)).toBe(true)
  expect(reports.map(({ outcome }) => outcome)).not.toContain('failed')
})

/** What a process leaves that dies between the record of a call and the end of its batch. */
async function diedAfterRecord(t: Village, { jobId = '999999', minutesAgo = 0, cost = 6_000 } = {}): Promise<string> {
  const batch = randomUUID()
  const [item] = await addItems(t, 1)
  await t.sql(
    `update village.feed_items set tagging_batch = $2, tagging_until = now() + interval '15 minutes' where id = $1`,
    [item, batch],
  )
  await t.sql(
    `insert into village.ai_calls
       (item_id, batch, job_id, model, input_tokens, output_tokens, cost_microdollars, outcome, called_at)
     values ($1, $2, $3, 'claude', 1000, 200, $4, 'tagged', now() - $5 * interval '1 minute')`,
    [item, batch, jobId, cost, minutesAgo],
  )
  return item ?? ''
}

test('a call that its dead run could not count is spent at once for all others', async () => {
  await using t = await setup()
  await setMonth(t, { limitCents: 10 })
  await diedAfterRecord(t, { cost: 95_000 })
  const status = await t.millrace.budgets.get('ai-tagging')
  expect(status).toMatchObject({ spent: 95_000, level: 'QUEUE' })
  expect(await tag(t)).toMatchObject({ outcome: 'snoozed' })
  expect(t.sandbox.anthropic.billed).toEqual([])
})

test('the next run counts what a dead run left after 15 minutes, and counts it once', async () => {
  await using t = await setup()
  await diedAfterRecord(t, { minutesAgo: 16 })
  await diedAfterRecord(t, { minutesAgo: 1 })
  await Promise.all([tag(t), tag(t), tag(t)])
  expect(await ledgers(t)).toMatchObject({ usage: 6_000, calls: 12_000, uncounted: 1, requests: 1 })
  expect(await ledgers(t)).toMatchObject({ tokens: { input: 1_000, output: 200 } })
})

test.each([
  { percent: 74.9, level: 'NORMAL', batch: 20 },
  { percent: 75, level: 'REDUCE', batch: 10 },
  { percent: 89.9, level: 'REDUCE', batch: 10 },
])('at $percent % a batch has $batch items', async ({ percent, level, batch }) => {
  await using t = await setup({ env: { VILLAGECOMPUTE_AI_BATCHES_PER_RUN: '1' } })
  await addItems(t, 25)
  await setMonth(t, { limitCents: 50_000, spentCents: 500 * percent })
  expect(await t.millrace.budgets.get('ai-tagging')).toMatchObject({ level })
  expect(await tag(t)).toMatchObject({ result: { tagged: batch, batches: 1, left: 25 - batch } })
})

test('at 90 % the job waits for the full hour and keeps its attempt; at 100 % it is cancelled', async () => {
  await using t = await setup()
  await addItems(t, 3)
  await setMonth(t, { limitCents: 1_000, spentCents: 900 })
  const held = await tag(t)
  expect(held).toMatchObject({ outcome: 'snoozed' })
  const untilFullHour = 3_600_000 - (Date.now() % 3_600_000)
  expect(Math.abs((held.outcome === 'snoozed' ? held.delayMs : 0) - untilFullHour)).toBeLessThan(5_000)
  expect(await t.sql('select attempts from millrace.delayed_jobs')).toEqual([{ attempts: 0 }])
  await setMonth(t, { limitCents: 1_000, spentCents: 999 })
  expect(await tag(t)).toMatchObject({ outcome: 'snoozed' })
  await setMonth(t, { limitCents: 1_000, spentCents: 1_000 })
  expect(await tag(t)).toMatchObject({ outcome: 'cancelled', reason: expect.stringContaining('HARD_STOP') })
  expect(t.sandbox.anthropic.billed).toEqual([])
})

test('a batch that does not fit is halved until it fits; what is left waits and is nobody’s', async () => {
  await using t = await setup({ env: { VILLAGECOMPUTE_AI_BATCHES_PER_RUN: '100' } })
  await addItems(t, 60)
  // An item may cost nearly two cents, and costs a quarter of one.
  await setMonth(t, { limitCents: 10 })
  const report = await tag(t)
  expect(report).toMatchObject({ outcome: 'completed', result: { stopped: true } })
  const { usage } = await ledgers(t)
  expect(usage).toBeLessThanOrEqual(100_000)
  const states = await itemStates(t)
  expect(states.some(({ ai_tagged }) => ai_tagged)).toBe(true)
  expect(states.some(({ ai_tagged }) => !ai_tagged)).toBe(true)
  expect(states.every(({ tagging_batch }) => tagging_batch === null)).toBe(true)
})

test('a look at the budget takes less than 100 ms', async () => {
  await using t = await setup()
  await t.sql(
    `insert into village.ai_calls (batch, job_id, model, input_tokens, output_tokens, cost_microdollars, outcome, counted)
     select gen_random_uuid(), 1, 'claude', 1000, 200, 6000, 'tagged', true from generate_series(1, 100000)`,
  )
  await t.sql('analyze village.ai_calls')
  const times: number[] = []
  for (let i = 0; i < 20; i++) {
    const startedAt = performance.now()
    await t.millrace.budgets.get('ai-tagging')
    times.push(performance.now() - startedAt)
  }
  expect(times.sort((a, b) => a - b)[10]).toBeLessThan(100)
})
