// Whatever lies in the tables, a page of the common searches reads little more than the page.
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readQuery } from '#src/search/parse'
import { Database } from '#src/store/db'
import { searchStatement, walkStatement } from '#src/store/job-search'
import { ensurePartitions } from '#src/store/partitions'
import { freshDatabase } from '../support/database.ts'
import { type Plan, planOfText } from '../support/plans.ts'

const LIVE = 20_000
const ARCHIVED = 40_000
let database: Awaited<ReturnType<typeof freshDatabase>>
let client: pg.Client

beforeAll(async () => {
  database = await freshDatabase()
  client = new pg.Client(database.url)
  await client.connect()
  const db = new Database({ connection: { connectionString: database.url }, schema: 'millrace', maxConnections: 1 })
  await ensurePartitions(db, null)
  await db.close()
  await client.query(
    `insert into millrace.job_archive (id, status, type, queue, tenant, priority, attempt, max_attempts, crashes, payload_version,
       run_at, created_at, started_at, finished_at, retention, payload)
     select nextval('millrace.job_id_seq'), 'completed', case when g % 10000 = 0 then 'rare' else 'common' end, 'q',
       case when g % 4000 = 0 then 'small' when g % 2 = 0 then 'large' end, 5, 1, 5, 0, 1,
       now(), now(), now(), now(), 'standard', '{"n": 1}'
     from generate_series(1, $1) as g`,
    [ARCHIVED],
  )
  await client.query(
    `insert into millrace.job (type, queue, priority, max_attempts, run_at, created_at, updated_at, last_error_at, payload)
     select 'common', 'q', 5, 3, now(), now(), now(), case when g % 2000 = 0 then now() end, '{"n": 1}'
     from generate_series(1, $1) as g`,
    [LIVE],
  )
  await client.query('vacuum analyze millrace.job')
  await client.query('vacuum analyze millrace.job_archive')
}, 120_000)

afterAll(async () => {
  await client.end()
  await database.drop()
})

const selection = (query: string, after: string | null = null) =>
  ({ conditions: readQuery(query).query?.conditions ?? [], order: 'newest', after }) as const
const planOf = (query: string, after?: string): Promise<Plan> => {
  const { text, values } = searchStatement(null, selection(query, after), 51)
  return planOfText(client, text, values)
}

/** Empty partitions are read from end to end, which costs nothing. */
const read = ({ nodes }: Plan): string[] =>
  nodes.flatMap((node) => {
    const isEmpty = node['Actual Rows'] === 0 && !node['Rows Removed by Filter']
    return node['Node Type'] === 'Seq Scan' && !isEmpty ? (node['Relation Name'] ?? []) : []
  })

test.each([
  ['the newest jobs', ''],
  ['jobs that wait after a failure', 'status:failed'],
  ['archived jobs of a common type', 'status:completed type:common'],
  ['archived jobs of a rare type', 'status:completed type:rare'],
  ['archived jobs of a type that does not exist', 'status:completed type:none'],
  ['archived jobs of a large tenant', 'status:completed tenant:large'],
  ['archived jobs of a small tenant', 'status:completed tenant:small'],
  ['archived jobs of a tenant that does not exist', 'status:completed tenant:none'],
  ['a job by its id', '12'],
])('a page of %s reads no table from end to end and little in vain', async (_, query) => {
  const plan = await planOf(query)
  expect(read(plan)).toEqual([])
  expect(plan.discarded).toBeLessThan(500)
})

test('a page in the middle costs as little as the first', async () => {
  const first = await planOf('')
  const middle = await planOf('', String(ARCHIVED / 2))
  expect(read(middle)).toEqual([])
  expect(middle.buffers).toBeLessThan(first.buffers * 3 + 50)
})

test('a walk reads as many jobs as it was told to', async () => {
  const { text, values } = walkStatement(null, selection('payload.n:2'), { rows: 100, isNarrowed: false })
  const plan = await planOfText(client, text, values)
  expect(read(plan)).toEqual([])
  expect(Math.max(...plan.nodes.map((node) => node['Actual Rows']))).toBeLessThanOrEqual(300)
})
