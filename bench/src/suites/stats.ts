// How long it takes to look at the queues while a million jobs live: for `millrace stats`, dashboards and alerts.
import { performance } from 'node:perf_hooks'
import { createMillrace } from 'millrace'
import type pg from 'pg'
import type { Bench } from '../bench.ts'
import { aimed, atMost } from '../report.ts'
import { interleave, named, ratio } from '../rounds.ts'
import type { Suite } from '../suite.ts'
import { trivial } from '../trivial-jobs.ts'

const CHUNK = 250_000
const STATS = 'millrace.stats()'
const QUEUES = 'millrace.queues()'
const PASS = 'one pass over the table'
const TARGET_MS = 1_000

/** Ten queues of five types. Of 100 jobs 30 belong to a thousand tenants, 10 are due later, 2 wait for a key and 2 have failed before. */
const live = `
insert into millrace.job (
  type, queue, tenant, status, order_key, priority, max_attempts, run_at, created_at, updated_at, last_error_at, correlation_id, payload
)
select 'type_' || n % 50, 'queue_' || n % 10, case when n % 100 < 30 then 'tenant_' || n % 1000 end,
  case when n % 100 in (50, 51) then 'blocked' else 'pending' end, case when n % 100 in (50, 51) then 'key' end,
  n % 5, 5, now() + case when n % 100 between 60 and 69 then interval '1 day' else interval '0' end, now(), now(),
  case when n % 100 in (70, 71) then now() end, gen_random_uuid(), '{"n": 0, "text": "as long as a small payload is"}'
from generate_series($1::int, $2::int) as n`

/** An hour of fifty busy types, and of the thousand tenants. */
const ended = `
insert into millrace.metric_minute
select date_trunc('minute', now()) - minute * interval '1 minute', 'queue_' || type % 10, 'type_' || type, outcome, 100, 5000,
  '{0,0,0,0,5,20,40,30,4,1}', 90000, '{1,1,2,4,8,12,16,20,16,10,6,4}'
from generate_series(0, 59) as minute, generate_series(0, 49) as type, unnest('{completed,failed}'::text[]) as outcome`

const waited = `
insert into millrace.metric_tenant_minute
select date_trunc('minute', now()) - minute * interval '1 minute', 'queue_' || tenant % 10, 'tenant_' || tenant, 10, 900,
  '{1,1,2,4,2}'
from generate_series(0, 59) as minute, generate_series(0, 999) as tenant`

const onePass = `
select queue, type, tenant, status, count(*), min(run_at) from millrace.job group by queue, type, tenant, status`

export const stats: Suite = {
  name: 'stats',
  summary: 'how long it takes to count a million live jobs by queue, type and tenant, against one pass over the table',
  jobs: 1_000_000,

  async run(bench) {
    const { options, progress, step, databaseUrl, pool } = bench
    await fill(bench)
    await using millrace = createMillrace({ database: databaseUrl, jobs: [trivial] })
    const contestants = [
      { name: STATS, unit: 'ms', measure: () => took(() => millrace.stats()) },
      { name: QUEUES, unit: 'ms', measure: () => took(() => millrace.queues()) },
      { name: PASS, unit: 'ms', measure: () => took(() => pool.query(onePass)) },
    ]
    const measurements = await interleave(contestants, { ...options, progress, step })
    const of = (name: string) => named(measurements, name)
    return {
      measurements: measurements.map((each) => (each.name === STATS ? aimed(each, atMost(TARGET_MS)) : each)),
      ratios: [ratio('stats() / one pass', of(STATS), of(PASS)), ratio('queues() / one pass', of(QUEUES), of(PASS))],
    }
  },
}

async function fill({ pool, options, step }: Bench): Promise<void> {
  for (let done = 0; done < options.jobs; done += CHUNK) {
    step(`filling: ${done.toLocaleString('en')} of ${options.jobs.toLocaleString('en')}`)
    await pool.query(live, [done + 1, Math.min(done + CHUNK, options.jobs)])
  }
  await runAll(pool, [
    ended,
    waited,
    'vacuum analyze millrace.job',
    'vacuum analyze millrace.metric_minute',
    'checkpoint',
  ])
}

async function runAll(pool: pg.Pool, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await pool.query(statement)
}

async function took(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now()
  await work()
  return performance.now() - startedMs
}
