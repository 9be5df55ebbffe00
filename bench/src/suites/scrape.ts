// How long a scrape takes beside millions of jobs, of a program with fifty types and more tenants than have labels; also while
// the database is being read.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { performance } from 'node:perf_hooks'
import { createMetrics, type Metrics } from '@millrace/telemetry'
import { createMillrace, defineJob, defineQueues, type Millrace } from 'millrace'
import { z } from 'zod'
import { fillDeep, withoutAutovacuum } from '../deep-backlog.ts'
import { aimed, atMost } from '../report.ts'
import { interleave } from '../rounds.ts'
import type { Suite } from '../suite.ts'

const TARGET_MS = 200
const OPENMETRICS = 'application/openmetrics-text'
const READING = 'reading the database, in the background'
const TENANTS = 200
const TYPES = 50

const queues = defineQueues(Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`other_${i}`, {}])))
const jobs = Array.from({ length: TYPES }, (_, i) =>
  defineJob({
    type: `type_${i}`,
    queue: Object.values(queues)[i % 10] as (typeof queues)[string],
    payload: z.object({}),
  }),
)

export const scrape: Suite = {
  name: 'scrape',
  summary: 'how long a scrape takes beside 2 M waiting and 5 M archived jobs',
  jobs: 0,
  rounds: 10,
  scale: 1,

  async run({ options, progress, step, databaseUrl, pool }) {
    await withoutAutovacuum(pool, databaseUrl)
    await fillDeep({ pool, databaseUrl }, options.scale ?? 1, step)
    await pool.query('analyze millrace.job')
    await using millrace = createMillrace({ database: databaseUrl, jobs })
    await using served = await serve(millrace)
    await served.metrics.refresh()
    count(millrace)
    const series = (await served.scrape('text/plain'))
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
    const contestants = [
      { name: 'scrape, Prometheus format', unit: 'ms', measure: () => took(() => served.scrape('text/plain')) },
      { name: 'scrape, OpenMetrics', unit: 'ms', measure: () => took(() => served.scrape(OPENMETRICS)) },
      {
        name: 'scrape while the database is read',
        unit: 'ms',
        async measure() {
          const reading = served.metrics.refresh()
          const ms = await took(() => served.scrape('text/plain'))
          await reading
          return ms
        },
      },
      { name: READING, unit: 'ms', measure: () => took(() => served.metrics.refresh()) },
    ]
    const measurements = await interleave(contestants, { ...options, progress, step })
    return {
      measurements: measurements.map((each) => (each.name === READING ? each : aimed(each, atMost(TARGET_MS)))),
      ratios: [],
      details: { series: series.length },
    }
  },
}

/** As if each type had run in each way for each tenant. */
function count({ events }: Millrace): void {
  const failure = { name: 'Error', message: 'as in life', stack: null, fingerprint: 'a' } as never
  for (const { type, queue } of jobs) {
    for (let i = 0; i < TENANTS; i++) {
      const tenant = `tenant_${i}`
      const job = { id: '1', type, queue: queue.name, tenant, attempt: 1, correlationId: 'a', runId: 'a' }
      const end = { job, durationMs: i * 10, ageMs: i * 20 }
      events.deliver('jobs_enqueued', { queue: queue.name, type, tenant, count: 1 })
      events.deliver('job_started', { job, waitMs: i * 10 })
      events.deliver('job_succeeded', end)
      events.deliver('job_failed', { ...end, failure, willRetry: i % 2 === 0 })
      events.deliver('job_cancelled', { ...end, reason: 'a' })
    }
  }
}

interface Served extends AsyncDisposable {
  readonly metrics: Metrics
  scrape(accept: string): Promise<string>
}

async function serve(millrace: Millrace): Promise<Served> {
  const metrics = createMetrics(millrace)
  const server = createServer(async (request, response) => {
    const { contentType, body } = await metrics.page(request.headers.accept)
    response.writeHead(200, { 'content-type': contentType }).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    metrics,
    scrape: async (accept) => (await fetch(url, { headers: { accept } })).text(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await metrics.stop()
    },
  }
}

async function took(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now()
  await work()
  return performance.now() - startedMs
}
