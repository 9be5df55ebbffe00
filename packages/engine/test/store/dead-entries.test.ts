// What statements cost beside jobs that have been claimed and archived, and cannot be vacuumed because somebody keeps a
// transaction open.
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshDatabase } from '../support/database.ts'
import { planOf } from '../support/plans.ts'

const GONE = 30_000
/** Pages on which that many jobs have been, and one index's entries of them. */
const WALK = 500
const FEW = 150

let database: Awaited<ReturnType<typeof freshDatabase>>
let holder: pg.Client
let client: pg.Client
let entries: string[]

beforeAll(async () => {
  database = await freshDatabase()
  client = new pg.Client(database.url)
  holder = new pg.Client(database.url)
  await Promise.all([client.connect(), holder.connect()])
  await client.query('alter table millrace.job set (autovacuum_enabled = off)')
  await fill(GONE, 3, 'good')
  await fill(GONE, 5, 'good')
  await client.query('analyze millrace.job')
  await holder.query('begin isolation level repeatable read')
  await holder.query('select 1 from millrace.worker')
  const { rows } = await client.query<{ priority: number; s: number; id: string }>(
    `with gone as (delete from millrace.job returning id, priority, run_at)
     select distinct on (priority) priority, date_part('epoch', run_at) as s, id from gone order by priority, run_at desc, id desc`,
  )
  const list = (of: (row: (typeof rows)[number]) => unknown) => `{${rows.map(of).join()}}`
  entries = ['{q,q}', list(({ priority }) => priority), list(({ s }) => s), list(({ id }) => id)]
  await fill(20, 5, 'good')
}, 60_000)

afterAll(async () => {
  await Promise.all([client.end(), holder.end()])
  await database.drop()
})

const fill = (count: number, priority: number, type: string) =>
  client.query(
    `insert into millrace.job (type, queue, priority, run_at, max_attempts, payload, created_at, updated_at)
     select $1, 'q', $2, now(), 5, '{}', now(), now() from generate_series(1, $3)`,
    [type, priority, count],
  )

const claim = [null, '{q}', '{10}', '{good}', '{60000}', randomUUID(), randomUUID(), '{q}', 1]
const nowhere = ['{}', '{}', '{}', '{}']

describe.each(['force_custom_plan', 'force_generic_plan'])('%s', (mode) => {
  beforeAll(() => client.query(`set plan_cache_mode = ${mode}`))

  test('a claim behind the last claimed job of each priority walks over none of them', async () => {
    const plan = await planOf(client, 'jobClaim', [...claim, ...entries])
    expect(plan.rows).toBe(10)
    expect(plan.buffers).toBeLessThan(FEW)
  })

  test('by type neither', async () => {
    const [queues, ...positions] = entries
    const plan = await planOf(client, 'jobClaimTypes', [...claim, queues, '{good,good}', ...positions])
    expect(plan.rows).toBe(10)
    expect(plan.buffers).toBeLessThan(FEW)
  })

  test('a claim from the head walks over them once', async () => {
    const plan = await planOf(client, 'jobClaim', [...claim, ...nowhere])
    expect(plan.rows).toBe(10)
    expect(plan.buffers).toBeGreaterThan(2 * WALK)
    expect(plan.buffers).toBeLessThan(4 * WALK)
  })

  test('nor does the question for the next due time, nor the look for types that nobody knows', async () => {
    expect((await planOf(client, 'jobNextDue', [null, '{q}', ...entries])).buffers).toBeLessThan(FEW)
    expect((await planOf(client, 'jobNextDue', [null, '{q}', ...nowhere])).buffers).toBeGreaterThan(2 * WALK)
    expect((await planOf(client, 'lookAround', ['{q}', '{q}', '{good}'])).buffers).toBeLessThan(FEW)
    expect((await planOf(client, 'lookAround', ['{q}', '{}', '{}'])).buffers).toBeGreaterThan(2 * WALK)
  })
})
