// The views must be useful at size: a condition on what is looked up by reads an index, and a condition on the status
// leaves out the tables that cannot have it.
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freshDatabase } from '../support/database.ts'

const LIVE = 50_000
const ARCHIVED = 200_000
const FAILED = 50_000

interface Plan {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: Plan[]
}

let database: Awaited<ReturnType<typeof freshDatabase>>
let client: pg.Client

beforeAll(async () => {
  database = await freshDatabase()
  client = new pg.Client({ connectionString: database.url, options: '-c search_path=millrace,public' })
  await client.connect()
  await client.query(
    `insert into job (type, queue, status, priority, run_at, max_attempts, correlation_id, payload, created_at, updated_at,
       last_error_at, started_at)
     select 't' || g % 10, 'q', case when g % 1000 = 0 then 'processing' else 'pending' end, 5, now(), 5, 'live ' || g, '{}',
       now(), now(), case when g % 100 = 1 then now() end, case when g % 1000 = 0 then now() - interval '2 hours' end
     from generate_series(1, $1::int) as g`,
    [LIVE],
  )
  await client.query(
    `insert into job_archive (id, status, type, queue, priority, attempt, max_attempts, crashes, payload_version, run_at,
       created_at, started_at, finished_at, correlation_id, retention)
     select $2 + g, case when g % 50 = 0 then 'dead' else 'completed' end, 't' || g % 10, 'q', 5, 1, 5, 0, 1, ended, ended,
       ended, ended, 'archived ' || g, 'standard'
     from generate_series(1, $1::int) as g
     cross join lateral (select now() - g * interval '80 ms' as ended) as time`,
    [ARCHIVED, LIVE],
  )
  // As many that were given no correlation id: they stand in the archive in order of their ids.
  await client.query(
    `insert into job_archive (id, status, type, queue, priority, attempt, max_attempts, crashes, payload_version, run_at,
       created_at, started_at, finished_at, retention)
     select $2 + g, 'completed', 't' || g % 10, 'q', 5, 1, 5, 0, 1, ended, ended, ended, ended, 'standard'
     from generate_series(1, $1::int) as g
     cross join lateral (select now() - interval '5 hours' + g * interval '80 ms' as ended) as time`,
    [ARCHIVED, LIVE + ARCHIVED],
  )
  await client.query(
    `insert into job_attempt (job_id, attempt, run_id, type, queue, started_at, finished_at, error_class, error_message,
       correlation_id)
     select g, 1, gen_random_uuid(), 't' || g % 10, 'q', ended, ended, 'E', 'm', 'archived ' || g
     from generate_series(1, $1::int) as g
     cross join lateral (select now() - g * interval '320 ms' as ended) as time`,
    [FAILED],
  )
  await client.query(
    `insert into dead_letter_jobs (job_id, type, queue, correlation_id, reason, attempts, original_job, error_message,
       status, died_at)
     select g, 't', 'q', 'c', 'exhausted', 5, jsonb_build_object('correlation_id', 'archived ' || g), 'm',
       case when g % 100 = 0 then 'pending' else 'resolved' end, now()
     from generate_series(1, $1::int) as g`,
    [FAILED],
  )
  await client.query('vacuum analyze')
}, 120_000)

afterAll(async () => {
  await client.end()
  await database.drop()
})

/** What a statement found, and the relations of which it read rows: those by sequential scan apart. */
async function readBy(text: string) {
  const { rows } = await client.query(`explain (analyze, format json) ${text}`)
  const root = rows[0]['QUERY PLAN'][0].Plan as Plan
  const found = root['Actual Rows']
  const read = { indexes: new Set<string>(), sequentially: new Set<string>() }
  const visit = (plan: Plan): void => {
    const relation = plan['Relation Name']?.replace(/_\d{8}$/, '')
    const isEmpty = plan['Actual Loops'] * (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) === 0
    if (plan['Node Type'] === 'Seq Scan' && relation !== undefined && !isEmpty) read.sequentially.add(relation)
    if (plan['Index Name'] !== undefined) read.indexes.add(plan['Index Name'].replace(/_\d{8}_/, ': '))
    plan.Plans?.forEach(visit)
  }
  visit(root)
  return { found, sequentially: [...read.sequentially], indexes: [...read.indexes] }
}

