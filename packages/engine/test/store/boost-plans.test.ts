// What a boost reads must not grow with the backlog: neither with what waits, nor with what is due later.
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { statementTexts } from '#src/store/sql.generated'
import { freshDatabase } from '../support/database.ts'

const MANY = 100_000
let database: Awaited<ReturnType<typeof freshDatabase>>
let client: pg.Client

beforeAll(async () => {
  database = await freshDatabase()
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
  await client.query('alter table millrace.job set (autovacuum_enabled = off)')
  await client.query('analyze millrace.job')
  const fill = (count: number, tenant: string, priority: number, due: string) =>
    client.query(
      `insert into millrace.job (type, queue, tenant, priority, max_attempts, run_at, created_at, updated_at, payload)
       select 'task', 'q', ${tenant}, $1, 5, now() + $2::interval + i * interval '1 microsecond', now(), now(), '{}'
       from generate_series(1, $3::int) i`,
      [priority, due, count],
    )
  for (const tenant of ['null', `'big'`]) {
    await fill(MANY, tenant, 1, '-1 minute')
    await fill(MANY, tenant, 5, '-15 minutes')
    await fill(MANY, tenant, 5, '1 day')
    await fill(MANY, tenant, 9, '-2 hours')
  }
  await fill(5_000, `'small ' || i % 150`, 5, '-15 minutes')
}, 240_000)

afterAll(async () => {
  await client.end()
  await database.drop()
})

interface Plan {
  'Node Type': string
  'Relation Name'?: string
  'Shared Hit Blocks': number
  'Shared Read Blocks': number
  Plans?: Plan[]
}

const queues = `{${Array(5).fill('q')}}`
const steps = [
  queues,
  '{600000,1200000,1800000,2400000,3000000}',
  '{1200000,1800000,2400000,3000000,infinity}',
  '{4,3,2,1,0}',
]

async function explain(statement: 'jobBoost' | 'jobBoostShared', values: unknown[]) {
  await client.query('begin')
  const { rows } = await client.query({
    text: `explain (analyze, buffers, format json) ${statementTexts[statement]}`,
    values: [null, '7', ...steps, ...values],
  })
  await client.query('rollback')
  const root = rows[0]['QUERY PLAN'][0].Plan as Plan
  const nodes: string[] = []
  const visit = (node: Plan): void => {
    if (node['Relation Name'] === 'job' || node['Node Type'] === 'Sort') nodes.push(node['Node Type'])
    node.Plans?.forEach(visit)
  }
  visit(root)
  return { nodes, buffers: root['Shared Hit Blocks'] + root['Shared Read Blocks'] }
}

async function expectGoodPlans() {
  for (const mode of ['force_custom_plan', 'force_generic_plan']) {
    await client.query(`set plan_cache_mode = ${mode}`)
    // Of 200 jobs that come up each is found twice, rewritten, and entered into its indexes anew.
    for (const [statement, values, buffers] of [
      ['jobBoost', [100], 25 * 200],
      ['jobBoostShared', [10, `{${Array(5).fill('""')}}`, 200], 25 * 20 + 150 * 5 * 30],
    ] as const) {
      const plan = await explain(statement, [...values])
      const label = `${statement}, ${mode}: ${plan.buffers} buffers`
      expect(plan.nodes, label).not.toContain('Seq Scan')
      expect(plan.buffers, label).toBeLessThanOrEqual(buffers)
    }
  }
  await client.query('reset plan_cache_mode')
}

describe('beside large backlogs', () => {
  test('statistics from when the table was empty', expectGoodPlans)

  test('fresh statistics', async () => {
    await client.query('analyze millrace.job')
    await expectGoodPlans()
  })

  test('no statistics at all', async () => {
    await client.query(`delete from pg_statistic where starelid = 'millrace.job'::regclass`)
    await expectGoodPlans()
  })
})
