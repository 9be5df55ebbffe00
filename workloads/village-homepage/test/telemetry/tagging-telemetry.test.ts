// What tagging tells: events on the span of its run, and metrics by the names that operators know.
import { createMetrics, startTelemetry } from '@millrace/telemetry'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { otlpReceiver, type ReceivedSpan } from '../../../../packages/telemetry/test/support/otlp-receiver.ts'
import { addItems, ledgers, setMonth } from '../support/articles.ts'
import { setup, type Village } from '../support/setup.ts'

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

/** The span of a tagging job that a worker runs. */
async function spanOfRun(
  t: Village,
  ended: 'job_completed' | 'budget_hold' | 'budget_hard_stop',
): Promise<ReceivedSpan> {
  // Ids begin anew in every database.
  await telemetry.flush()
  receiver.spans.length = 0
  const isOver = t.millrace.events.next(ended)
  const { id } = await t.millrace.enqueue(t.parts.contracts.AI_TAGGING, { trigger: 'manual' })
  await isOver
  for (let tries = 0; tries < 500; tries++) {
    await telemetry.flush()
    const found = receiver.spans.find(
      ({ name, attributes }) => name === 'process BULK' && attributes['job.id'] === Number(id),
    )
    if (found !== undefined) return found
    // The span ends a moment after its event was heard.
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error(`No span of job ${id} has arrived.`)
}

const eventsOf = ({ events }: ReceivedSpan, name: string) =>
  events.filter((event) => event.name === name).map(({ attributes }) => attributes)

/** Every sample of the page, by name and labels. */
async function samples(t: Village, accept?: string): Promise<Map<string, number>> {
  const metrics = createMetrics(t.millrace, { metrics: t.village.metrics ?? [] })
  await metrics.refresh()
  const { body } = await metrics.page(accept)
  await metrics.stop()
  const lines = body.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]))
}

test('the span of a run has the five attributes, and its events say what was tagged and what was not', async () => {
  await using t = await setup()
  const ids = await addItems(t, 2)
  t.sandbox.anthropic.faults.push('invalid')
  await t.work()
  const span = await spanOfRun(t, 'job_completed')
  expect(span.attributes).toMatchObject({
    'job.id': expect.any(Number),
    'job.type': 'AI_TAGGING',
    'job.queue': 'BULK',
    'job.attempt': 1,
    'job.handler': 'villagecompute.homepage.jobs.AiTaggingJobHandler',
  })
  expect(eventsOf(span, 'budget_check')).toEqual([
    { budget_action: 'NORMAL', percent_used: 0 },
    { budget_action: 'NORMAL', percent_used: expect.any(Number) },
  ])
  expect(eventsOf(span, 'item.failed')).toEqual([{ item_id: ids[0], error: expect.stringContaining('topics') }])
  expect(eventsOf(span, 'item.tagged')).toEqual([
    {
      ...{ item_id: ids[1], topics: expect.any(Array), sentiment: expect.any(String) },
      categories: expect.arrayContaining(['Politics']),
    },
  ])
  expect(eventsOf(span, 'job.completed')).toHaveLength(1)
})

test('a budget that runs out on the way is told with how far the run came', async () => {
  await using t = await setup()
  await addItems(t, 30)
  await setMonth(t, { limitCents: 2, spentCents: 1 })
  await t.work()
  const span = await spanOfRun(t, 'job_completed')
  expect(eventsOf(span, 'budget_exhausted_mid_batch')).toEqual([{ tagged_count: 0, total_count: 30 }])
})

test.each([
  { spentCents: 949, level: 'QUEUE', ended: 'budget_hold', percent: 94.9, outcome: 'job.held' },
  { spentCents: 1_000, level: 'HARD_STOP', ended: 'budget_hard_stop', percent: 100, outcome: 'job.cancelled' },
] as const)('a job that the budget keeps at $level is told, though its handler is never called', async (given) => {
  await using t = await setup()
  await addItems(t, 1)
  await setMonth(t, { limitCents: 1_000, spentCents: given.spentCents })
  const before = (await samples(t)).get('ai_tagging_budget_throttles') ?? 0
  await t.work()
  const span = await spanOfRun(t, given.ended)
  expect(eventsOf(span, 'budget_check')).toEqual([{ budget_action: given.level, percent_used: given.percent }])
  expect(eventsOf(span, 'budget_throttle')).toEqual([{ budget_action: given.level }])
  expect(eventsOf(span, given.outcome)).toHaveLength(1)
  expect((await samples(t)).get('ai_tagging_budget_throttles')).toBe(before + 1)
  expect(t.sandbox.anthropic.billed).toEqual([])
})

const NAMES = [
  ...['job_execution_duration_seconds', 'job_queue_backlog_total', 'job_retry_total', 'job_budget_consumed_dollars'],
  ...['rss_fetch_items_total', 'rss_fetch_errors_total', 'rss_fetch_duration', 'rss_sources_disabled'],
  ...['ai_tagging_items_total', 'ai_tagging_tokens_total', 'ai_tagging_cost_cents', 'ai_tagging_budget_throttles'],
  ...['ai_budget_percent_used', 'ai_untagged_items', 'ai_tagging_confidence'],
  ...['screenshot_concurrency_utilization', 'stock_last_refresh_timestamp_seconds', 'stock_market_open'],
]

test.each(['text/plain', 'application/openmetrics-text'])(
  'every metric is there at the first scrape, as %s',
  async (accept) => {
    await using t = await setup()
    const metrics = createMetrics(t.millrace, { metrics: t.village.metrics ?? [] })
    await metrics.refresh()
    const { body } = await metrics.page(accept)
    await metrics.stop()
    const told = [...body.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) =>
      accept.includes('openmetrics') && type === 'counter' ? `${name}_total` : name,
    )
    expect(NAMES.filter((name) => !told.includes(name))).toEqual([])
    const values = await samples(t, accept)
    expect(values.get('ai_budget_percent_used')).toBe(0)
    expect(values.has('ai_tagging_items_total{status="failure"}')).toBe(true)
    expect(values.has('ai_tagging_tokens_total{type="output"}')).toBe(true)
    expect(values.has('job_queue_backlog_total{queue="BULK"}')).toBe(true)
  },
)

test('metrics, tables and the provider agree on tokens and cost', async () => {
  await using t = await setup()
  await addItems(t, 5)
  t.sandbox.anthropic.faults.push('invalid')
  const before = await samples(t)
  await t.work()
  await spanOfRun(t, 'job_completed')
  const after = await samples(t)
  const grown = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0)
  const { provider, tokens, usage } = await ledgers(t)
  expect(usage).toBe(provider)
  expect(Math.round(grown('ai_tagging_cost_cents') * 10_000)).toBe(provider)
  expect(grown('ai_tagging_tokens_total{type="input"}')).toBe(tokens.input)
  expect(grown('ai_tagging_tokens_total{type="output"}')).toBe(tokens.output)
  expect(grown('ai_tagging_items_total{status="success"}')).toBe(4)
  expect(grown('ai_tagging_items_total{status="failure"}')).toBe(1)
  expect(after.get('job_budget_consumed_dollars{job_type="AI_TAGGING"}')).toBeCloseTo(provider / 1_000_000, 9)
})
