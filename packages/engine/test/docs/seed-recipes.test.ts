// The SQL that the systems we learnt from wrote about their jobs, as they wrote it, on a database that a real worker
// filled. What cannot run is listed at the end, each with its reason.
import { cancel, defineJob, defineQueues, implement, type Millrace } from 'millrace'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { jobEvent, type Setup, setup, shortLease, signal } from '../support/setup.ts'

const queues = defineQueues({ fast: { priority: 1 }, general: { priority: 7 } })
const payload = z.object({ n: z.number() })
const email = defineJob({ type: 'email', queue: queues.fast, payload })
const webhook = defineJob({ type: 'webhook', queue: queues.fast, payload })
const analysis = defineJob({ type: 'analysis', queue: queues.general, payload, retry: { backoff: () => 3_600_000 } })
const elevation = defineJob({
  type: 'elevation',
  queue: queues.general,
  payload,
  retry: { attempts: 2, backoff: () => 0 },
})
const jobs = [email, webhook, analysis, elevation]

let t: Setup
let client: pg.Client
let ids: Awaited<ReturnType<typeof tellStory>>
const release = signal()

const handlersOf = (web: Millrace) => [
  implement(email, async ({ n }) => {
    if (n === 4) return cancel('nobody to write to')
    await web.enqueue(elevation, { n: 7 }, { tenant: 'org_456' })
    return { sent: true }
  }),
  implement(webhook, () => release.promise),
  implement(analysis, () => {
    throw new Error('no data yet')
  }),
  implement(elevation, () => {
    throw new Error('no such height')
  }),
]

/** One job in every status. The e-mail of user-action-123 causes the elevation job that dies as dead letter 123. */
async function tellStory() {
  await t.sql('alter table millrace.dead_letter_jobs alter column id restart with 123')
  const web = t.client(jobs)
  const { id: completed } = await web.enqueue(email, { n: 1 }, { correlationId: 'user-action-123', createdBy: 'ann' })
  const { id: failed } = await web.enqueue(analysis, { n: 2 }, { dedupKey: 'analysis-12345', tenant: 'org_123' })
  const { id: processing } = await web.enqueue(webhook, { n: 3 })
  const { id: abandoned } = await web.enqueue(analysis, { n: 8 })
  const { id: stopped } = await web.enqueue(email, { n: 4 })
  // All of them have waited for a minute.
  await t.sql(`update millrace.job set created_at = created_at - interval '1 min', run_at = run_at - interval '1 min'`)
  const { id: pending } = await web.enqueue(email, { n: 5 }, { delay: '1d', priority: 50 })
  const { id: cancelled } = await web.enqueue(email, { n: 6 }, { delay: '1d' })
  await web.cancel(cancelled, { by: 'ann', reason: 'changed my mind' })

  const millrace = t.client(jobs)
  const happened = Promise.all([
    jobEvent(millrace, 'job_completed', completed),
    jobEvent(millrace, 'job_retry_scheduled', failed),
    jobEvent(millrace, 'job_retry_scheduled', abandoned),
    jobEvent(millrace, 'job_started', processing),
    jobEvent(millrace, 'job_cancelled', stopped),
    millrace.events.next('job_died'),
  ])
  const worker = await millrace.work({ handlers: handlersOf(web), lease: shortLease })
  await happened
  await web.cancel(abandoned, { by: 'ann' })
  const [letter] = await t.sql<{ job_id: string }>('select job_id from millrace.dead_letter_jobs')
  // It has been running for two hours: more than the recipe for stuck jobs allows.
  await t.sql(`update millrace.job set started_at = now() - interval '2 hours' where id = $1`, [processing])
  const [host] = await t.sql<{ host: string }>('select host from millrace.worker where id = $1', [worker.id])
  const dead = `${letter?.job_id}`
  return { pending, processing, failed, completed, cancelled, abandoned, stopped, dead, host: host?.host }
}

beforeAll(async () => {
  t = await setup()
  ids = await tellStory()
  client = new pg.Client({ connectionString: t.url, options: '-c search_path=millrace,public' })
  await client.connect()
})