test('an id is looked up by index, in the live table and in the archive', async () => {
  for (const id of [17, LIVE + 17]) {
    const plan = await readBy(`select * from jobs where id = ${id}`)
    expect(plan).toMatchObject({ found: 1, sequentially: [] })
    expect(plan.indexes).toEqual(expect.arrayContaining(['job_pkey', 'job_archive_standard: id_idx']))
  }
})

test.each([
  ['given', `'archived 123'`],
  ['of a dead letter', `(select original_job->>'correlation_id' from dead_letter_jobs where id = 123)`],
])('a correlation id %s is looked up by index in the archive, and read through in the live table', async (_, value) => {
  const plan = await readBy(`select * from jobs where correlation_id = ${value} order by created_at`)
  expect(plan).toMatchObject({ found: 1, sequentially: ['job'] })
  expect(plan.indexes).toContain('job_archive_standard: correlation_id_idx')
})

test('executions are looked up by correlation id without reading a live job', async () => {
  const plan = await readBy(`select * from job_metrics where correlation_id = 'archived 123'`)
  expect(plan).toMatchObject({ found: 2, sequentially: [] })
  expect(plan.indexes).toEqual(
    expect.arrayContaining(['job_archive_standard: correlation_id_idx', 'job_attempt: correlation_id_idx']),
  )
})

test.each(['jobs', 'job_metrics'])(
  'the correlation id that a job has of itself is found in %s by few pages',
  async (view) => {
    const own = LIVE + ARCHIVED + 123
    const plan = await readBy(`select * from ${view} where correlation_id = 'job-${own}'`)
    expect(plan).toMatchObject({ found: 1, sequentially: view === 'jobs' ? ['job'] : [] })
    expect(plan.indexes.filter((index) => index.startsWith('job_archive_standard: expr'))).not.toEqual([])
  },
)

test.each(['job_metrics where job_type', 'jobs where type'])('%s and a time reach the index', async (from) => {
  const time = from.startsWith('jobs') ? 'finished_at' : 'recorded_at'
  const plan = await readBy(`select count(*) from ${from} = 't3' and ${time} > now() - interval '1 minute'`)
  expect(plan.sequentially).toEqual([])
  expect(plan.indexes).toContain('job_archive_standard: type_finished_at_idx')
})

test('what is being processed is found among the running jobs only', async () => {
  const plan = await readBy(`select * from jobs where status = 'processing' and started_at < now() - interval '1 hour'`)
  expect(plan).toEqual({ found: LIVE / 1000, sequentially: [], indexes: ['job_running_idx'] })
})

test.each(['pending', 'failed', 'blocked'])('the archive is not asked for %s jobs', async (status) => {
  const plan = await readBy(`select type, count(*) from jobs where status = '${status}' group by type`)
  expect(plan.sequentially.filter((relation) => relation !== 'job')).toEqual([])
  expect(plan.indexes.filter((index) => index.startsWith('job_archive'))).toEqual([])
})

test('the health of the queues does not depend on the history', async () => {
  const plan = await readBy('select * from job_queue_health order by type, status')
  expect(plan.sequentially.filter((relation) => relation.startsWith('job_archive'))).toEqual([])
  expect(plan.indexes.filter((index) => index.startsWith('dead_letter_'))).toHaveLength(1)
})

test('dead letters are looked up by capitalised status and by job', async () => {
  expect(await readBy(`select * from background_job_dlq where status = 'Pending'`)).toEqual({
    found: FAILED / 100,
    sequentially: [],
    indexes: ['dead_letter_by_shown_status_idx'],
  })
  expect(await readBy('select * from delayed_jobs_dlq where id = 17')).toEqual({
    found: 1,
    sequentially: [],
    indexes: ['dead_letter_by_job_idx'],
  })
})
