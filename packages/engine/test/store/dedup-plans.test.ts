// Whoever holds a key is found by its index, however many other keys are held and whatever the statistics say.
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { statementTexts } from '#src/store/sql.generated'
import { freshDatabase } from '../support/database.ts'
import { planOf } from '../support/plans.ts'

const HELD = 100_000
const runId = '6f9619ff-8b86-4011-b42d-00c04fc964ff'

let database: Awaited<ReturnType<typeof freshDatabase>>
let client: pg.Client

beforeAll(async () => {
  database = await freshDatabase()
  client = new pg.Client(database.url)
  await client.connect()
  for (const table of ['job', 'dedup_window']) {
    await client.query(`alter table millrace.${table} set (autovacuum_enabled = off)`)
  }
  await client.query(
    `insert into millrace.job (type, queue, tenant, priority, max_attempts, run_at, created_at, updated_at, dedup_key, payload)
     select 'task', 'q', case g % 2 when 0 then 't' || g % 50 end, 5, 5, now(), now(), now(), 'key-' || g, '{}'
     from generate_series(1, ${HELD}) as g`,
  )
  await client.query(
    `insert into millrace.dedup_window (tenant, type, dedup_key, job_id, expires_at)
     select tenant, type, dedup_key, id, now() + interval '1 hour' from millrace.job`,
  )
  await client.query(
    `update millrace.dedup_window set expires_at = now() - interval '1 hour' where dedup_key in ('key-1', 'key-2')`,
  )
  // Runs that gave up their keys, and newer holders of these keys.
  await client.query(
    `insert into millrace.job (id, status, type, queue, tenant, priority, max_attempts, run_at, created_at, updated_at,
       started_at, start_key, run_id, worker_id, payload)
     select id + 1000000, 'processing', type, queue, tenant, 5, 5, now(), now(), now(), now(), dedup_key, $1, $1, '{}'
     from millrace.job where id <= 20`,
    [runId],
  )
}, 120_000)

afterAll(async () => {
  await client.end()
  await database.drop()
})

const keys = ['{NULL,t10,NULL}', '{task,task,task}', '{key-7,key-10,nobody}']
const rows = (key: string) => [
  null,
  '{task}',
  '{q}',
  '{5}',
  '{1}',
  '{5}',
  '[{}]',
  '{}',
  '{}',
  '{}',
  '{}',
  '{}',
  '{}',
  '{}',
  '',
  '{}',
  `{${key}}`,
  null,
]
const requeued = Array.from({ length: 20 }, (_, i) => i + 1_000_001)
const all = <Value>(value: Value): Value[] => requeued.map(() => value)

const noWorkKeys = ['{}', '{}', '{}', '{}', '{}']
const statements: [keyof typeof statementTexts, unknown[]][] = [
  ['jobHolders', keys],
  ['dedupWindowHolders', [null, ...keys]],
  ['jobSupersede', [null, ...keys, null]],
  ['jobInsertKeyed', [...rows('key-7'), ...noWorkKeys, false, 60_000, '{}', '{}']],
  ['jobInsertKeyed', [...rows('new'), ...noWorkKeys, false, 60_000, '{}', '{}']],
  ['jobInsertReplacing', [...rows('key-7'), true, 60_000, '{}']],
  ['dedupWindowPrune', [null, 100]],
  ['jobReleaseRun', [null, runId, runId]],
  [
    'jobRequeue',
    [
      null,
      requeued,
      all(runId),
      all(1_000),
      all(false),
      all('clear'),
      all(null),
      all(null),
      all(null),
      all(null),
      all(null),
    ],
  ],
]

describe.each(['without statistics', 'with statistics'])('%s', (when) => {
  beforeAll(async () => {
    if (when === 'with statistics') await client.query('vacuum analyze millrace.job, millrace.dedup_window')
  }, 60_000)

  test.each(statements)('%s reads what it asks for, and no other keys', async (statement, values) => {
    for (const mode of ['auto', 'force_generic_plan']) {
      await client.query(`set plan_cache_mode = ${mode}`)
      const plan = await planOf(client, statement, values)
      expect(plan.scans).toEqual([])
      // Twenty runs look for two kinds of holders each, and write a row with its index entries.
      expect(plan.buffers).toBeLessThan(statement === 'jobRequeue' || statement === 'jobReleaseRun' ? 1_500 : 200)
    }
  })
})
