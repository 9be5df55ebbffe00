// What it costs to count: the drain rate of a worker whose metrics are exported and scraped every second, and of one without.
import { createMetrics } from '@millrace/telemetry'
import { createMillrace } from 'millrace'
import type { Bench } from '../bench.ts'
import { atLeast } from '../report.ts'
import { type Contestant, interleave, named, ratio } from '../rounds.ts'
import type { Suite } from '../suite.ts'
import { drainRate, fill, trivial, untilEmpty } from '../trivial-jobs.ts'

const OFF = 'without metrics'
const ON = 'with metrics, scraped'
const SCRAPE_MS = 1_000

export const metrics: Suite = {
  name: 'metrics',
  summary: 'the drain rate with metrics exported and scraped every second, against none',
  jobs: 100_000,

  async run(bench) {
    const { options, progress, step } = bench
    const contestants = [drained(bench, OFF, false), drained(bench, ON, true)]
    const measurements = await interleave(contestants, { ...options, progress, step })
    const of = (name: string) => named(measurements, name)
    return { measurements, ratios: [ratio('with / without', of(ON), of(OFF), atLeast(0.9))] }
  },
}

function drained({ pool, databaseUrl, options }: Bench, name: string, isExported: boolean): Contestant {
  return {
    name,
    unit: 'jobs/s',
    async measure() {
      await using millrace = createMillrace({ database: databaseUrl, jobs: [trivial] })
      await fill(pool, millrace, options.jobs)
      const exported = isExported ? createMetrics(millrace) : undefined
      const scraping = setInterval(() => void exported?.page(), SCRAPE_MS)
      try {
        return await drainRate(millrace, { jobs: options.jobs, untilSettled: () => untilEmpty(pool) })
      } finally {
        clearInterval(scraping)
        await exported?.stop()
      }
    },
  }
}
