// The alerts of the village: each fires for what it names, and everything that rules and dashboard ask for is exported.
import { readFileSync } from 'node:fs'
import { createMetrics } from '@millrace/telemetry'
import { prometheusRules } from 'millrace'
import { expect, test } from 'vitest'
import { metricsOf } from '../../../../packages/telemetry/test/support/promql.ts'
import { addItems, addSource } from '../support/articles.ts'
import { setup, type Village } from '../support/setup.ts'

type Rule = NonNullable<NonNullable<Village['village']['alerts']>['rules']>[number]
type Vitals = Parameters<Rule['measure']>[0]

async function measured(t: Village, name: string, vitals: Partial<Vitals> = {}) {
  const rule = t.village.alerts?.rules?.find((each) => each.name === name)
  if (rule === undefined) throw new Error(`The village has no alert ${name}.`)
  const found = await rule.measure({ types: [], lanes: [], ...vitals } as unknown as Vitals)
  const isBeyond = (value: number) => (rule.compare === '>=' ? value >= rule.threshold : value > rule.threshold)
  return found.map(({ subject, value, why }) => ({ subject, fires: isBeyond(value), why }))
}

const calls = (t: Village, outcome: string, count: number) =>
  t.sql(
    `insert into village.ai_calls (batch, job_id, model, input_tokens, output_tokens, cost_microdollars, outcome, counted)
     select gen_random_uuid(), 1, 'claude', 1, 1, 18, $1, true from generate_series(1, $2::integer)`,
    [outcome, count],
  )

test('a feed that errors have disabled, and not one that a person has', async () => {
  await using t = await setup()
  await addSource(t, 'Broken')
  await addSource(t, 'Quiet')
  await t.sql(`update rss_sources set is_active = false, last_error_message = 'answered 404',
    disabled_at = case name when 'Broken' then now() end`)
  expect(await measured(t, 'feed_source_disabled')).toEqual([
    { subject: 'Broken', fires: true, why: expect.stringMatching(/"Broken".*answered 404/) },
  ])
})

test('a feed whose fetches take long', async () => {
  await using t = await setup()
  const [slow, fast] = [await addSource(t, 'Slow'), await addSource(t, 'Fast')]
  const ended = async (source: string, seconds: number) => {
    await t.sql(
      `insert into millrace.job_archive (id, status, type, queue, priority, attempt, max_attempts, crashes,
         payload_version, run_at, created_at, started_at, finished_at, retention, payload)
       select 1000 + (random() * 1000000)::int, 'completed', 'RSS_FEED_REFRESH', 'DEFAULT', 5, 1, 5, 0, 1, now(), now(),
         now() - $2 * interval '1 second', now(), 'standard', jsonb_build_object('source_id', $1::text)
       from generate_series(1, 4)`,
      [source, seconds],
    )
  }
  await ended(slow, 24)
  await ended(fast, 2)
  const found = await measured(t, 'feed_fetch_slow')
  expect(found).toContainEqual({ subject: 'Slow', fires: true, why: expect.stringContaining('24.0 s') })
  expect(found).toContainEqual({ subject: 'Fast', fires: false, why: expect.any(String) })
})

test('tagging that fails for more than a fifth of its calls, but not for a handful', async () => {
  await using t = await setup()
  await calls(t, 'invalid', 4)
  expect(await measured(t, 'tag_failures')).toEqual([])
  await calls(t, 'tagged', 16)
  expect(await measured(t, 'tag_failures')).toMatchObject([{ fires: false }])
  await calls(t, 'unanswered', 1)
  expect(await measured(t, 'tag_failures')).toMatchObject([{ fires: true, why: expect.stringContaining('5 of 21') }])
})

test('items that come in faster than they are tagged', async () => {
  await using t = await setup()
  await addItems(t, 30)
  expect(await measured(t, 'untagged_growing')).toMatchObject([
    { fires: true, why: expect.stringContaining('30 more') },
  ])
  await t.sql("update village.feed_items set fetched_at = now() - interval '7 hours'")
  expect(await measured(t, 'untagged_growing')).toMatchObject([{ fires: false }])
})

test('quotes that nobody refreshes while the exchange is open', async () => {
  let now = new Date()
  await using t = await setup({ clock: { now: () => now } })
  await t.sql(`insert into village.stock_quotes (symbol, price, change, change_percent, previous_close, trading_day, source, fetched_at)
    values ('AAPL', 1, 0, 0, 1, current_date, 'stooq', now() - interval '61 minutes')`)
  now = new Date('2026-11-18T16:00:00Z') // a Wednesday, 11:00 in New York
  expect(await measured(t, 'quotes_stale')).toMatchObject([{ fires: true, why: expect.stringContaining('61 minutes') }])
  now = new Date('2026-11-18T15:00:00Z') // the first hour
  expect(await measured(t, 'quotes_stale')).toEqual([])
  now = new Date('2026-11-26T16:00:00Z') // Thanksgiving
  expect(await measured(t, 'quotes_stale')).toEqual([])
})

test('screenshots that take every permit', async () => {
  await using t = await setup()
  const types = (running: number) => [{ type: 'SCREENSHOT_CAPTURE', running }] as unknown as Vitals['types']
  const lanes = [{ queues: ['SCREENSHOT'], workers: 2 }] as unknown as Vitals['lanes']
  expect(await measured(t, 'screenshots_full', { types: types(5), lanes })).toMatchObject([{ fires: false }])
  expect(await measured(t, 'screenshots_full', { types: types(6), lanes })).toMatchObject([{ fires: true }])
})

test('every metric of the rules and of the dashboard is exported', async () => {
  await using t = await setup()
  const dashboard = JSON.parse(readFileSync(new URL('../../../../ops/grafana/village.json', import.meta.url), 'utf8'))
  const panels: string[] = dashboard.panels.flatMap(({ targets = [] }: { targets?: { expr: string }[] }) =>
    targets.map(({ expr }) => expr),
  )
  const own = [
    ...(prometheusRules(t.village.alerts)
      .split('- name: millrace-workload')[1]
      ?.matchAll(/^ +expr: (".*")$/gm) ?? []),
  ]
  const rules = own.map(([, text]) => JSON.parse(text as string) as string)
  expect(rules).toHaveLength(6)
  const used = new Set([...panels, ...rules].flatMap(metricsOf))
  const metrics = createMetrics(t.millrace, { metrics: t.village.metrics ?? [] })
  await metrics.refresh()
  const { body } = await metrics.page()
  await metrics.stop()
  const told = new Set([...body.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name))
  expect([...used].filter((name) => !told.has(name) && !told.has(name.replace(/_(bucket|sum|count)$/, '')))).toEqual([])
  expect(used.size).toBeGreaterThan(15)
})
