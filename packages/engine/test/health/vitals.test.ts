import { defineBudget, defineJob, defineQueues, implement } from 'millrace'
import pg from 'pg'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { graveyard } from '../support/dead-letters.ts'
import { planOf } from '../support/plans.ts'
import { eventually, setup } from '../support/setup.ts'

const owner = { name: 'Mail team', channel: 'slack', address: '#mail' }
const queues = defineQueues({ mail: { sla: '30s', owner, tenantJobs: { max: 2 } }, idle: {} })
const payload = z.object({ n: z.number() })
const budget = defineBudget('words', { limit: 100, per: 'month' })
const send = defineJob({ type: 'send', queue: queues.mail, payload, services: ['smtp'], budget })
const rare = defineJob({ type: 'rare', queue: queues.idle, payload })
const words = { by: 'the test', reason: 'a look' }

test('queues have their depth, age, pauses, owner and SLA, also idle ones', async () => {
  await using t = await setup()
  const millrace = t.client([send, rare])
  await millrace.enqueueMany(send, [{ n: 1 }, { n: 2 }])
  await millrace.enqueue(send, { n: 3 }, { delay: '1h' })
  await t.sql(`update millrace.job set run_at = now() - interval '2 minutes' where payload ->> 'n' = '1'`)
  await millrace.pauses.pause({ queue: 'idle' }, words)
  await millrace.pauses.pause({ queue: 'mail', type: 'send' }, words)
  const { at, queues: read, types } = await millrace.vitals()
  expect(Math.abs(at.getTime() - Date.now())).toBeLessThan(5_000)
  expect(read).toMatchObject([
    { queue: 'idle', waiting: 0, due: 0, oldestDueMs: null, slaMs: null, owner: null, pauses: [words] },
    { queue: 'mail', waiting: 3, due: 2, running: 0, slaMs: 30_000, owner, pauses: [], latencyP95Ms: null },
  ])
  expect(read[1]?.oldestDueMs).toBeGreaterThanOrEqual(120_000)
  expect(types).toMatchObject([{ queue: 'mail', type: 'send', due: 2, lastHour: { runs: 0, errorRate: null } }])
})

test('error rates count runs that succeeded or failed, of the last minutes and of the hour', async () => {
  await using t = await setup()
  await t.sql(
    `insert into millrace.metric_minute (minute, queue, type, outcome, runs, duration_ms, durations, wait_ms, waits)
     select date_trunc('minute', now() - ago), 'mail', 'send', outcome, runs, 1, '{1}', 1, '{1}'
     from (values (interval '1 minute', 'completed', 6), ('1 minute', 'failed', 1), ('1 minute', 'dead', 1), ('1 minute', 'snoozed', 50),
       ('30 minutes', 'completed', 10), ('30 minutes', 'crashed', 2), ('30 minutes', 'cancelled', 70), ('2 hours', 'failed', 90)
     ) as given (ago, outcome, runs)`,
  )
  const { types } = await t.client([send]).vitals()
  expect(types).toMatchObject([
    {
      ...{ queue: 'mail', type: 'send' },
      lastMinutes: { runs: 8, failures: 2, errorRate: 0.25 },
      lastHour: { runs: 20, failures: 4, errorRate: 0.2 },
    },
  ])
})

test('workers, lanes and deaths are read from reports and leases', async () => {
  await using t = await setup()
  const { millrace, worker } = await t.working([implement(send, () => {}), implement(rare, () => {})])
  const { workers, lanes } = await eventually(async () => {
    const vitals = await millrace.vitals()
    return vitals.lanes.length === 2 && vitals
  })
  expect(workers).toMatchObject([{ id: worker.id, state: 'working', slots: 20, running: 0 }])
  expect(workers[0]?.memoryRatio).toBeLessThan(1)
  expect(lanes).toMatchObject([
    { lane: 'mail', slots: 10, running: 0, utilization: 0, workers: 1 },
    { lane: 'idle', slots: 10 },
  ])
  await worker.stop()
  expect((await millrace.vitals()).deaths).toEqual([])
  await t.sql(`update millrace.worker set ended_reason = 'lease expired'`)
  expect((await millrace.vitals()).deaths).toMatchObject([{ id: worker.id, reason: 'lease expired', pid: process.pid }])
  await t.sql(`update millrace.worker set ended_at = now() - interval '11 minutes'`)
  expect((await millrace.vitals()).deaths).toEqual([])
})

