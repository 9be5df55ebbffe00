// No statement must depend on luck. The claim: half a million rows it may not have, of each kind, stand before a hundred
// it may. Those that look at running jobs, at types and at runs: next to all of that. With no, stale and fresh statistics,
// under custom and generic plans.
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { statementTexts } from '#src/store/sql.generated'
import { freshDatabase } from '../support/database.ts'
import { type Plan, planOf, setJobStatistics } from '../support/plans.ts'

const EXCLUDED = 500_000
/** Long, so that the index by type is the taller one: where nothing else is known, the planner prefers the other. */
const FOREIGN = `foreign.${'x'.repeat(100)}`
const RUNNING = 300

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

/** Every sixtieth of a worker's runs is overdue. Without a worker: of a new one each. */
async function fillRunning(count: number, workerId: string | null, runId: string) {
  await client.query(
    `insert into millrace.job
       (status, type, queue, priority, run_at, started_at, attempt, max_attempts, run_id, worker_id, deadline_at, payload, created_at, updated_at)
     select 'processing', 'good', 'q', 5, now(), now(), 1, 5, $3, coalesce($2, gen_random_uuid()),
       now() + case when g % 60 = 0 then interval '-1 hour' else interval '1 hour' end, '{}', now(), now()
     from generate_series(1, $1) as g`,
    [count, workerId, runId],
  )
}

async function fillArchive(count: number, runId: string) {
  await client.query(
    `insert into millrace.job_archive (id, status, type, queue, priority, attempt, max_attempts, crashes, payload_version,
       run_at, created_at, finished_at, run_id, retention, payload)
     select 1000000000 + g, 'completed', 'good', 'q', 5, 1, 5, 0, 1, now(), now(), now(), $2, 'standard', '{}'
     from generate_series(1, $1) as g`,
    [count, runId],
  )
}

async function addWorker(id: string, { isEnded }: { isEnded: boolean }) {
  await client.query(
    `insert into millrace.worker (id, host, pid, version, lanes, started_at, heartbeat_at, expires_at, ended_at)
     values ($1, 'h', 1, '0', '{}', now(), now(), now() + interval '1 hour', case when $2 then now() end)`,
    [id, isEnded],
  )
}

/** All three ways to settle these runs. */
function settlementsOf(runs: readonly { id: string }[], runId: string) {
  const list = (value: string) => `{${runs.map(() => `"${value}"`).join()}}`
  const ids = `{${runs.map(({ id }) => id).join()}}`
  const failure = ['E', 'm', 's', 'f', '{}'].map(list)
  return [
    ['jobFinish', [null, ids, `{${runId}}`, list('1'), '{completed}', '{standard}', '[[1]]', list('r'), '[]']],
    ['jobRequeue', [null, ids, list(runId), list('0'), list('false'), list('clear'), ...failure]],
    ['jobBury', [null, ids, list(runId), list('exhausted'), ...failure, list('standard'), list('false')]],
  ] as const satisfies [keyof typeof statementTexts, unknown[]][]
}

const claim = (limit: number) => [null, '{q}', `{${limit}}`, '{good}', '{60000}', randomUUID(), randomUUID(), '{q}', 1]

const NO_ENTRIES = ['{}', '{}', '{}', '{}']

/** What a plan does to the table of live jobs; that of the rules has one row. */
const kindsOnJobs = ({ nodes }: Plan): string[] =>
  nodes.flatMap((node) => (node['Relation Name'] === 'rules_version' ? [] : node['Node Type']))