afterAll(async () => {
  release.resolve()
  await client.end()
  await t[Symbol.asyncDispose]()
})

const query = async (text: string) => (await client.query(text)).rows

describe('circuit breakers', () => {
  test('check and reset', async () => {
    await client.query(
      `insert into circuit_breakers (service_name, state, failure_count) values ('email-service', 'open', 5)`,
    )
    expect(await query('SELECT * FROM circuit_breakers;')).toMatchObject([
      {
        service_name: 'email-service',
        state: 'open',
        failure_count: 5,
        success_count: 0,
        last_failure_at: null,
        opened_at: null,
        half_opened_at: null,
        updated_at: expect.any(Date),
      },
    ])
    await query(`
      UPDATE circuit_breakers
      SET state = 'closed', failure_count = 0, success_count = 0
      WHERE service_name = 'email-service';`)
    expect(await t.client(jobs).breakers.get('email-service')).toMatchObject({ state: 'closed', failureCount: 0 })
  })
})

describe('health', () => {
  test('SELECT * FROM job_queue_health', async () => {
    const rows = await query(`SELECT * FROM job_queue_health ORDER BY type, status;`)
    expect(rows).toMatchObject([
      { type: 'analysis', status: 'failed', count: '1', due: '0', due_since: null },
      { type: 'elevation', status: 'dead', count: '1', due: '0', running_since: null },
      { type: 'email', status: 'pending', count: '1', due: '0' },
      { type: 'webhook', status: 'processing', count: '1', running_since: expect.any(Date) },
    ])
  })

  test('stuck jobs', async () => {
    const rows = await query(`
      SELECT id, type, status, attempts, created_at, started_at
      FROM jobs
      WHERE status = 'processing'
        AND started_at < NOW() - INTERVAL '1 hour';`)
    expect(rows).toEqual([
      {
        id: ids.processing,
        type: 'webhook',
        status: 'processing',
        attempts: 1,
        created_at: expect.any(Date),
        started_at: expect.any(Date),
      },
    ])
  })

  test('recent failures by type are those that will be retried', async () => {
    const rows = await query(`
      SELECT type, COUNT(*) as failures, MAX(last_error_at) as latest_failure
      FROM jobs
      WHERE status = 'failed'
        AND last_error_at > NOW() - INTERVAL '1 hour'
      GROUP BY type;`)
    expect(rows).toEqual([{ type: 'analysis', failures: '1', latest_failure: expect.any(Date) }])
  })

  test('performance metrics count each execution once', async () => {
    const rows = await query(`
      SELECT job_type,
             AVG(duration_ms) as avg_duration,
             MAX(duration_ms) as max_duration,
             COUNT(*) as total_jobs
      FROM job_metrics
      WHERE recorded_at > NOW() - INTERVAL '24 hours'
      GROUP BY job_type;`)
    const totals = Object.fromEntries(rows.map((row) => [row.job_type, row.total_jobs]))
    // Two e-mails ran, one of them to be cancelled; two analyses failed once, elevation twice; the webhook has not ended.
    expect(totals).toEqual({ email: '2', analysis: '2', elevation: '2' })
    for (const row of rows) expect(Number(row.max_duration)).toBeGreaterThanOrEqual(Number(row.avg_duration))
  })
})

describe('dead letters', () => {
  test('those nobody has acknowledged', async () => {
    const rows = await query(`
      SELECT id,
             original_job->>'type' as job_type,
             original_job->>'correlation_id' as correlation_id,
             error_message,
             died_at
      FROM dead_letter_jobs
      WHERE acknowledged = false
      ORDER BY died_at DESC;`)
    expect(rows).toEqual([
      {
        id: '123',
        job_type: 'elevation',
        correlation_id: 'user-action-123',
        error_message: 'no such height',
        died_at: expect.any(Date),
      },
    ])
  })

  test('the failure chain, with its cast corrected: written as ->> … ::uuid it can run in no schema', async () => {
    await expect(query(`SELECT original_job->>'correlation_id'::uuid FROM dead_letter_jobs`)).rejects.toThrow(/uuid/)
    const rows = await query(`
      SELECT * FROM jobs
      WHERE correlation_id = (
        SELECT (original_job->>'correlation_id')
        FROM dead_letter_jobs
        WHERE id = 123
      )
      ORDER BY created_at;`)
    expect(rows).toMatchObject([
      { id: ids.completed, type: 'email', status: 'completed', attempts: 1, created_by: 'ann', parent_job_id: null },
      { id: ids.dead, type: 'elevation', status: 'dead', attempts: 2, parent_job_id: ids.completed },
    ])
  })
})