test('open breakers name the queues that they hold, and budgets and tenants stand beside their limits', async () => {
  await using t = await setup()
  const millrace = t.client([send, rare])
  await millrace.work({ handlers: [implement(rare, () => {})] })
  await millrace.breakers.trip('smtp', { by: 'ann' })
  await millrace.enqueueMany(send, [{ n: 1 }, { n: 2 }], { tenant: 'acme' })
  await millrace.enqueueMany(send, [{ n: 3 }, { n: 4 }, { n: 5 }], { tenant: 'zen' })
  await millrace.tenants.limit('zen', 'mail', { jobs: 4, over: 'warn' }, { by: 'ann' })
  const { breakers, budgets, tenants } = await millrace.vitals()
  expect(breakers).toMatchObject([{ service: 'smtp', state: 'open', queues: ['mail'], nextProbeAt: null }])
  expect(budgets).toMatchObject([{ budget: 'words', percent: 0, limit: 100 }])
  expect(tenants).toEqual([{ tenant: 'acme', queue: 'mail', jobs: 2, limit: 2 }])
})

test('dead letters are counted with those of the last hour, and stuck runs are named', async () => {
  await using t = await graveyard()
  const millrace = t.client([send])
  const [old] = await t.letters(millrace, send, [{ n: 1 }, { n: 2 }])
  await t.letter(millrace, send, { n: 3 }, { reason: 'stuck' })
  await t.sql(`update millrace.dead_letter_jobs set died_at = now() - interval '2 hours' where id = $1`, [old])
  const { id } = await millrace.enqueue(send, { n: 4 })
  await t.sql(
    `update millrace.job set status = 'processing', deadline_at = now() - interval '1 minute' where id = $1`,
    [id],
  )
  const { deadLetters, stuck } = await millrace.vitals()
  expect(deadLetters).toEqual({ pending: 3, lastHour: 2 })
  expect(stuck).toMatchObject([
    { jobId: id, type: 'send', queue: 'mail', hasEnded: false },
    { type: 'send', hasEnded: true },
  ])
})

test('no reading walks through the letters, the live jobs or the counts of other days', async () => {
  await using t = await setup()
  await t.sql(`
    insert into millrace.dead_letter_jobs (job_id, type, queue, correlation_id, reason, attempts, original_job, error_message, died_at, status)
    select n, 'send', 'mail', 'c', 'exhausted', 1, '{}', 'm', now() - n * interval '1 minute', case when n % 20 = 0 then 'pending' else 'resolved' end
    from generate_series(1, 20000) as n`)
  await t.sql(`
    insert into millrace.metric_minute (minute, queue, type, outcome, runs, duration_ms, durations, wait_ms, waits)
    select date_trunc('minute', now()) - n * interval '1 minute', 'mail', 'send', 'completed', 1, 1, '{1}', 1, '{1}'
    from generate_series(1, 20000) as n`)
  await t.sql('vacuum analyze millrace.dead_letter_jobs, millrace.metric_minute')
  const client = new pg.Client({ connectionString: t.url })
  await client.connect()
  try {
    for (const [statement, values] of [
      ['vitalsRuns', [null, 300_000]],
      ['vitalsLatencies', [null, 300_000]],
      ['vitalsDeadLetters', [null, 10_000]],
      ['vitalsStuck', [null, 600_000, 20]],
    ] as const) {
      const { scans, buffers } = await planOf(client, statement, values)
      expect(
        scans.filter((name) => name !== 'job'),
        statement,
      ).toEqual([])
      expect(buffers, statement).toBeLessThan(200)
    }
  } finally {
    await client.end()
  }
})