/** Entered behind the first of the good jobs, a queue gives the next ones; the first is not looked at. */
async function expectGoodEntry(mode: string) {
  const { rows } = await client.query<{ priority: number; run_at_s: number; id: string }>(
    `select priority, date_part('epoch', run_at) as run_at_s, id from millrace.job
     where queue = 'q' and status = 'pending' and crashes = 0 and type = 'good' and run_at <= now()
     order by priority, run_at, id limit 1`,
  )
  const entry = rows.map(({ priority, run_at_s, id }) => [
    '{q}',
    `{${priority}}`,
    `{${run_at_s}}`,
    `{${id}}`,
  ])[0] as string[]
  const types = [`{good,${FOREIGN}}`, '{60000,60000}']
  const plan = await planOf(client, 'jobClaim', [...claim(10).slice(0, 3), ...types, ...claim(10).slice(5), ...entry])
  const kinds = kindsOnJobs(plan)
  expect(kinds, mode).not.toContain('Sort')
  expect(kinds, mode).not.toContain('Seq Scan')
  expect(plan.rows, mode).toBe(11)
  expect(plan.buffers, mode).toBeLessThanOrEqual(200)
  const next = await planOf(client, 'jobNextDue', [null, '{q}', ...entry])
  expect(kindsOnJobs(next), mode).not.toContain('Seq Scan')
  expect(next.buffers, mode).toBeLessThanOrEqual(200)
}

async function expectGoodPlans() {
  for (const mode of ['force_custom_plan', 'force_generic_plan']) {
    await client.query(`set plan_cache_mode = ${mode}`)
    for (const statement of ['jobClaim', 'jobClaimTypes'] as const) {
      // The plain claim is for queues of known types only; the fetcher sees to that.
      const types = statement === 'jobClaim' ? `{good,${FOREIGN}}` : '{good}'
      const entry = statement === 'jobClaim' ? NO_ENTRIES : ['{}', ...NO_ENTRIES]
      const values = [...claim(10).slice(0, 3), types, '{60000,60000}', ...claim(10).slice(5), ...entry]
      const plan = await planOf(client, statement, values)
      const kinds = kindsOnJobs(plan)
      expect(kinds, `${statement}, ${mode}`).not.toContain('Sort')
      expect(kinds, `${statement}, ${mode}`).not.toContain('Seq Scan')
      expect(plan.rows, `${statement}, ${mode}`).toBe(11)
      expect(plan.buffers, `${statement}, ${mode}`).toBeLessThanOrEqual(200)
    }
    await expectGoodEntry(mode)
    for (const [statement, values] of [
      ['lookAround', ['{q}', '{}', '{}']],
      ['lookAround', ['{q}', '{q,q}', `{good,${FOREIGN}}`]],
      ['jobNextDue', [null, '{q}', ...NO_ENTRIES]],
    ] as const) {
      const plan = await planOf(client, statement, values)
      expect(kindsOnJobs(plan), statement).not.toContain('Seq Scan')
    }
  }
  await client.query('reset plan_cache_mode')
}

