// How long reports take when fifty types have been busy for 13 months. They read counts, never the archive.
import { performance } from 'node:perf_hooks'
import { createMillrace } from 'millrace'
import { aimed, atMost } from '../report.ts'
import { interleave } from '../rounds.ts'
import type { Suite } from '../suite.ts'
import { trivial } from '../trivial-jobs.ts'

const TARGET_MS = 1_000

/** As many rows as fifty types with two outcomes leave.  */
const fill = [
  `insert into millrace.metric_minute
   select minute, 'queue_' || type % 10, 'type_' || type, outcome, 100, 5000,
     '{0,0,0,0,5,20,40,30,4,1}', 90000, '{1,1,2,4,8,12,16,20,16,10,6,4}', 95000, '{0,1,2,4,8,12,16,20,16,10,6,5}'
   from generate_series(date_trunc('minute', now()) - interval '25 hours', now(), interval '1 minute') as minute,
     generate_series(0, 49) as type, unnest('{completed,failed}'::text[]) as outcome`,
  `insert into millrace.metric_hour
   select hour, 'queue_' || type % 10, 'type_' || type, outcome, 6000, 300000,
     '{0,0,0,0,300,1200,2400,1800,240,60}', 5400000, '{60,60,120,240,480,720,960,1200,960,600,360,240}', 5700000,
     '{0,60,120,240,480,720,960,1200,960,600,360,300}'
   from generate_series(date_trunc('hour', now(), 'UTC') - interval '395 days', date_trunc('hour', now(), 'UTC') - interval '1 hour', interval '1 hour') as hour,
     generate_series(0, 49) as type, unnest('{completed,failed}'::text[]) as outcome`,
  'vacuum analyze millrace.metric_minute',
  'vacuum analyze millrace.metric_hour',
]

export const reports: Suite = {
  name: 'reports',
  summary: 'how long reports over a day, a week and a month take after 13 months of fifty busy types',
  jobs: 0,

  async run({ options, progress, step, databaseUrl, pool }) {
    step('filling')
    for (const statement of fill) await pool.query(statement)
    await using millrace = createMillrace({ database: databaseUrl, jobs: [trivial] })
    const calls: Record<string, () => Promise<unknown>> = {
      'reports.overHours(), 24 hours': () => millrace.reports.overHours(),
      'reports.overHours(), a week': () => millrace.reports.overHours({ fromHoursAgo: 168 }),
      'reports.series, an hour by the minute': () => millrace.reports.series({ since: '1h', step: 'minute' }),
      'reports.series, 6 hours by the minute': () => millrace.reports.series({ since: '6h', step: 'minute' }),
      'reports.series, a day by the hour': () => millrace.reports.series({ since: '24h', step: 'hour' }),
      'reports.series, 30 days by the hour': () => millrace.reports.series({ since: '30d', step: 'hour' }),
      'reports.series, 30 days by the day': () => millrace.reports.series({ since: '30d', step: 'day' }),
      'reports.deadLetters, 30 days': () => millrace.reports.deadLetters(),
    }
    const contestants = Object.entries(calls).map(([name, call]) => ({ name, unit: 'ms', measure: () => took(call) }))
    const measurements = await interleave(contestants, { ...options, progress, step })
    return { measurements: measurements.map((each) => aimed(each, atMost(TARGET_MS))), ratios: [] }
  },
}

async function took(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now()
  await work()
  return performance.now() - startedMs
}