describe('operations', () => {
  test('what is being processed, while workers are stopped', async () => {
    const rows = await query(`SELECT status, COUNT(*) FROM jobs WHERE status='processing' GROUP BY status`)
    expect(rows).toEqual([{ status: 'processing', count: '1' }])
  })

  test('what is left, while the queue is drained', async () => {
    const rows = await query(`
      SELECT type, status, COUNT(*)
      FROM jobs
      WHERE status IN ('pending', 'processing')
      GROUP BY type, status;`)
    expect(rows.sort((a, b) => a.type.localeCompare(b.type))).toEqual([
      { type: 'email', status: 'pending', count: '1' },
      { type: 'webhook', status: 'processing', count: '1' },
    ])
  })

  test('the full trace of a user action', async () => {
    const rows = await query(`
      WITH job_trace AS (
        SELECT 'job' as source, id, type, status, created_at,
               completed_at, error_message, attempts
        FROM jobs
        WHERE correlation_id = 'user-action-123'

        UNION ALL

        SELECT 'metric' as source, id, job_type as type,
               status, recorded_at as created_at,
               NULL as completed_at, NULL as error_message,
               NULL as attempts
        FROM job_metrics
        WHERE correlation_id = 'user-action-123'
      )
      SELECT * FROM job_trace ORDER BY created_at;`)
    const told = rows.map(({ source, id, status }) => ({ source, id, status }))
    expect(told[0]).toEqual({ source: 'job', id: ids.completed, status: 'completed' })
    expect(told.filter(({ source }) => source === 'job')).toHaveLength(2)
    // The e-mail's end and the start of what it enqueued may be written in either order.
    expect(told.filter(({ source }) => source === 'metric')).toEqual(
      expect.arrayContaining([
        { source: 'metric', id: ids.completed, status: 'completed' },
        { source: 'metric', id: ids.dead, status: 'failed' },
      ]),
    )
    expect(told).toHaveLength(5)
    expect(rows.find(({ status, source }) => status === 'dead' && source === 'job')).toMatchObject({
      error_message: 'no such height',
      attempts: 2,
      completed_at: null,
    })
    expect(rows[0].completed_at).toBeInstanceOf(Date)
  })
})

