// However long runs have been counted, and however many jobs are archived: a report reads only its own span.
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freshDatabase } from '../support/database.ts'
import { type Plan, planOf } from '../support/plans.ts'

let database: Awaited<ReturnType<typeof freshDatabase>>
let client: pg.Client
const now = new Date('2030-03-01T12:30:00Z')
const at = (text: string) => new Date(`2030-${text}:00Z`)

beforeAll(async () => {
  database = await freshDatabase()
  client = new pg.Client(database.url)
  await client.connect()
  for (const table of ['metric_minute', 'metric_hour', 'metric_letter_hour', 'dead_letter_jobs'])
    await client.query(`alter table millrace.${table} set (autovacuum_enabled = off)`)
  const counts = `'queue-' || n % 3, 'type-' || n, 'completed', 10, 100, '{1,2,3,4}', 50, '{4,3,2,1}', 150, '{1,1,1}'`
  await client.query(
    `insert into millrace.metric_minute
     select minute, ${counts}
     from generate_series($1::timestamptz - interval '2 days', $1, interval '1 minute') as minute, generate_series(1, 15) as n`,
    [now],
  )
  await client.query(
    `insert into millrace.metric_hour
     select hour, ${counts} from generate_series($1::timestamptz - interval '120 days', $1, interval '1 hour') as hour, generate_series(1, 15) as n
     where hour < date_trunc('hour', $1)`,
    [at('03-01T12:00')],
  )
  await client.query(
    `insert into millrace.metric_letter_hour
     select hour, 'queue-1', 'type-' || n, 1, 1
     from generate_series($1::timestamptz - interval '120 days', $1, interval '1 hour') as hour, generate_series(1, 5) as n`,
    [at('03-01T11:00')],
  )
  await client.query(
    `insert into millrace.dead_letter_jobs
       (job_id, type, queue, correlation_id, reason, attempts, original_job, error_message, fingerprint, died_at, status, acknowledged_at)
     select n, 'task', 'q', 'c', 'exhausted', 1, '{}', 'message', 'f', $1::timestamptz - n * interval '1 minute',
       case when n % 2 = 0 then 'retried' else 'pending' end, case when n % 2 = 0 then $1::timestamptz - n * interval '1 minute' end
     from generate_series(1, 40000) as n`,
    [now],
  )
  await client.query('vacuum analyze millrace.metric_minute, millrace.metric_hour, millrace.metric_letter_hour')
  await client.query('vacuum analyze millrace.dead_letter_jobs')
}, 60_000)

afterAll(async () => {
  await client.end()
  await database.drop()
})

/** Tables that were read in any way, partitions included. */
const readOf = ({ nodes }: Plan): string[] => [...new Set(nodes.flatMap((node) => node['Relation Name'] ?? []))].sort()
const day = [at('02-28T12:30'), at('02-28T13:00'), at('03-01T12:00'), at('03-01T12:30')]

test.each([
  ['metricEdge', [now], 5],
  ['metricRuns', [...day, null, null, null, true], 150],
  ['metricRuns', [...day, 'hour', 'queue-1', 'type-1', false], 150],
  ['metricThroughput', day, 150],
  ['metricLetters', [at('02-01T00:00'), at('03-01T12:00'), now, 'day', null, null], 150],
  // The hour that was stored last, and one that is due: nothing else is read.
  ['metricRollUp', [now, 60_000, 24], 2_500],
  ['statsOldest', [], 10],
] as const)('%s reads no more than its span', async (statement, values, pages) => {
  for (const mode of ['force_custom_plan', 'force_generic_plan']) {
    await client.query(`set plan_cache_mode = ${mode}`)
    const plan = await planOf(client, statement, values)
    expect(plan.scans, mode).toEqual([])
    expect(plan.buffers, mode).toBeLessThanOrEqual(pages)
    expect(readOf(plan).filter((table) => table.startsWith('job_archive'))).toEqual([])
  }
})
