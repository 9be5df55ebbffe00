// Both formats are read by Prometheus' own parser, too.
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createMetrics, defineHistogram, lasting, merged, pageOf, type Snapshot } from '@millrace/telemetry'
import { defineJob, defineQueues, implement } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { readPage } from '../support/open-metrics.ts'
import { OPENMETRICS, scrape, setup } from '../support/setup.ts'
import { one, traced } from '../support/traced.ts'

const run = promisify(execFile)
const hasPromtool = await run('promtool', ['--version']).then(
  () => true,
  () => false,
)
if (!hasPromtool) console.warn('promtool is not installed (Debian: prometheus), so its tests are skipped')

const queues = defineQueues({ odd: { title: 'odd "queue" \\ of ünïcode' } })
const job = defineJob({ type: 'job', queue: queues.odd, payload: z.object({ fails: z.boolean() }) })
const handled = implement(job, ({ fails }) => {
  if (fails) throw new Error('as asked')
})

/** A page with something in every kind of metric. */
async function filled() {
  const t = await setup()
  const { millrace, metrics } = await t.process([handled])
  const { id } = await millrace.enqueue(job, { fails: false }, { tenant: 'a\n"b"' })
  await millrace.result(id)
  const failed = millrace.events.next('job_failed')
  await millrace.enqueue(job, { fails: true })
  await failed
  await metrics.refresh()
  return { t, ...(await scrape(metrics)) }
}

test.runIf(hasPromtool)('the Prometheus format passes promtool, but for the names that the seeds demand', async () => {
  const { t, plain } = await filled()
  await using _ = t
  const checked = run('promtool', ['check', 'metrics'])
  checked.child.stdin?.end(plain)
  const { code, stderr } = await checked.then(
    () => ({ code: 0, stderr: '' }),
    (error: { code: number; stderr: string }) => error,
  )
  // 1: it could not be read. 3: it was read, and names are not to its taste.
  expect(code).toBe(3)
  const complaints = stderr.split('\n').filter((line) => line !== '')
  expect(complaints).toEqual([
    'job_queue_backlog_total non-counter metrics should not have "_total" suffix',
    'org_job_count non-histogram and non-summary metrics should not have "_count" suffix',
  ])
})

test.runIf(hasPromtool)('the OpenMetrics format is read by the parser of Prometheus', async () => {
  const { t, open } = await filled()
  await using _ = t
  const folder = await mkdtemp(join(tmpdir(), 'openmetrics-'))
  try {
    // It makes blocks of samples, and samples in a file need a time.
    const timed = open.replace(/^([^#\n][^\n]*? [^ \n]+)( # [^\n]*)?$/gm, `$1 ${Math.floor(Date.now() / 1_000)}$2`)
    await writeFile(join(folder, 'page'), timed)
    await run('promtool', ['tsdb', 'create-blocks-from', 'openmetrics', join(folder, 'page'), join(folder, 'blocks')])
    const { stdout } = await run('promtool', ['tsdb', 'list', join(folder, 'blocks')])
    const series = open.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length
    expect(stdout).toMatch(new RegExp(` ${series} +${series} `))
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('durations carry the trace of a run as an exemplar, in OpenMetrics only', async () => {
  await using t = await traced()
  const { millrace } = { millrace: t.client([job]) }
  const metrics = createMetrics(millrace)
  try {
    const timed = defineHistogram('own_seconds', { help: 'Own' })
    metrics.registry.registerMetric(timed.metric)
    await using worker = await millrace.work({ handlers: [implement(job, () => timed.observe(0.2))] })
    const { id } = await millrace.enqueue(job, { fails: false })
    await millrace.result(id)
    const { traceId } = one(await t.received('process odd'))
    const { open, plain, openFamilies } = await scrape(metrics)
    const exemplars = [...openFamilies.values()].flatMap(({ name, samples }) =>
      samples.flatMap(({ exemplar }) => (exemplar ? { name, ...exemplar } : [])),
    )
    expect(exemplars.map(({ name }) => name).sort()).toEqual([
      'job_execution_duration_seconds',
      'jobs_duration_seconds',
      'millrace_job_duration_seconds',
      'millrace_job_end_to_end_seconds',
      'own_seconds',
    ])
    expect(new Set(exemplars.map(({ labels }) => labels.trace_id))).toEqual(new Set([traceId]))
    expect(open).toMatch(/^own_seconds_bucket\{le="0\.25"\} 1 # \{trace_id="[0-9a-f]{32}"\} 0\.2 \d+\.\d{3}$/m)
    expect(plain).not.toContain('trace_id')
    await worker.stop()
  } finally {
    await metrics.stop()
  }
})

test('the format is the one that the scraper prefers', () => {
  const typeOf = (accept?: string) => pageOf([], accept).contentType.split(';')[0]
  expect(typeOf()).toBe('text/plain')
  expect(typeOf('*/*')).toBe('text/plain')
  expect(
    typeOf(
      'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1',
    ),
  ).toBe('application/openmetrics-text')
  expect(typeOf('text/plain;version=0.0.4;q=0.9,application/openmetrics-text;q=0.1')).toBe('text/plain')
  expect(typeOf('application/openmetrics-text;q=0')).toBe('text/plain')
})

test('counters and histograms of several processes are added up, gauges as each says', () => {
  const snapshot = (value: number, timestamp: number): Snapshot => [
    {
      name: 'a_total',
      help: 'a',
      type: 'counter',
      aggregate: 'sum',
      samples: [{ suffix: '', labels: { x: '1' }, value }],
    },
    { name: 'ratio', help: 'r', type: 'gauge', aggregate: 'max', samples: [{ suffix: '', labels: {}, value }] },
    {
      ...{ name: 'h', help: 'h', type: 'histogram', aggregate: 'sum' },
      samples: [
        {
          suffix: '_bucket',
          labels: { le: '+Inf' },
          value,
          exemplar: { labels: { trace_id: String(value) }, value: 1, timestamp },
        },
        { suffix: '_sum', labels: {}, value },
        { suffix: '_count', labels: {}, value },
      ],
    },
  ]
  const both = merged([snapshot(1, 20), snapshot(2, 10)])
  const families = readPage(pageOf(both, OPENMETRICS).body, { isOpenMetrics: true })
  expect(families.get('a')?.samples).toEqual([{ name: 'a_total', labels: { x: '1' }, value: 3 }])
  expect(families.get('ratio')?.samples[0]?.value).toBe(2)
  expect(families.get('h')?.samples.map(({ value }) => value)).toEqual([3, 3, 3])
  expect(families.get('h')?.samples[0]?.exemplar?.labels).toEqual({ trace_id: '1' })
  expect(lasting(both).map(({ name }) => name)).toEqual(['a_total', 'h'])
})
