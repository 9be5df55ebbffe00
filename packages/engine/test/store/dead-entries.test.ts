// What statements cost beside jobs that have been claimed and archived, and cannot be vacuumed because somebody keeps a
// transaction open.
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { statementTexts } from '#src/store/sql.generated'
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
  for (const priority of [3, 5]) await fill(GONE, { priority })
  await client.query('analyze millrace.job')
  await holder.query('begin isolation level repeatable read')
  await holder.query('select 1 from millrace.worker')
  const { rows } = await client.query<{ priority: number; s: number; id: string }>(
    `with gone as (delete from millrace.job returning id, priority, run_at)
     select distinct on (priority) priority, date_part('epoch', run_at) as s, id from gone order by priority, run_at desc, id desc`,
  )
  const list = (of: (row: (typeof rows)[number]) => unknown) => `{${rows.map(of).join()}}`
  entries = ['{q,q}', list(({ priority }) => priority), list(({ s }) => s), list(({ id }) => id)]
  await fill(20, { priority: 5 })
}, 60_000)

afterAll(async () => {
  await Promise.all([client.end(), holder.end()])
  await database.drop()
})

const fill = (count: number, { priority, tenant = null }: { priority: number; tenant?: string | null }) =>
  client.query(
    `insert into millrace.job (type, queue, tenant, priority, run_at, max_attempts, payload, created_at, updated_at)
     select 'good', 'q', $1, $2, now(), 5, '{}', now(), now() from generate_series(1, $3)`,
    [tenant, priority, count],
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

describe('with jobs of tenants', () => {
  const look = [null, 'q', '{good}', null, 100, 5, '{}', '{}', 50, 10, '{}', '{}']
  let tenantEntries: string[]

  beforeAll(async () => {
    const tenants = ['a', 'b', 'c']
    for (const tenant of tenants) await fill(GONE, { priority: 5, tenant })
    const { rows } = await client.query<{ tenant: string; s: number; id: string }>(
      `with gone as (delete from millrace.job where tenant is not null returning id, tenant, run_at)
       select distinct on (tenant) tenant, date_part('epoch', run_at) as s, id from gone order by tenant, run_at desc, id desc`,
    )
    // The other way round: the order in which they are given does not matter.
    rows.reverse()
    const [queues, priorities, times, ids] = entries.map((each) => each.slice(1, -1)) as [
      string,
      string,
      string,
      string,
    ]
    expect(queues).toBe('q,q')
    tenantEntries = [
      `{${rows.map(({ tenant }) => tenant).join()},NULL,NULL}`,
      `{5,5,5,${priorities}}`,
      `{${rows.map(({ s }) => s).join()},${times}}`,
      `{${rows.map(({ id }) => id).join()},${ids}}`,
    ]
    for (const tenant of ['a', 'c', 'd']) await fill(7, { priority: 5, tenant })
    await fill(7, { priority: 2, tenant: 'c' })
  })

  test.each(['governedLook', 'governedLookTypes'] as const)(
    '%s enters every stream behind its last job',
    async (statement) => {
      for (const mode of ['force_custom_plan', 'force_generic_plan']) {
        await client.query(`set plan_cache_mode = ${mode}`)
        const fromHeads = await planOf(client, statement, [...look, ...nowhere])
        const entered = await planOf(client, statement, [...look, ...tenantEntries])
        // Five of each of a, c, c, d, and the twenty without tenant.
        expect([fromHeads.rows, entered.rows]).toEqual([40, 40])
        expect(fromHeads.buffers).toBeGreaterThan(5 * WALK)
        expect(fromHeads.buffers).toBeLessThan(10 * WALK)
        expect(entered.buffers).toBeLessThan(2 * FEW)
      }
    },
  )

  test('what is seen is the same, from wherever the turn begins', async () => {
    for (const turn of [null, '', 'a', 'b', 'bb', 'c', 'd', 'z']) {
      const seen = async (given: readonly string[]) => {
        const values = [...look.slice(0, 3), turn, ...look.slice(4), ...given]
        const { rows } = await client.query(statementTexts.governedLook, values)
        return rows.map(({ nth, tenant, priority, id }) => [nth, tenant, priority, id])
      }
      expect(await seen(tenantEntries), `${turn}`).toEqual(await seen(nowhere))
    }
  })
})
