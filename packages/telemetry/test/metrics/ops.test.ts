// The rules and dashboards of ops/ use metrics that are exported, by name and with the labels by which they group.
import { readFileSync } from 'node:fs'
import { defineBudget, defineJob, defineLimit, defineQueues, implement, prometheusRules } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { metricsOf } from '../support/promql.ts'
import { scrape, setup, valuesOf } from '../support/setup.ts'

const budget = defineBudget('words', { limit: 100, per: 'month' })
const limit = defineLimit('printers', { running: 3 })
const queues = defineQueues({ mail: { title: 'MAIL', sla: '30s' } })
const send = defineJob({
  type: 'send',
  queue: queues.mail,
  payload: z.object({}),
  services: ['smtp'],
  budget,
  limits: [limit],
})

/** Only a program that takes screenshots has it. */
const ELSEWHERE = ['screenshot_concurrency_utilization']
/** Prometheus makes these of a histogram. */
const SUFFIX = /_(bucket|sum|count)$/

const dashboard = JSON.parse(readFileSync(new URL('../../../../ops/grafana/millrace.json', import.meta.url), 'utf8'))
const ofPanels: string[] = dashboard.panels.flatMap(({ targets = [] }: { targets?: { expr: string }[] }) =>
  targets.map(({ expr }) => expr),
)
const ofRules = [...prometheusRules().matchAll(/^ +expr: (".*")$/gm)].map(
  ([, text]) => JSON.parse(text as string) as string,
)

test('the names are found in queries', () => {
  expect(
    metricsOf(
      'histogram_quantile(0.95, sum by (queue, le) (rate(a_bucket{x="b"}[5m]))) / on (queue) max by (queue) (c) > 1',
    ),
  ).toEqual(['a_bucket', 'c'])
  expect(metricsOf('sum(d) - sum(d offset 1h) > 20 and e >= 10 or vector(0)')).toEqual(['d', 'd', 'e'])
})

test('every metric of the rules and of the dashboard is exported', async () => {
  await using t = await setup()
  const { millrace, metrics } = await t.process([implement(send, () => {})])
  await millrace.result((await millrace.enqueue(send, {})).id)
  await metrics.refresh()
  const page = await scrape(metrics)
  const used = new Set([...ofRules, ...ofPanels].flatMap(metricsOf))
  expect(used.size).toBeGreaterThan(20)
  const isExported = (name: string) => page.families.has(name) || page.families.has(name.replace(SUFFIX, ''))
  expect([...used].filter((name) => !isExported(name) && !ELSEWHERE.includes(name))).toEqual([])
})

test('SLAs of queues and firing alerts are exported', async () => {
  await using t = await setup()
  const { millrace, metrics } = await t.process([implement(send, () => {})])
  await millrace.breakers.trip('smtp', { by: 'ann' })
  await millrace.events.next('alert_fired', ({ name }) => name === 'breaker_open')
  await metrics.refresh()
  const page = await scrape(metrics)
  expect(valuesOf(page, 'millrace_queue_sla_seconds')).toEqual([['MAIL', 30]])
  expect(valuesOf(page, 'millrace_alerts_firing')).toEqual([['breaker_open warning', 1]])
})
