// The claim must not depend on luck: half a million rows it may not have, of each kind, stand before a hundred it may,
// with no, stale and fresh statistics, under custom and generic plans.
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { statementTexts } from '#src/store/sql.generated'
import { freshDatabase } from '../support/database.ts'

const EXCLUDED = 500_000

interface Plan {
  'Node Type': string
  'Relation Name'?: string
  'Shared Hit Blocks': number
  'Shared Read Blocks': number
  'Actual Rows': number
  Plans?: Plan[]
}

let database: Awaited<ReturnType<typeof freshDatabase>>
let client: pg.Client

beforeAll(async () => {
  database = await freshDatabase()
  client = new pg.Client(database.url)
  await client.connect()
  await client.query(`alter table millrace.job set (autovacuum_enabled = off)`)
  await client.query('analyze millrace.job') // stale from here on: the table was empty
}, 60_000)

afterAll(async () => {
  await client.end()
  await database.drop()
})

async function fill(
  count: number,
  row: { type?: string; queue?: string; priority?: number; due?: string; crashes?: number },
) {
  await client.query(
    `insert into millrace.job (type, queue, priority, run_at, crashes, max_attempts, correlation_id, payload, created_at, updated_at)
     select $1, $2, $3, now() + $4::interval + g * interval '1 microsecond', $5, 5, 'c', '{}', now(), now()
     from generate_series(1, $6) as g`,
    [row.type ?? 'good', row.queue ?? 'q', row.priority ?? 5, row.due ?? '-1 hour', row.crashes ?? 0, count],
  )
}

async function explain(statement: keyof typeof statementTexts, values: unknown[]) {
  await client.query('begin')
  const { rows } = await client.query({
    text: `explain (analyze, buffers, format json) ${statementTexts[statement]}`,
    values,
  })
  await client.query('rollback')
  const nodes: Plan[] = []
  const visit = (plan: Plan): void => {
    nodes.push(plan)
    plan.Plans?.forEach(visit)
  }
  const root = rows[0]['QUERY PLAN'][0].Plan as Plan
  visit(root)
  return { root, nodes, buffers: root['Shared Hit Blocks'] + root['Shared Read Blocks'] }
}

const claim = (limit: number) => [null, '{q}', `{${limit}}`, '{good}', '{60000}', randomUUID(), randomUUID(), '{q}']

/** Entered behind the first of the good jobs, a queue gives the next ones; the first is not looked at. */
async function expectGoodEntry(mode: string) {
  const { rows } = await client.query<{ priority: number; run_at_s: number; id: string }>(
    `select priority, date_part('epoch', run_at) as run_at_s, id from millrace.job
     where queue = 'q' and status = 'pending' and crashes = 0 and type = 'good' and run_at <= now()
     order by priority, run_at, id limit 1`,
  )
  const entry = rows.map(({ priority, run_at_s, id }) => [`{${priority}}`, `{${run_at_s}}`, `{${id}}`])[0] as string[]
  const types = ['{good,foreign}', '{60000,60000}']
  const plan = await explain('jobClaim', [...claim(10).slice(0, 3), ...types, ...claim(10).slice(5), ...entry])
  const kinds = plan.nodes.map((node) => node['Node Type'])
  expect(kinds, mode).not.toContain('Sort')
  expect(kinds, mode).not.toContain('Seq Scan')
  expect(plan.root['Actual Rows'], mode).toBe(11)
  expect(plan.buffers, mode).toBeLessThanOrEqual(200)
}

