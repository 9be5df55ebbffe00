// Whatever lies in the dead letters, looking for the few that matter must not read the many that do not.
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshDatabase } from '../support/database.ts'
import { type Plan, planOf } from '../support/plans.ts'

let database: Awaited<ReturnType<typeof freshDatabase>>
let client: pg.Client

async function fill(
  count: number,
  letter: { status?: string; reason?: string; redrives?: number; acknowledged?: string },
) {
  const { status = 'pending', reason = 'exhausted', redrives = 0, acknowledged } = letter
  await client.query(
    `insert into millrace.dead_letter_jobs
       (job_id, type, queue, correlation_id, reason, attempts, original_job, error_message, fingerprint, died_at, status,
        redrives, redrive_since, acknowledged, acknowledged_at)
     select g, 'task', 'q', 'c', $2, 1, '{}', 'message', 'f' || g % 20, now() - interval '1 day', $3,
       $4, now() - interval '1 day', $5::interval is not null, now() - $5::interval
     from generate_series(1, $1) as g`,
    [count, reason, status, redrives, acknowledged ?? null],
  )
}

beforeAll(async () => {
  database = await freshDatabase()
  client = new pg.Client(database.url)
  await client.connect()
  await client.query('alter table millrace.dead_letter_jobs set (autovacuum_enabled = off)')
  // What must not be read: letters of the past, of other reasons, redriven often enough, seen by people.
  await fill(20_000, { status: 'retried', acknowledged: '1 hour' })
  await fill(20_000, { status: 'resolved', acknowledged: '1 hour' })
  await fill(20_000, { reason: 'discarded' })
  await fill(20_000, { redrives: 3 })
  await fill(20_000, { acknowledged: '1 hour' })
  await client.query(`update millrace.dead_letter_jobs set redriven_job_id = 1000000 + id where status = 'retried'`)
  // What is looked for.
  await fill(10, {})
  await fill(10, { status: 'resolved', acknowledged: '8 days' })
  await fill(10, { status: 'ignored', acknowledged: '1 hour' })
  await client.query('vacuum analyze millrace.dead_letter_jobs')
}, 120_000)

afterAll(async () => {
  await client.end()
  await database.drop()
})

const indexesOf = ({ nodes }: Plan): string[] => nodes.flatMap((node) => node['Index Name'] ?? [])
const none = new Array<null>(8).fill(null)
const week = 7 * 86_400_000

describe.each(['fresh', 'no'])('with %s statistics', (statistics) => {
  beforeAll(async () => {
    if (statistics === 'no')
      await client.query(`delete from pg_statistic where starelid = 'millrace.dead_letter_jobs'::regclass`)
  })

  test.each([
    [
      'deadLetterDue',
      [null, '{task,other}', '{exhausted,exhausted}', '{3,3}', '{60000,60000}', 100],
      'dead_letter_for_redrive_idx',
      100,
    ],
    ['deadLetterPrune', [null, week, 1_000], 'dead_letter_for_prune_idx', 200],
    ['vitalsDeadLetters', [null, 50], 'dead_letter_by_status_idx', 100],
    ['deadLetterList', ['ignored', ...none.slice(1), 50], 'dead_letter_by_status_idx', 100],
    ['deadLetterList', [...none.slice(0, 5), 'f3', null, null, 50], 'dead_letter_by_fingerprint_idx', 200],
    ['deadLetterList', [...none, 50], 'dead_letter_jobs_pkey', 50],
    ['deadLetterOfJob', ['77'], 'dead_letter_by_job_idx', 50],
    ['deadLetterTryLock', ['{1,2,3,100000}'], 'dead_letter_jobs_pkey', 50],
    ['deadLetterLock', ['{1,2,3,100000}'], 'dead_letter_jobs_pkey', 50],
  ] as const)('%s reads little: %o', async (statement, values, index, buffers) => {
    const plan = await planOf(client, statement, values)
    expect(plan.kinds).not.toContain('Seq Scan')
    expect(indexesOf(plan)).toContain(index)
    expect(plan.buffers).toBeLessThanOrEqual(buffers)
  })

  test('deadLetterGroups counts in its index alone', async () => {
    const plan = await planOf(client, 'deadLetterGroups', [100])
    expect(plan.kinds).toContain('Index Only Scan')
    expect(indexesOf(plan)).toContain('dead_letter_for_groups_idx')
  })

  test('a burial finds the letter that its job came from by index', async () => {
    await client.query(`delete from millrace.job`)
    await client.query(
      `insert into millrace.job (id, status, type, queue, priority, run_at, created_at, updated_at, max_attempts, correlation_id, payload, run_id)
       values (1000005, 'processing', 'task', 'q', 5, now(), now(), now(), 1, 'c', '{}', '00000000-0000-0000-0000-000000000000')`,
    )
    const plan = await planOf(client, 'jobBury', [
      null,
      '{1000005}',
      '{00000000-0000-0000-0000-000000000000}',
      '{exhausted}',
      '{Error}',
      '{m}',
      '{NULL}',
      '{f}',
      '{NULL}',
      '{standard}',
      '{false}',
    ])
    expect(indexesOf(plan)).toContain('dead_letter_by_redriven_job_idx')
  })
})

describe.each([
  ['stale: from when it had pages but no rows', 0, 100],
  ['missing: it was never analysed', -1, 0],
])('with statistics of the table that are %s', (_, rows, pages) => {
  test.each([
    ['deadLetterDue', [null, '{task,other}', '{exhausted,exhausted}', '{3,3}', '{60000,60000}', 100]],
    ['deadLetterPrune', [null, week, 1_000]],
    ['vitalsDeadLetters', [null, 50]],
  ] as const)('%s, which every worker asks now and then, reads little', async (statement, values) => {
    await client.query(`delete from pg_statistic where starelid = 'millrace.dead_letter_jobs'::regclass`)
    await client.query(
      `update pg_class set reltuples = $1, relpages = $2
       where relnamespace = 'millrace'::regnamespace and relname like 'dead_letter%' and relkind in ('r', 'i')`,
      [rows, pages],
    )
    const plan = await planOf(client, statement, values)
    expect(plan.kinds).not.toContain('Seq Scan')
    expect(plan.buffers).toBeLessThanOrEqual(200)
  })
})