describe('half a million rows of each kind that may not be claimed, ahead of a hundred that may', () => {
  beforeAll(async () => {
    await fill(EXCLUDED, { due: '1 day', priority: 0 })
    await fill(EXCLUDED, { due: '1 day' })
    await fill(EXCLUDED, { type: FOREIGN, queue: 'elsewhere' })
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

  describe('beside running jobs of a living and of a dead worker, and an archive', () => {
    const [living, dead, runId] = [randomUUID(), randomUUID(), randomUUID()]
    let runs: [ids: string, runIds: string]

    beforeAll(async () => {
      await addWorker(living, { isEnded: false })
      await addWorker(dead, { isEnded: true })
      // An index that a busy day has made large.
      await fillRunning(20_000, null, runId)
      await client.query(`delete from millrace.job where status = 'processing'`)
      await client.query('vacuum (index_cleanup on) millrace.job')
      await fillRunning(RUNNING, living, runId)
      await fillRunning(RUNNING, dead, runId)
      await fillArchive(300_000, runId)
      const { rows } = await client.query(
        `(select id from millrace.job where worker_id = $1 limit 20) union all (select id from millrace.job_archive limit 20)`,
        [living],
      )
      runs = [`{${rows.map(({ id }) => id).join()}}`, `{${rows.map(() => runId).join()}}`]
    }, 120_000)

    test.each(['missing', 'stale', 'fresh'] as const)('%s statistics', async (statistics) => {
      await setJobStatistics(client, statistics)
      for (const mode of ['force_custom_plan', 'force_generic_plan']) {
        await client.query(`set plan_cache_mode = ${mode}`)
        for (const [statement, values, rows] of [
          ['rescueNeeds', [null], 1],
          ['jobOrphans', [200], 200],
          ['jobOverdue', [null, 200], 5],
          ['jobRunning', [living, null], RUNNING],
          ['jobRunning', [living, 3_600], RUNNING],
          ['jobRunState', runs, 40],
          ['lookAround', ['{q,elsewhere,nowhere}', '{}', '{}'], 1],
          ['lookAround', ['{q,elsewhere,nowhere}', '{q}', '{good}'], 1],
          ['jobNextDue', [null, '{q,elsewhere,nowhere}', ...NO_ENTRIES], 3],
          ['jobReleaseRun', [null, living, runId], RUNNING],
        ] as const) {
          const plan = await planOf(client, statement, values)
          const label = `${statement}, ${mode}`
          expect(plan.rows, label).toBe(rows)
          // A row that is written costs more; a walk over a table or an index would cost 5,000 at the least.
          expect(plan.buffers, label).toBeLessThanOrEqual(statement === 'jobReleaseRun' ? 30 * RUNNING : 3_000)
          expect(plan.scans, label).not.toContain('job')
        }
      }
      await client.query('reset plan_cache_mode')
    })
  })

  test('settling a few runs reads those rows, however many others are running', async () => {
    await fill(10_000, { queue: 'busy' })
    const runId = randomUUID()
    await client.query(`update millrace.job set status = 'processing', run_id = $1 where queue = 'busy'`, [runId])
    const { rows } = await client.query(`select id from millrace.job where queue = 'busy' order by id desc limit 10`)
    rows.reverse()
    for (const statistics of ['stale', 'fresh']) {
      if (statistics === 'fresh') await client.query('analyze millrace.job')
      for (const [statement, values] of settlementsOf(rows, runId)) {
        const plan = await planOf(client, statement, values)
        expect(plan.scans, statement).not.toContain('job')
        expect(plan.buffers, `${statement}, ${statistics}`).toBeLessThanOrEqual(400)
      }
    }
  })

  test('settling a thousand runs compares no row with all the others, whatever the statistics', async () => {
    const runId = randomUUID()
    await fillRunning(1_000, null, runId)
    const { rows } = await client.query('select id from millrace.job where run_id = $1 order by id', [runId])
    for (const statistics of ['missing', 'stale', 'fresh'] as const) {
      await setJobStatistics(client, statistics)
      for (const mode of ['force_custom_plan', 'force_generic_plan']) {
        await client.query(`set plan_cache_mode = ${mode}`)
        for (const [statement, values] of settlementsOf(rows, runId)) {
          const label = `${statement}, ${statistics}, ${mode}`
          const plan = await planOf(client, statement, values)
          expect(plan.rows, label).toBe(1_000)
          const joins = plan.kinds.filter((kind) => /Join|Nested Loop/.test(kind))
          expect(joins, label).toEqual([])
          expect(plan.buffers, label).toBeLessThanOrEqual(40_000)
        }
      }
    }
    await client.query('reset plan_cache_mode')
  }, 60_000)

  test('a foreign type at the head of the queue is walked around by type', async () => {
    await client.query(
      `update millrace.job set queue = 'q' where id in (select id from millrace.job where type = $1 limit 200000)`,
      [FOREIGN],
    )
    await client.query('vacuum analyze millrace.job')
    const plan = await planOf(client, 'jobClaimTypes', [...claim(10), '{}', ...NO_ENTRIES])
    expect(plan.kinds).not.toContain('Sort')
    expect(plan.buffers).toBeLessThanOrEqual(200)
    expect(plan.rows).toBe(11)
  }, 120_000)
})