async function expectGoodPlans() {
  for (const mode of ['force_custom_plan', 'force_generic_plan']) {
    await client.query(`set plan_cache_mode = ${mode}`)
    for (const statement of ['jobClaim', 'jobClaimTypes'] as const) {
      // The plain claim is for queues of known types only; the fetcher sees to that.
      const types = statement === 'jobClaim' ? '{good,foreign}' : '{good}'
      const entry = statement === 'jobClaim' ? ['{NULL}', '{NULL}', '{NULL}'] : []
      const values = [...claim(10).slice(0, 3), types, '{60000,60000}', ...claim(10).slice(5), ...entry]
      const plan = await explain(statement, values)
      const kinds = plan.nodes.map((node) => node['Node Type'])
      expect(kinds, `${statement}, ${mode}`).not.toContain('Sort')
      expect(kinds, `${statement}, ${mode}`).not.toContain('Seq Scan')
      expect(plan.root['Actual Rows'], `${statement}, ${mode}`).toBe(11)
      expect(plan.buffers, `${statement}, ${mode}`).toBeLessThanOrEqual(200)
    }
    await expectGoodEntry(mode)
    for (const [statement, values] of [
      ['queueTypes', ['{q}']],
      ['jobNextDue', [null, '{q}']],
    ] as const) {
      const plan = await explain(statement, [...values])
      expect(
        plan.nodes.map((node) => node['Node Type']),
        statement,
      ).not.toContain('Seq Scan')
    }
  }
  await client.query('reset plan_cache_mode')
}

describe('half a million rows of each kind that may not be claimed, ahead of a hundred that may', () => {
  beforeAll(async () => {
    await fill(EXCLUDED, { due: '1 day', priority: 0 })
    await fill(EXCLUDED, { due: '1 day' })
    await fill(EXCLUDED, { type: 'foreign', queue: 'elsewhere' })
    await fill(20, { crashes: 1, due: '-2 hours' })
    await fill(100, {})
  }, 180_000)

  test('statistics from when the table was empty', expectGoodPlans)

  test('fresh statistics', async () => {
    await client.query('analyze millrace.job')
    await expectGoodPlans()
  })

  test('no statistics at all', async () => {
    await client.query(`delete from pg_statistic where starelid = 'millrace.job'::regclass`)
    await expectGoodPlans()
  })

  test('settling a few runs reads those rows, however many others are running', async () => {
    await fill(10_000, { queue: 'busy' })
    const runId = randomUUID()
    await client.query(`update millrace.job set status = 'processing', run_id = $1 where queue = 'busy'`, [runId])
    const { rows } = await client.query(`select id from millrace.job where queue = 'busy' order by id desc limit 10`)
    rows.reverse()
    const list = (value: string) => `{${rows.map(() => `"${value}"`).join()}}`
    const ids = `{${rows.map(({ id }) => id).join()}}`
    const failure = ['E', 'm', 's', 'f', '{}'].map(list)
    for (const statistics of ['stale', 'fresh']) {
      if (statistics === 'fresh') await client.query('analyze millrace.job')
      for (const [statement, values] of [
        ['jobFinish', [`{${runId}}`, list('1'), '{completed}', '{standard}', '[[1]]', list('r')]],
        ['jobRequeue', [list(runId), list('0'), list('false'), list('clear'), ...failure]],
        ['jobBury', [list(runId), list('exhausted'), ...failure, list('standard'), list('false')]],
      ] as const) {
        const plan = await explain(statement, [null, ids, ...values])
        const scans = plan.nodes.filter((node) => node['Relation Name'] === 'job' && node['Node Type'].endsWith('Scan'))
        expect(
          scans.map((scan) => scan['Node Type']),
          statement,
        ).not.toContain('Seq Scan')
        expect(plan.buffers, `${statement}, ${statistics}`).toBeLessThanOrEqual(400)
      }
    }
  })

  test('a foreign type at the head of the queue is walked around by type', async () => {
    await client.query(
      `update millrace.job set queue = 'q' where id in (select id from millrace.job where type = 'foreign' limit 200000)`,
    )
    await client.query('vacuum analyze millrace.job')
    const plan = await explain('jobClaimTypes', claim(10))
    expect(plan.nodes.map((node) => node['Node Type'])).not.toContain('Sort')
    expect(plan.buffers).toBeLessThanOrEqual(200)
    expect(plan.root['Actual Rows']).toBe(11)
  }, 120_000)
})
