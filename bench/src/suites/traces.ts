// What traces cost a worker: the drain rate with an engine that does not look for a tracer, one that finds none, and one with an SDK
// that sends to a collector, of one run in a hundred and of all.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { performance } from 'node:perf_hooks'
import { createMillrace, type Millrace } from 'millrace'
import type { Bench } from '../bench.ts'
import { Child } from '../child.ts'
import { untilHandled } from '../child-work.ts'
import { atLeast } from '../report.ts'
import { type Contestant, interleave, named, ratio } from '../rounds.ts'
import type { Suite } from '../suite.ts'
import { enqueueAll, fill, queues, trivial, untilEmpty } from '../trivial-jobs.ts'

const OFF = 'no tracing in the engine'
const API = 'API only'
const FEW = 'SDK, 1 % kept'
const ALL = 'SDK, all kept'
/** A hundredth of them is kept as a whole, as the runs of one enqueue are. */
const BATCH = 1_000
const target = { queue: queues.bench.name }
const by = { by: 'bench' }

export const traces: Suite = {
  name: 'traces',
  summary: 'the drain rate with traces off, with the API only, and with an SDK at 1 % and 100 %',
  jobs: 100_000,

  async run(bench) {
    const { options, progress, step } = bench
    await using millrace = createMillrace({ database: bench.databaseUrl, jobs: [trivial] })
    await using collector = await openCollector()
    const without = new URL('../without-tracing.js', import.meta.url).href
    await using off = new Child(['--import', without])
    await using api = new Child()
    await using few = new Child()
    await using all = new Child()
    for (const child of [few, all]) await child.call('startTracing', { endpoint: collector.url })
    const contestants = [
      drained(bench, millrace, { name: OFF, child: off, kept: null }),
      drained(bench, millrace, { name: API, child: api, kept: null }),
      drained(bench, millrace, { name: FEW, child: few, kept: 0.01 }),
      drained(bench, millrace, { name: ALL, child: all, kept: 1 }),
    ]
    const measurements = await interleave(contestants, { ...options, progress, step })
    const rateOf = (name: string) => named(measurements, name)
    return {
      measurements,
      ratios: [
        ratio('API only / off', rateOf(API), rateOf(OFF), atLeast(0.9)),
        ratio('SDK, 1 % / off', rateOf(FEW), rateOf(OFF), atLeast(0.8)),
        ratio('SDK, 100 % / off', rateOf(ALL), rateOf(OFF)),
      ],
      details: { bytesReceived: collector.received() },
    }
  },
}

interface Traced {
  readonly name: string
  readonly child: Child
  /** The share of jobs whose enqueue was kept; null: their enqueue was not traced. */
  readonly kept: number | null
}

function drained({ pool, databaseUrl, options }: Bench, millrace: Millrace, { name, child, kept }: Traced): Contestant {
  const traceParentOf = (batch: number): string => {
    const isKept = kept !== null && batch % Math.round(1 / kept) === 0
    return `00-${hex(batch, 32)}-${hex(batch, 16)}-${isKept ? '01' : '00'}`
  }
  return {
    name,
    unit: 'jobs/s',
    async measure() {
      await fill(pool, millrace, options.jobs, (jobs) =>
        enqueueAll(
          millrace,
          jobs,
          BATCH,
          kept === null ? undefined : (batch) => ({ traceParent: traceParentOf(batch) }),
        ),
      )
      await millrace.pauses.pause(target, { ...by, reason: 'until the worker has started' })
      await child.call('startWorker', { databaseUrl, untilTrusted: true })
      const startedAt = performance.now()
      await millrace.pauses.resume(target, by)
      await untilHandled([child], options.jobs)
      await untilEmpty(pool)
      const tookMs = performance.now() - startedAt
      await child.call('stopWorker')
      return (options.jobs * 1_000) / tookMs
    },
  }
}

const hex = (batch: number, length: number): string => (batch + 1).toString(16).padStart(length, '0')

/** Takes spans and forgets them. */
async function openCollector() {
  let bytes = 0
  const server = createServer((request, response) => {
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    request.on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1/traces`,
    received: () => bytes,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
