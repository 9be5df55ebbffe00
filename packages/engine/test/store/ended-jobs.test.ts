// Looking for awaited jobs happens again and again, so it must stay cheap whatever else the tables hold.
import pg from 'pg'
import { expect, test } from 'vitest'
import { Database } from '#src/store/db'
import { ensurePartitions } from '#src/store/partitions'
import { planOf } from '../support/plans.ts'
import { setup } from '../support/setup.ts'

test.each(['force_custom_plan', 'force_generic_plan'])('both looks go by index under %s', async (mode) => {
  await using t = await setup()
  const db = new Database({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections: 1 })
  await ensurePartitions(db, null)
  await db.close()
  await t.sql(`insert into millrace.job (type, queue, priority, run_at, max_attempts, correlation_id, payload, created_at, updated_at)
    select 'a', 'q', 5, now(), 5, 'c', '{}', now(), now() from generate_series(1, 20000)`)
  await t.sql(`insert into millrace.job_archive (id, status, type, queue, priority, attempt, max_attempts, crashes,
      payload_version, run_at, created_at, finished_at, retention, correlation_id)
    select 100000 + g, 'completed', 'a', 'q', 5, 1, 5, 0, 1, now(), now(), now(), 'standard', 'c'
    from generate_series(1, 20000) as g`)
  await t.sql(`insert into millrace.dead_letter_jobs (job_id, type, queue, correlation_id, reason, attempts, original_job,
      error_message, died_at)
    select 200000 + g, 'a', 'q', 'c', 'exhausted', 5, '{}', 'e', now() from generate_series(1, 20000) as g`)
  await t.sql('analyze')
  const client = new pg.Client(t.url)
  await client.connect()
  await client.query(`set plan_cache_mode = ${mode}`)
  const live = await planOf(client, 'jobLive', [[50, 60, 70]])
  const ended = await planOf(client, 'jobEnded', [[100_050, 100_060, 200_070]])
  await client.end()
  // A partition that is empty may well be read whole; nothing may be read and thrown away.
  for (const plan of [live, ended]) {
    expect(plan.rows).toBe(3)
    expect(plan.discarded).toBe(0)
  }
})
