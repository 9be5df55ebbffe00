// What the model does wrong, and what becomes of the item, of the others of its batch, and of the job.
import { randomUUID } from 'node:crypto'
import { runJob } from 'millrace/testing'
import { expect, test } from 'vitest'
import { addItems, itemStates, ledgers } from '../support/articles.ts'
import { setup, type Village } from '../support/setup.ts'

const tag = (t: Village) => runJob(t.handler('AI_TAGGING'), {}, { millrace: t.millrace, dedupKey: randomUUID() })

/** Whole hours from the hour that runs now to when an item is tried again. */
const hoursUntil = (at: Date | null | undefined): number =>
  ((at?.getTime() ?? 0) - Math.floor(Date.now() / 3_600_000) * 3_600_000) / 3_600_000

test.each(['invalid', 'no-tool'] as const)(
  'after an answer that is %s the item waits, and the others have tags',
  async (fault) => {
    await using t = await setup()
    const [first] = await addItems(t, 4)
    t.sandbox.anthropic.faults.push(fault)
    const report = await tag(t)
    expect(report).toMatchObject({ outcome: 'completed', result: { tagged: 3, failed: 1, left: 1 } })
    const states = await itemStates(t)
    const failed = states.find(({ id }) => id === first)
    expect(failed).toMatchObject({ ai_tagged: false, ai_tags: null, tag_failures: 1, tagging_batch: null })
    expect(hoursUntil(failed?.tag_after)).toBe(1)
    expect(report.logs).toContainEqual(
      expect.objectContaining({ level: 'warn', message: 'Failed to parse Claude response' }),
    )
    const { usage, calls, provider } = await ledgers(t)
    expect({ usage, calls }).toEqual({ usage: provider, calls: provider })
  },
)

test('an item that never works is tried after 1, 2, 4, 8, 16 and then every 24 hours', async () => {
  await using t = await setup()
  await addItems(t, 1)
  const waits: number[] = []
  for (let i = 0; i < 7; i++) {
    t.sandbox.anthropic.faults.push('invalid')
    await tag(t)
    const [item] = await itemStates(t)
    waits.push(hoursUntil(item?.tag_after))
    expect(await tag(t)).toMatchObject({ result: { tagged: 0, failed: 0, batches: 0, left: 1 } })
    await t.sql('update village.feed_items set tag_after = now()')
  }
  expect(waits).toEqual([1, 2, 4, 8, 16, 24, 24])
  await tag(t)
  expect(await itemStates(t)).toMatchObject([{ ai_tagged: true, tag_failures: 0, tag_after: null }])
})

test('no answer in time is counted at the most that it can cost, because it may be billed', async () => {
  await using t = await setup({ env: { VILLAGECOMPUTE_AI_TIMEOUT: '1' } })
  await addItems(t, 1)
  t.sandbox.set('anthropic', 'slow', { delayMs: 1_500 })
  expect(await tag(t)).toMatchObject({ outcome: 'completed', result: { failed: 1 } })
  const { usage, calls, uncounted } = await ledgers(t)
  expect(usage).toBeGreaterThan(10_000)
  expect({ calls, uncounted }).toEqual({ calls: usage, uncounted: 0 })
  const [item] = await itemStates(t)
  expect(item).toMatchObject({ tag_failures: 1 })
  await new Promise((resolve) => setTimeout(resolve, 700)) // until the provider has billed what nobody waited for
  expect((await ledgers(t)).provider).toBeLessThanOrEqual(usage)
})

test('a first 429 slows the calls down and puts the item last; a second in a row makes the job wait as it was told', async () => {
  await using t = await setup()
  await addItems(t, 2)
  t.sandbox.anthropic.faults.push(429)
  expect(await tag(t)).toMatchObject({ outcome: 'completed', result: { tagged: 2, failed: 0 } })
  await addItems(t, 3)
  t.sandbox.anthropic.faults.push(529, 429)
  expect(await tag(t)).toMatchObject({ outcome: 'snoozed', delayMs: 2_000 })
  expect(await t.sql('select attempts from millrace.delayed_jobs')).toEqual([{ attempts: 0 }])
  const states = await itemStates(t)
  expect(states.filter(({ ai_tagged, tagging_batch }) => !ai_tagged && tagging_batch === null)).toHaveLength(3)
  expect(await ledgers(t)).toMatchObject({ uncounted: 0 })
})

test('a wrong key ends the job, which says where the key stands, and spends nothing', async () => {
  await using t = await setup()
  await addItems(t, 2)
  t.sandbox.anthropic.faults.push(401)
  const report = await tag(t)
  expect(report).toMatchObject({ outcome: 'dead', reason: 'unrecoverable' })
  expect(report.outcome === 'dead' && report.failure.message).toContain('ANTHROPIC_API_KEY')
  expect(await ledgers(t)).toMatchObject({ usage: 0, calls: 0 })
  expect((await itemStates(t)).every(({ tagging_batch }) => tagging_batch === null)).toBe(true)
})

test('five failures of the service in a row open its breaker; the job waits, and the items keep their turn', async () => {
  await using t = await setup()
  await addItems(t, 8)
  t.sandbox.anthropic.faults.push(500, 500, 500, 500, 500)
  expect(await tag(t)).toMatchObject({ outcome: 'snoozed' })
  const [breaker] = await t.millrace.breakers.list()
  expect(breaker).toMatchObject({ service: 'anthropic', state: 'open' })
  const states = await itemStates(t)
  expect(states.filter(({ tag_after }) => tag_after !== null)).toHaveLength(5)
  expect(states.every(({ tag_failures, tagging_batch }) => tag_failures === 0 && tagging_batch === null)).toBe(true)
  expect(await ledgers(t)).toMatchObject({ usage: 0, calls: 0 })
})

test('a service that cannot be reached costs nothing', async () => {
  await using t = await setup({
    env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9', ANTHROPIC_API_KEY: 'k', VILLAGECOMPUTE_SANDBOX: 'auto' },
    allow: ['127.0.0.1:9'],
  })
  await addItems(t, 1)
  expect(await tag(t)).toMatchObject({ outcome: 'completed', result: { failed: 1, cost_cents: 0 } })
  expect(await ledgers(t)).toMatchObject({ usage: 0, calls: 0 })
})

test('a job that is cancelled at work counts what it has spent, and gives its items back', async () => {
  await using t = await setup({ sandbox: { latencyMs: 50 } })
  await addItems(t, 20)
  await t.work()
  const started = t.millrace.events.next('job_started')
  const { id } = await t.millrace.enqueue(t.parts.contracts.AI_TAGGING, {})
  await started
  while (t.sandbox.anthropic.billed.length < 2) await new Promise((resolve) => setTimeout(resolve, 5)) // until it is at work
  const cancelled = t.millrace.events.next('job_cancelled')
  await t.millrace.cancel(id, { by: 'ann' })
  await cancelled
  const { usage, provider, uncounted } = await ledgers(t)
  expect(uncounted).toBe(0)
  expect(usage).toBeGreaterThanOrEqual(provider)
  const states = await itemStates(t)
  expect(states.some(({ ai_tagged }) => ai_tagged)).toBe(true)
  expect(states.some(({ ai_tagged }) => !ai_tagged)).toBe(true)
  expect(states.every(({ tagging_batch }) => tagging_batch === null)).toBe(true)
})
