// Admission must not depend on how much waits: a hundred thousand blocked jobs of one key, and ten thousand keys, of both
// kinds; and as many deferred jobs of one tenant, and a thousand tenants. With no, stale and fresh statistics, under custom and generic plans.
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { statementTexts } from '#src/store/sql.generated'
import { freshDatabase } from '../support/database.ts'
import { planOf, setJobStatistics } from '../support/plans.ts'

const OF_ONE_KEY = 100_000
const KEYS = 10_000
const TENANTS = 1_000
const WINDOW = 256

let database: Awaited<ReturnType<typeof freshDatabase>>
let client: pg.Client

beforeAll(async () => {
  database = await freshDatabase()
  client = new pg.Client(database.url)
  await client.connect()
  await client.query('alter table millrace.job set (autovacuum_enabled = off)')
  for (const column of ['order_key', 'limit_key'])
    for (const [key, count] of [
      [`'big'`, OF_ONE_KEY],
      [`'key-' || g`, KEYS],
    ] as const)
      await client.query(
        `insert into millrace.job (type, queue, priority, run_at, max_attempts, payload, created_at, updated_at, status, ${column}, limit_concurrency)
         select 'good', 'q', g % 3, now() + (g % 2) * interval '1 hour', 5, '{}', now(), now(), 'blocked', ${key}, 3
         from generate_series(1, $1) as g`,
        [count],
      )
  await client.query(
    `update millrace.job set status = 'pending' where order_key like 'key-%' or limit_key like 'key-%'`,
  )
  await client.query(
    `insert into millrace.job (type, queue, priority, run_at, max_attempts, payload, created_at, updated_at, status, order_key, limit_key, limit_concurrency)
     select 'good', 'q', 5, now(), 5, '{}', now(), now(), 'blocked', case kind when 1 then 'key-' || g end, case kind when 2 then 'key-' || g end, 1
     from generate_series(1, $1) as g, generate_series(1, 2) as kind`,
    [KEYS],
  )
  for (const [tenant, count] of [
    [`'big'`, OF_ONE_KEY],
    [`'small ' || g`, TENANTS],
  ] as const)
    await client.query(
      `insert into millrace.job (type, queue, tenant, priority, run_at, max_attempts, payload, created_at, updated_at, status, tenant_jobs, deferred_keys)
       select 'good', 'shared', ${tenant}, 5, now(), 5, '{}', now(), now(), 'blocked', 3, '{null,null}'
       from generate_series(1, $1) as g`,
      [count],
    )
  await client.query(
    `insert into millrace.job (type, queue, tenant, priority, run_at, max_attempts, payload, created_at, updated_at, tenant_jobs)
     select 'good', 'shared', 'small ' || g, 5, now(), 5, '{}', now(), now(), 3
     from generate_series(1, $1) as g, generate_series(1, 3)`,
    [TENANTS],
  )
}, 120_000)

afterAll(async () => {
  await client.end()
  await database.drop()
})

interface Expected {
  values: unknown[]
  rows: number
  buffers: number
}

const one = (key: string) => ['{q}', '{""}', `{${key}}`]
const statements: [keyof typeof statementTexts, string, Expected][] = [
  ['orderAdmit', 'the head of a large key', { values: [null, ...one('big')], rows: 1, buffers: 60 }],
  ['orderAdmit', 'nothing behind a head', { values: [null, ...one('key-77')], rows: 0, buffers: 30 }],
  ['limitAdmit', 'the first of a large key', { values: [null, ...one('big')], rows: 3, buffers: 120 }],
  ['limitAdmit', 'nothing of a full key', { values: [null, ...one('key-77')], rows: 0, buffers: 30 }],
  ['orderKeys', 'a window of keys', { values: ['q', '', '', WINDOW], rows: WINDOW, buffers: WINDOW * 20 }],
  ['limitKeys', 'a window of keys', { values: [null, 'q', '', '', WINDOW], rows: WINDOW, buffers: WINDOW * 20 }],
  ['tenantAdmit', 'the first of a large tenant', { values: [null, '{shared}', '{big}', 1_000], rows: 3, buffers: 120 }],
  [
    'tenantAdmit',
    'nothing of a full tenant',
    { values: [null, '{shared}', '{"small 7"}', 1_000], rows: 0, buffers: 60 },
  ],
  ['tenantDeferred', 'a window of tenants', { values: ['', '', WINDOW], rows: WINDOW, buffers: WINDOW * 40 }],
  ['rescueNeeds', 'that something is blocked', { values: [null], rows: 1, buffers: 30 }],
]

describe.each(['missing', 'stale', 'fresh'] as const)('with %s statistics', (statistics) => {
  beforeAll(() => setJobStatistics(client, statistics), 60_000)

  describe.each(['force_custom_plan', 'force_generic_plan'])('under %s', (mode) => {
    beforeAll(() => client.query(`set plan_cache_mode = ${mode}`))

    test.each(statements)('%s finds %s', async (statement, _, { values, rows, buffers }) => {
      const plan = await planOf(client, statement, values)
      const kinds = plan.nodes
        .filter((node) => node['Actual Rows'] > 1_000 || node['Node Type'] === 'Seq Scan')
        .map((node) => node['Node Type'])
      expect(plan.rows).toBe(rows)
      expect(plan.buffers).toBeLessThanOrEqual(buffers)
      expect(kinds.filter((kind) => kind === 'Sort')).toEqual([])
    })
  })
})
