import { demoWorkload, fillDemo, isDemo } from '@millrace/demo'
import { createMillrace, defineJob, defineQueues } from 'millrace'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { week } from '#src/past/week'
import { freshDatabase } from '../../engine/test/support/database.ts'

const NOW = new Date()
const JOBS = 1_500
const { jobs, schedules, workflows } = demoWorkload
const silent = { debug() {}, info() {}, warn() {}, error() {} }

type Setup = Awaited<ReturnType<typeof filled>>

async function filled() {
  const database = await freshDatabase({ migrated: false })
  await fillDemo(database.url, { now: NOW, jobs: JOBS })
  const millrace = createMillrace({ database: database.url, jobs, schedules, workflows, logger: silent })
  const pool = new pg.Pool({ connectionString: database.url, max: 2 })
  pool.on('error', () => {})
  return {
    ...{ database, millrace },
    rows: async <Row>(text: string): Promise<Row[]> => (await pool.query(text)).rows,
    async [Symbol.asyncDispose]() {
      await millrace.close()
      await pool.end()
      await database.drop()
    },
  }
}

describe('a filled database', () => {
  let t: Setup

  beforeAll(async () => {
    t = await filled()
  })
  afterAll(async () => {
    await t[Symbol.asyncDispose]()
  })

  test('counts as many failed and dead runs as there are attempts', async () => {
    const [attempts] = await t.rows<{ n: number }>('select count(*)::int as n from millrace.job_attempt')
    const [counted] = await t.rows<{ n: number }>(
      `select sum(runs)::int as n from millrace.metric_minute where outcome in ('failed', 'dead')`,
    )
    expect(counted?.n).toBe(attempts?.n)
    expect(attempts?.n).toBeGreaterThan(50)
  })

  test('counts what the archive holds, by type and outcome', async () => {
    const of = (table: string, what: string, outcome: string) =>
      t.rows(
        `select type, ${outcome} as outcome, ${what}::int as n from ${table}
         where ${outcome} in ('completed', 'cancelled', 'dead') and type <> 'product.import' group by 1, 2 order by 1, 2`,
      )
    const archived = await of('millrace.job_archive', 'count(*)', 'status')
    expect(await of('millrace.metric_minute', 'sum(runs)', 'outcome')).toEqual(archived)
    expect(archived.length).toBeGreaterThan(20)
  })

  test('has summed up every hour that is over', async () => {
    const sums = (table: string, at: string) =>
      t.rows(
        `select type, outcome, sum(runs)::int as runs, round(sum(duration_ms)) as ms from ${table}
         where ${at} < date_trunc('hour', timestamptz '${NOW.toISOString()}' - interval '1 minute', 'UTC')
         group by 1, 2 order by 1, 2`,
      )
    expect(await sums('millrace.metric_hour', 'hour')).toEqual(await sums('millrace.metric_minute', 'minute'))
  })

  test('has a dead letter and a last attempt for each dead job, with the same fingerprint', async () => {
    const [odd] = await t.rows<{ n: number; dead: number }>(
      `select count(*) filter (where last.fingerprint is distinct from letter.fingerprint or letter.job_id is null)::int as n,
         count(*)::int as dead
       from millrace.job_archive as job
       left join millrace.dead_letter_jobs as letter on letter.job_id = job.id
       left join millrace.job_attempt as last on last.job_id = job.id and last.attempt = job.attempt
       where job.status = 'dead'`,
    )
    expect(odd).toMatchObject({ n: 0, dead: expect.any(Number) })
    expect(odd?.dead).toBeGreaterThan(10)
    const [hours] = await t.rows<{ born: number }>('select sum(born)::int as born from millrace.metric_letter_hour')
    const [born] = await t.rows<{ n: number }>(
      `select count(*)::int as n from millrace.dead_letter_jobs
       where died_at < date_trunc('hour', timestamptz '${NOW.toISOString()}' - interval '1 minute', 'UTC')`,
    )
    expect(hours?.born).toBe(born?.n)
  })

  test('has groups of failures that several tenants share', async () => {
    const groups = await t.millrace.deadLetters.groups({})
    expect(groups.length).toBeGreaterThan(4)
    expect(groups.some((group) => JSON.stringify(group).includes('Kestrel'))).toBe(true)
  })

  test('knows why the jobs that wait do not run', async () => {
    const reasonOf = async (query: string) => {
      const [job] = (await t.millrace.search.jobs(query, { limit: 1 })).jobs
      return JSON.stringify((await t.millrace.explain(String(job?.id))).reasons)
    }
    expect(await reasonOf('queue:screenshot status:pending')).toMatch(/Paused by ops/)
    expect(await reasonOf('tenant:moss-lane-records status:pending')).toMatch(/suspended/)
  })

  test('has workflows in all states, one of them with a step of many jobs', async () => {
    const all = await t.millrace.workflows.list({ limit: 100 })
    const statuses = new Set(all.map(({ status }) => status))
    expect([...statuses].sort()).toEqual([
      ...['cancelled', 'completed', 'failed', 'rollback failed', 'rolled back', 'rolling back', 'running'],
    ])
    const large = await t.millrace.workflows.get(all.at(-1)?.id ?? '')
    expect(large?.steps[0]).toMatchObject({ jobs: 500, completed: 499, running: 1 })
  })

  test('has breakers that are open and half open, a budget that holds jobs, and alerts', async () => {
    expect(await t.millrace.breakers.get('kestrel-carrier')).toMatchObject({ state: 'open' })
    expect(await t.millrace.breakers.get('text-gateway')).toMatchObject({ state: 'half_open' })
    const { used, limit } = await t.millrace.budgets.get('order-screening')
    expect(used / limit).toBeGreaterThan(0.95)
    expect((await t.millrace.alerts.list({})).map(({ name }) => name)).toContain('budget_90')
  })

  test('is recognised, and not filled twice', async () => {
    expect(await isDemo(t.database.url)).toBe(true)
    await expect(fillDemo(t.database.url)).rejects.toThrow(/holds more than 1,000 jobs already, .* nothing was written/)
  })
})

test('the same seed gives the same week, another one another', () => {
  const weekOf = (seed: number) => {
    const jobs = week({ now: NOW.getTime(), seed, jobs: 200 })
    return jobs.map(({ profile, ...job }) => ({ ...job, type: profile.contract.type }))
  }
  expect(weekOf(3)).toEqual(weekOf(3))
  expect(weekOf(4)).not.toEqual(weekOf(3))
})

test('refuses a database with one job of another program, and writes nothing', async () => {
  await using database = await freshDatabase()
  const queues = defineQueues({ mail: {} })
  const greet = defineJob({ type: 'greet', queue: queues.mail, payload: z.object({}) })
  await using millrace = createMillrace({ database: database.url, jobs: [greet], logger: silent })
  await millrace.enqueue(greet, {})
  expect(await isDemo(database.url)).toBe(false)
  await expect(fillDemo(database.url, { jobs: 100 })).rejects.toThrow(/holds a job already/)
  expect(await millrace.tenants.list()).toEqual([])
  expect(await millrace.audit.list()).toEqual([])
})
