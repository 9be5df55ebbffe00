import { defineJob, defineQueues } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { Database } from '#src/store/db'
import { eventually, setup } from '../support/setup.ts'

const task = defineJob({ type: 'task', queue: defineQueues({ default: {} }).default, payload: z.object({}) })
const GATE = 4_711

test('a job that a living worker has claimed since is not taken from it', async () => {
  await using t = await setup()
  const db = new Database({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections: 1 })
  const text = db.text('jobOrphans')
  await db.close()
  // The statement waits at a gate after its snapshot was taken and before it reads a job.
  const gated = text.replace(
    "where job.status = 'processing'",
    `where (select pg_advisory_xact_lock(${GATE})::text) is not null and job.status = 'processing'`,
  )
  expect(gated).not.toBe(text)
  const newWorker = async (isEnded: boolean) => {
    const [row] = await t.sql<{ id: string }>(
      `insert into millrace.worker values (gen_random_uuid(), 'h', 1, '0', '{}', now(), now(), now() + interval '1 hour',
         case when $1 then now() end) returning id`,
      [isEnded],
    )
    return row?.id
  }
  const running = `update millrace.job set status = 'processing', run_id = gen_random_uuid(), worker_id = $1`
  const { id } = await t.client([task]).enqueue(task, {})
  await t.sql(running, [await newWorker(true)])
  expect((await t.sql(text, [10])).map((row) => row.id)).toEqual([id])

  const gate = await t.pool.connect()
  await gate.query('select pg_advisory_lock($1)', [GATE])
  const open = () => gate.query('select pg_advisory_unlock($1)', [GATE])
  const orphans = t.sql(gated, [10])
  await eventually(async () => {
    const [waiting] = await t.sql(`select from pg_locks where locktype = 'advisory' and not granted`)
    return waiting !== undefined
  })
  // Another rescuer was faster, and the job runs again.
  await t.sql(running, [await newWorker(false)])
  await open()
  gate.release()
  expect(await orphans).toEqual([])
})