describe('the views', () => {
  test('jobs has every job once, in its status, with the attempts that were started', async () => {
    const rows = await query('select id, status, attempts from jobs order by id')
    expect(rows).toEqual(
      [
        { id: ids.completed, status: 'completed', attempts: 1 },
        { id: ids.failed, status: 'failed', attempts: 1 },
        { id: ids.processing, status: 'processing', attempts: 1 },
        { id: ids.abandoned, status: 'cancelled', attempts: 1 },
        { id: ids.stopped, status: 'cancelled', attempts: 1 },
        { id: ids.pending, status: 'pending', attempts: 0 },
        { id: ids.cancelled, status: 'cancelled', attempts: 0 },
        { id: ids.dead, status: 'dead', attempts: 2 },
      ].sort((a, b) => Number(a.id) - Number(b.id)),
    )
  })

  test('jobs says what became of a job, and when', async () => {
    const [failed] = await query(`select * from jobs where id = ${ids.failed}`)
    expect(failed).toMatchObject({ dedup_key: 'analysis-12345', tenant: 'org_123', last_error: 'no data yet' })
    expect(failed.error_message).toBe(failed.last_error)
    expect(failed.run_at.getTime()).toBeGreaterThan(Date.now())
    expect(failed.scheduled_at).toEqual(failed.run_at)
    const [done] = await query(`select * from jobs where id = ${ids.completed}`)
    expect(done).toMatchObject({ result: { sent: true }, completed_at: done.finished_at, updated_at: done.finished_at })
    const [cancelled] = await query(`select * from jobs where id = ${ids.cancelled}`)
    expect(cancelled).toMatchObject({ reason: 'changed my mind', completed_at: null, started_at: null })
    expect(cancelled.finished_at).toBeInstanceOf(Date)
  })

  test('job_metrics tells how long each execution waited, also after it was scheduled anew', async () => {
    const rows = await query('select * from job_metrics order by recorded_at, attempt')
    const of = (id: string) => rows.filter((row) => row.id === id)
    expect(of(ids.completed)).toMatchObject([{ status: 'completed', attempt: 1, queue: 'fast' }])
    expect(of(ids.stopped)).toMatchObject([{ status: 'cancelled', attempt: 1 }])
    expect(of(ids.failed)).toMatchObject([{ status: 'failed', attempt: 1, queue: 'general' }])
    expect(of(ids.dead)).toMatchObject([
      { status: 'failed', attempt: 1, correlation_id: 'user-action-123' },
      { status: 'failed', attempt: 2, correlation_id: 'user-action-123' },
    ])
    // Cancelled while it waited for its second attempt: the first one is all it had.
    expect(of(ids.abandoned)).toMatchObject([{ status: 'failed', attempt: 1 }])
    expect(rows).toHaveLength(6)
    for (const id of [ids.completed, ids.stopped, ids.failed, ids.abandoned]) {
      expect(Number(of(id)[0].queue_time_ms)).toBeGreaterThanOrEqual(60_000)
    }
    for (const row of of(ids.dead)) {
      expect(Number(row.queue_time_ms)).toBeGreaterThanOrEqual(0)
      expect(Number(row.queue_time_ms)).toBeLessThan(60_000)
    }
    for (const row of rows) expect(Number(row.duration_ms)).toBeGreaterThanOrEqual(0)
    // A run_id is one per claim, so it takes both to name an execution.
    expect(new Set(rows.map((row) => `${row.id} ${row.run_id}`)).size).toBe(6)
  })

  test('delayed_jobs has the live jobs, and says who holds one', async () => {
    const rows = await query('select * from delayed_jobs order by id')
    expect(rows.map((row) => row.id)).toEqual([ids.failed, ids.processing, ids.pending])
    expect(rows).toMatchObject([
      { job_type: 'analysis', queue: 'general', priority: 7, locked_at: null, locked_by: null, attempts: 1 },
      { job_type: 'webhook', locked_at: expect.any(Date), locked_by: ids.host, attempts: 1, payload: { n: 3 } },
      { job_type: 'email', priority: 50, locked_at: null, attempts: 0, max_attempts: 5, last_error: null },
    ])
  })

  test('delayed_jobs_dlq keeps what the dead job was', async () => {
    expect(await query('select * from delayed_jobs_dlq')).toMatchObject([
      {
        id: ids.dead,
        dead_letter_id: '123',
        job_type: 'elevation',
        queue: 'general',
        priority: 7,
        payload: { n: 7 },
        scheduled_at: expect.any(Date),
        attempts: 2,
        max_attempts: 2,
        last_error: 'no such height',
        created_at: expect.any(Date),
        failed_at: expect.any(Date),
        reason: 'exhausted',
        status: 'pending',
      },
    ])
  })

  test('background_job_dlq counts retries after the first attempt, and capitalises its statuses', async () => {
    const rows = await query(`select * from background_job_dlq where status = 'Pending'`)
    expect(rows).toEqual([
      {
        name: '123',
        job_id: ids.dead,
        job_method: 'elevation',
        organization: 'org_456',
        queue: 'general',
        failure_reason: 'no such height',
        job_data: { n: 7 },
        failed_at: expect.any(Date),
        retry_count: 1,
        status: 'Pending',
        resolution_notes: null,
      },
    ])
    for (const [stored, shown] of Object.entries({ retried: 'Retried', resolved: 'Resolved', ignored: 'Ignored' })) {
      await client.query('begin')
      await client.query('update dead_letter_jobs set status = $1', [stored])
      const found = await query(`select status from background_job_dlq where status = '${shown}'`)
      await client.query('rollback')
      expect(found).toEqual([{ status: shown }])
    }
  })
})

