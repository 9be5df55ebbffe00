// What a boost reads must not grow with the backlog: neither with what waits, nor with what is due later.
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshDatabase } from '../support/database.ts'
import { planOf } from '../support/plans.ts'

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

const queues = `{${Array(5).fill('q')}}`
const steps = [
  queues,
  '{600000,1200000,1800000,2400000,3000000}',
  '{1200000,1800000,2400000,3000000,infinity}',
  '{4,3,2,1,0}',
]

async function expectGoodPlans() {
  for (const mode of ['force_custom_plan', 'force_generic_plan']) {
    await client.query(`set plan_cache_mode = ${mode}`)
    // Of 200 jobs that come up each is found twice, rewritten, and entered into its indexes anew.
    for (const [statement, values, buffers] of [
      ['jobBoost', [100], 25 * 200],
      ['jobBoostShared', [10, `{${Array(5).fill('""')}}`, 200], 25 * 20 + 150 * 5 * 30],
    ] as const) {
      const plan = await planOf(client, statement, [null, '7', ...steps, ...values])
      const label = `${statement}, ${mode}: ${plan.buffers} buffers`
      expect(plan.scans, label).not.toContain('job')
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
