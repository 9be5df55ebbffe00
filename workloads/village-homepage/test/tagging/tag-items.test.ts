import { runJob } from 'millrace/testing'
import pg from 'pg'
import { expect, test } from 'vitest'
import { addItems, addSource, itemStates, ledgers } from '../support/articles.ts'
import { setup } from '../support/setup.ts'

test('items get tags, and what that cost stands in the same amount everywhere', async () => {
  await using t = await setup()
  await addItems(t, 3)
  const report = await runJob(t.handler('AI_TAGGING'), { trigger: 'manual' }, { millrace: t.millrace })
  expect(report).toMatchObject({
    outcome: 'completed',
    result: { trigger: 'manual', tagged: 3, reused: 0, failed: 0, batches: 1, stopped: false, left: 0 },
  })
  for (const { ai_tagged, ai_tags, tagging_batch } of await itemStates(t)) {
    expect({ ai_tagged, tagging_batch }).toEqual({ ai_tagged: true, tagging_batch: null })
    expect(ai_tags).toMatchObject({ categories: expect.arrayContaining(['Politics']), confidence: expect.any(Number) })
  }
  const { usage, calls, provider, requests, uncounted } = await ledgers(t)
  expect(provider).toBeGreaterThan(0)
  expect({ usage, calls, requests, uncounted }).toEqual({ usage: provider, calls: provider, requests: 3, uncounted: 0 })
  expect(report.outcome === 'completed' && report.result?.cost_cents).toBe(provider / 10_000)
  expect((await t.millrace.budgets.get('ai-tagging')).used).toBe(provider)
})

test('items whose rows a ranking holds at this moment are tagged when it is done', async () => {
  await using t = await setup()
  await addItems(t, 2)
  const ranking = new pg.Client({ connectionString: t.url })
  await ranking.connect()
  await ranking.query('begin')
  await ranking.query('update village.feed_items set rank_score = 1')
  const running = runJob(t.handler('AI_TAGGING'), {}, { millrace: t.millrace })
  // It has found them held once: the statement that looks whether any are free has run.
  await expect
    .poll(() => t.sql(`select 1 from pg_stat_activity where query like '%free_exist%' and pid <> pg_backend_pid()`))
    .not.toEqual([])
  await ranking.query('commit')
  await ranking.end()
  expect(await running).toMatchObject({ outcome: 'completed', result: { tagged: 2, left: 0 } })
})

test('an item with the text of a tagged one gets its tags without a call', async () => {
  await using t = await setup()
  await addItems(t, [{ hash: 'a'.repeat(32) }, { hash: 'a'.repeat(32) }, { hash: 'b'.repeat(32) }])
  const report = await runJob(t.handler('AI_TAGGING'), {}, { millrace: t.millrace })
  expect(report).toMatchObject({ result: { tagged: 2, reused: 1 } })
  const [first, second] = await itemStates(t)
  expect(second?.ai_tags).toEqual(first?.ai_tags)
  expect(t.sandbox.anthropic.billed).toHaveLength(2)
})

test('each source has its turn, newest items first: a flood from one feed cannot eat the budget', async () => {
  await using t = await setup({ env: { VILLAGECOMPUTE_AI_BATCHES_PER_RUN: '1' } })
  const [flood, quiet] = [await addSource(t, 'Flood'), await addSource(t, 'Quiet')]
  await addItems(t, [
    ...Array.from({ length: 30 }, (_, i) => ({ source: flood, minutesOld: i })),
    ...Array.from({ length: 2 }, (_, i) => ({ source: quiet, minutesOld: 1_000 + i })),
  ])
  const report = await runJob(t.handler('AI_TAGGING'), {}, { millrace: t.millrace })
  expect(report).toMatchObject({ result: { tagged: 20, batches: 1, left: 12 } })
  const tagged = await t.sql('select source_id from village.feed_items where ai_tagged')
  expect(tagged.filter(({ source_id }) => source_id === quiet)).toHaveLength(2)
  const [newestLeft] = await t.sql<{ age: number }>(
    `select extract(epoch from now() - max(published_at)) / 60 as age from village.feed_items where not ai_tagged`,
  )
  expect(Math.round(Number(newestLeft?.age))).toBe(18)
})
