// What feeds tell: events on the span of their runs, and metrics by the names that operators know.
import { createMetrics, startTelemetry } from '@millrace/telemetry'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { otlpReceiver, type ReceivedSpan } from '../../../../packages/telemetry/test/support/otlp-receiver.ts'
import { items, rss } from '../support/feed-server.ts'
import { feedSetup } from '../support/feeds.ts'

let receiver: Awaited<ReturnType<typeof otlpReceiver>>
let telemetry: ReturnType<typeof startTelemetry>
beforeAll(async () => {
  receiver = await otlpReceiver()
  telemetry = startTelemetry({ endpoint: receiver.url })
})
afterAll(async () => {
  await telemetry.stop()
  await receiver[Symbol.asyncDispose]()
})

const UNKNOWN = '5f0f6f2e-6f0c-4c58-9d3a-0e1f5b7a9c11'
type Feeds = Awaited<ReturnType<typeof feedSetup>>

/** The span of one run by a worker, however it ends. */
async function spanOf(t: Feeds, payload: Record<string, unknown>): Promise<ReceivedSpan> {
  await telemetry.flush()
  receiver.spans.length = 0
  const { id } = await t.millrace.enqueue(t.parts.contracts.RSS_FEED_REFRESH, payload, {
    dedupKey: crypto.randomUUID(),
  })
  for (let tries = 0; tries < 1_000; tries++) {
    await telemetry.flush()
    const found = receiver.spans.find(
      ({ name, attributes }) => name === 'process DEFAULT' && attributes['job.id'] === Number(id),
    )
    if (found !== undefined) return found
    // The span ends a moment after the job.
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error(`No span of job ${id} has arrived.`)
}

/** Without those of the engine. */
const told = ({ events }: ReceivedSpan) =>
  events.filter(({ name }) => !/^(job\.|exception)/.test(name)).map(({ name, attributes }) => [name, attributes])

test('the span of a refresh tells fetch, parsing, skipped entries, deduplication and the end, by the names of the runbook', async () => {
  await using t = await feedSetup()
  t.server.set('/feed', { body: rss([...items(3), { guid: 'nameless', link: 'https://news.example/n' }]) })
  const id = await t.follow('/feed')
  await t.work()
  const span = await spanOf(t, { source_id: id })
  expect(span.attributes).toMatchObject({
    'job.id': expect.any(Number),
    'job.type': 'RSS_FEED_REFRESH',
    'job.queue': 'DEFAULT',
    'job.attempt': 1,
    'job.handler': 'villagecompute.homepage.jobs.RssFeedRefreshHandler',
  })
  expect(told(span)).toEqual([
    ['fetch.started', { source_id: id, source_url: t.server.url('/feed') }],
    ['parse.completed', { items_fetched: 4 }],
    ['entry.missing_fields', { guid: 'nameless' }],
    ['dedupe.completed', { new: 3, duplicate: 0 }],
    ['refresh.completed', { 'sources.success': 1, 'sources.failure': 0 }],
  ])
  expect(span.events.map(({ name }) => name)).toContain('job.completed')
})

test('failures, unknown and inactive sources, and a village without feeds are told', async () => {
  await using t = await feedSetup()
  await t.work()
  expect(told(await spanOf(t, {}))).toEqual([['refresh.no_sources', {}]])
  expect(told(await spanOf(t, { source_id: UNKNOWN }))).toEqual([['source.not_found', { source_id: UNKNOWN }]])
  const off = await t.follow('/off', { is_active: false })
  expect(told(await spanOf(t, { source_id: off, force_refresh: true }))).toEqual([
    ['source.inactive', { source_id: off }],
  ])
  const broken = await t.follow('/broken', { error_count: 3 })
  const failed = await spanOf(t, { source_id: broken })
  expect(told(failed).map(([name, attributes]) => [name, attributes])).toEqual([
    ['fetch.started', { source_id: broken, source_url: t.server.url('/broken') }],
    ['refresh.completed', { 'sources.success': 0, 'sources.failure': 1 }],
  ])
  expect(failed.events.map(({ name }) => name)).toContain('job.retry_scheduled')
  const disabled = await spanOf(t, { source_id: broken })
  expect(disabled.events.map(({ name }) => name)).toContain('job.died')
})

test('items, errors and durations are counted by source', async () => {
  await using t = await feedSetup()
  t.server.set('/feed', { body: rss(items(3)) })
  const [id, broken] = [await t.follow('/feed'), await t.follow('/broken', { error_count: 4 })]
  await t.refresh(id)
  await t.refresh(id)
  await t.refresh(broken)
  const metrics = createMetrics(t.millrace, { metrics: t.village.metrics ?? [] })
  await metrics.refresh()
  const { body } = await metrics.page()
  await metrics.stop()
  const value = (sample: string) =>
    Number(
      body
        .split('\n')
        .find((line) => line.startsWith(`${sample} `))
        ?.split(' ')[1],
    )
  expect(value(`rss_fetch_items_total{source_id="${id}",status="new"}`)).toBe(3)
  expect(value(`rss_fetch_items_total{source_id="${id}",status="duplicate"}`)).toBe(3)
  expect(value(`rss_fetch_errors_total{error_type="http_404",source_id="${broken}"}`)).toBe(1)
  expect(value(`rss_fetch_duration_count{result="success",source_id="${id}"}`)).toBe(2)
  expect(value(`rss_fetch_duration_count{result="failure",source_id="${broken}"}`)).toBe(1)
  // The query of the runbook reads its buckets.
  expect(body).toContain(`rss_fetch_duration_bucket{result="success",source_id="${id}",le="0.5"}`)
  expect(value('rss_sources_disabled')).toBeGreaterThanOrEqual(0)
})
