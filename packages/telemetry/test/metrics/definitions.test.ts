import { defineCounter, defineGauge, defineHistogram } from '@millrace/telemetry'
import { defineJob, defineQueues, implement } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { scrape, setup, valuesOf } from '../support/setup.ts'

const queues = defineQueues({ feeds: {} })
const fetchFeed = defineJob({ type: 'fetch', queue: queues.feeds, payload: z.object({}) })

test('metrics of a program are used from handlers, and exported under their exact names from the first scrape on', async () => {
  const items = defineCounter('rss_fetch_items_total', { help: 'Items', labels: ['source_id', 'status'] })
  const cost = defineCounter('ai_tagging_cost_cents', { help: 'Cost' })
  const percent = defineGauge('ai_budget_percent_used', { help: 'Per cent', aggregate: 'max' })
  const duration = defineHistogram('rss_fetch_duration', { help: 'Seconds', labels: ['source_id', 'result'] })
  const handled = implement(fetchFeed, () => {
    items.inc({ source_id: 7, status: 'new' }, 3)
    items.inc({ source_id: 7, status: 'duplicate' })
    cost.inc(0.5)
    percent.set(80)
    duration.observe({ source_id: 7, result: 'success' }, 0.3)
  })
  await using t = await setup()
  const { millrace, metrics } = await t.process([handled], { metrics: { metrics: [items, cost, percent, duration] } })
  expect([...(await scrape(metrics)).families.keys()]).toEqual(
    expect.arrayContaining([
      'rss_fetch_items_total',
      'ai_tagging_cost_cents',
      'ai_budget_percent_used',
      'rss_fetch_duration',
    ]),
  )
  await millrace.result((await millrace.enqueue(fetchFeed, {})).id)
  const page = await scrape(metrics)
  expect(valuesOf(page, 'rss_fetch_items_total')).toEqual([
    ['7 new', 3],
    ['7 duplicate', 1],
  ])
  expect(valuesOf(page, 'ai_tagging_cost_cents')).toEqual([['', 0.5]])
  expect(valuesOf(page, 'ai_budget_percent_used')).toEqual([['', 80]])
  expect(valuesOf(page, 'rss_fetch_duration_bucket', { le: '0.5' })).toEqual([['success 7 0.5', 1]])
  expect(page.openFamilies.get('ai_tagging_cost_cents')).toMatchObject({ type: 'unknown', samples: [{ value: 0.5 }] })
})

test('a label has only so many values: further ones are other', async () => {
  const items = defineCounter('capped_total', { help: 'Items', labels: ['source_id'], maxLabelValues: 2 })
  for (const source_id of ['a', 'b', 'c', 'd', 'a']) items.inc({ source_id })
  await using t = await setup()
  const { metrics } = await t.process([], { works: false, metrics: { metrics: [items] } })
  expect(valuesOf(await scrape(metrics), 'capped_total')).toEqual([
    ['a', 2],
    ['b', 1],
    ['other', 2],
  ])
})

test('a gauge may be read at each scrape, and one that cannot be read harms no other', async () => {
  let free = 3
  const used = defineGauge('in_use', { help: 'In use', read: () => 3 - free })
  const broken = defineGauge('broken', {
    help: 'Broken',
    read: () => {
      throw new Error('no')
    },
  })
  await using t = await setup()
  const { metrics } = await t.process([], { works: false, metrics: { metrics: [broken, used] } })
  expect(valuesOf(await scrape(metrics), 'in_use')).toEqual([['', 0]])
  free = 1
  expect(valuesOf(await scrape(metrics), 'in_use')).toEqual([['', 2]])
})

test('a name that is in use is refused', async () => {
  await using t = await setup()
  const taken = defineCounter('jobs_completed_total', { help: 'Mine' })
  await expect(t.process([], { works: false, metrics: { metrics: [taken] } })).rejects.toThrow(
    'The metric "jobs_completed_total" cannot be defined: the name is in use. Choose another name.',
  )
})
