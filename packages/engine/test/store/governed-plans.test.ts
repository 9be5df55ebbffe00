// What a governed claim reads must not grow with what it passes over: backlogs of others, what is due later, tenants that
// may not run.
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshDatabase } from '../support/database.ts'
import { type Plan, planOf } from '../support/plans.ts'

const MANY = 200_000
const SEEN = Array.from({ length: 32 }, (_, i) => `old ${i}`)
let database: Awaited<ReturnType<typeof freshDatabase>>
let client: pg.Client

beforeAll(async () => {
  database = await freshDatabase()
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
  await client.query('alter table millrace.job set (autovacuum_enabled = off)')
  await client.query('analyze millrace.job')
  const fill = (count: number, tenant: string, { type = 'good', due = '-1 hour', priority = 5 } = {}) =>
    client.query(
      `insert into millrace.job (type, queue, tenant, priority, max_attempts, run_at, created_at, updated_at, payload)
       select $1, 'q', ${tenant}, $2, 5, now() + $3::interval, now(), now(), '{}' from generate_series(1, $4::int) i`,
      [type, priority, due, count],
    )
  await fill(MANY, `'big'`)
  await fill(MANY, `'later'`, { due: '1 day', priority: 0 })
  await fill(MANY, `'foreign'`, { type: 'foreign' })
  await fill(MANY, 'null')
  await fill(500, `'small ' || i % 50`)
  await fill(10, `'foreign'`)
  await client.query(
    `insert into millrace.limit_rate (name, tenant, starts, updated_at)
     select 'per tenant', 'old ' || i, '[[1700000000000, 1]]', now() from generate_series(1, 50000) i`,
  )
}, 240_000)

afterAll(async () => {
  await client.end()
  await database.drop()
})

/** What is done to the table of live jobs, and sorts of anything but the entries. */
const onJobs = ({ nodes }: Plan): string[] =>
  nodes.flatMap((node) => {
    const isSort = node['Node Type'] === 'Sort' && node.Plans?.[0]?.['Node Type'] !== 'Function Scan'
    return node['Relation Name'] === 'job' || isSort ? node['Node Type'] : []
  })

const NO_ENTRIES = ['{}', '{}', '{}', '{}']

const look = (types: string) => [null, 'q', types, null, 100, 10, '{big}', '{0}', 50, 10, '{}', '{}', ...NO_ENTRIES]

async function expectGoodPlans() {
  for (const mode of ['force_custom_plan', 'force_generic_plan']) {
    await client.query(`set plan_cache_mode = ${mode}`)
    for (const [statement, values, buffers] of [
      ['governedLook', look('{good,foreign}'), 1_500],
      ['governedLookTypes', look('{good}'), 1_500],
      ['governedStanding', [null, 'q', '{}', '{""}'], 100],
      ['governedStanding', [null, 'q', '{per tenant}', '{""}'], 100],
      ['limitRateLook', ['{per tenant}', `{${SEEN}}`], 10 * SEEN.length],
      ['jobNextDue', [null, '{q}', ...NO_ENTRIES], 1_000],
      ['lookAround', ['{q}', '{}', '{}'], 200],
      ['tenantCount', ['q', 'big', 100], 200],
      ['workKnown', [], 100],
    ] as const) {
      const plan = await planOf(client, statement, values)
      const label = `${statement}, ${mode}`
      expect(onJobs(plan), label).not.toContain('Seq Scan')
      expect(plan.scans, label).not.toContain('limit_rate')
      if (statement.startsWith('governedLook')) expect(onJobs(plan), label).not.toContain('Sort')
      expect(plan.buffers, label).toBeLessThanOrEqual(buffers)
    }
  }
  await client.query('reset plan_cache_mode')
}

describe('beside large backlogs of others', () => {
  test('statistics from when the table was empty', expectGoodPlans)

  test('fresh statistics', async () => {
    await client.query('analyze millrace.job')
    await expectGoodPlans()
  })

  test('no statistics at all', async () => {
    await client.query(`delete from pg_statistic where starelid = 'millrace.job'::regclass`)
    await expectGoodPlans()
  })

  test('what was chosen is taken by its ids', async () => {
    const { rows } = await client.query(`select id from millrace.job where tenant like 'small%' order by id limit 100`)
    const ids = `{${rows.map(({ id }) => id).join()}}`
    const values = [
      null,
      ids,
      '{good}',
      '{60000}',
      randomUUID(),
      randomUUID(),
      'q',
      'small 1',
      '{}',
      '{}',
      '{}',
      '{"{}"}',
    ]
    const plan = await planOf(client, 'governedTake', [...values, false, null, '{}'])
    expect(plan.rows).toBe(100)
    expect(onJobs(plan)).not.toContain('Seq Scan')
    // Each row is found twice, rewritten, and entered into its indexes anew.
    expect(plan.buffers).toBeLessThanOrEqual(40 * 100)
  })
})