describe('columns', () => {
  const named: Record<string, string> = {
    jobs: `id type payload status priority attempts max_attempts scheduled_at run_at started_at completed_at error_message
      last_error last_error_at correlation_id parent_job_id created_by dedup_key created_at updated_at`,
    dead_letter_jobs: `id original_job error_message error_details correlation_id died_at acknowledged acknowledged_by
      acknowledged_at`,
    job_metrics: 'id job_type status duration_ms queue_time_ms correlation_id recorded_at',
    delayed_jobs: `id queue job_type priority payload scheduled_at locked_at locked_by attempts max_attempts last_error
      created_at`,
    delayed_jobs_dlq: `id queue job_type priority payload scheduled_at locked_at locked_by attempts max_attempts
      last_error created_at`,
    background_job_dlq: `name job_id job_method organization queue failure_reason job_data failed_at retry_count status
      resolution_notes`,
  }

  test.each(Object.entries(named))('%s has them all', async (relation, columns) => {
    const { fields } = await client.query(`select * from ${relation} limit 0`)
    expect(fields.map((field) => field.name)).toEqual(expect.arrayContaining(columns.split(/\s+/)))
  })

  test('the statuses of jobs are those that people know, and two of ours', async () => {
    const rows = await query('select distinct status from jobs')
    const words = ['pending', 'processing', 'completed', 'failed', 'dead', 'blocked', 'cancelled']
    expect(words).toEqual(expect.arrayContaining(rows.map((row) => row.status)))
  })
})

/**
 * Their `create table` and `create index` statements are not run: ours is one store, and the columns are compared above.
 * When one of these tables comes to exist, its statements belong among the recipes, and this list gets shorter.
 */
const exceptions: { relation: string; why: string; statements: string[] }[] = [
  {
    relation: 'rss_sources',
    why: 'data of the news workload, not of the job store',
    statements: [
      `SELECT id, name, url, last_fetched_at, refresh_interval_minutes FROM rss_sources WHERE is_active = true AND (last_fetched_at IS NULL OR last_fetched_at + (refresh_interval_minutes || ' minutes')::interval < NOW()) ORDER BY last_fetched_at NULLS FIRST;`,
      `UPDATE rss_sources SET error_count = 0, last_error_message = NULL, is_active = true, updated_at = NOW() WHERE id = 'uuid-of-source';`,
    ],
  },
  {
    relation: 'feed_items',
    why: 'data of the news workload, not of the job store',
    statements: [
      'SELECT COUNT(*) FROM feed_items WHERE ai_tagged = false;',
      `SELECT jsonb_array_elements_text(ai_tags->'categories') AS category, COUNT(*) AS count FROM feed_items WHERE ai_tagged = true AND ai_tags IS NOT NULL GROUP BY category ORDER BY count DESC;`,
    ],
  },
  {
    relation: 'ai_usage_tracking',
    why: 'what the budget reads; it comes with the budgets, and writing to it resets one',
    statements: [
      `UPDATE ai_usage_tracking SET estimated_cost_cents = 0, total_requests = 0, total_tokens_input = 0, total_tokens_output = 0, updated_at = NOW() WHERE month = DATE_TRUNC('month', CURRENT_DATE) AND provider = 'anthropic';`,
    ],
  },
]

test.each(exceptions)('$relation is an exception while it does not exist: $why', async ({ relation, statements }) => {
  for (const statement of statements) {
    await expect(query(statement)).rejects.toThrow(`relation "${relation}" does not exist`)
  }
})
