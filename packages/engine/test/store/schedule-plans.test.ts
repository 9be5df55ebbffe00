// What every worker asks once a minute, and what every tick does, must not grow with the history of ticks.
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshDatabase } from '../support/database.ts'
import { planOf } from '../support/plans.ts'

let database: Awaited<ReturnType<typeof freshDatabase>>
let client: pg.Client

beforeAll(async () => {
  database = await freshDatabase()
  client = new pg.Client(database.url)
  await client.connect()
  await client.query('alter table millrace.schedule_tick set (autovacuum_enabled = off)')
  await client.query(
    `insert into millrace.schedule (name, job_type, source, cadence, timing, options, next_at, created_at, updated_at, updated_by)
     select 's' || g, 'report', 'runtime', '{}', '{}', '{}', now() + g * interval '1 minute', now(), now(), 'test'
     from generate_series(1, 1000) as g`,
  )
  await client.query(
    `insert into millrace.schedule_tick (schedule, fire_at, origin, outcome, job_id, jobs, lateness_ms, at)
     select 's' || (g % 1000 + 1), now() - g * interval '1 second', 'due', 'enqueued', g, 1, 5, now() - g * interval '1 second'
     from generate_series(1, 100000) as g`,
  )
}, 60_000)

afterAll(async () => {
  await client.end()
  await database.drop()
})

describe.each(['without statistics', 'with statistics'])('%s', (statistics) => {
  beforeAll(async () => {
    if (statistics === 'with statistics') await client.query('analyze')
  })

  const later = new Date('2040-01-01')
  test.each([
    ['scheduleLook', [null, '{}', '{report}', randomUUID(), 100, '{}', '{}'], 300],
    ['scheduleAdvance', [null, 's7', 1, later, later, null, null, 0], 120],
    ['scheduleTicks', ['s7', 20], 60],
    ['scheduleRecentJobs', ['{s1,s2,s3}', 5], 60],
    ['scheduleTicked', ['s7', new Date('2020-01-01'), new Date('2020-02-01')], 60],
    ['scheduleTickPrune', [null, 30 * 86_400_000, 5_000], 60],
  ] as const)('%s reads little', async (statement, values, most) => {
    const plan = await planOf(client, statement, values)
    expect(plan.buffers).toBeLessThan(most)
    expect(plan.scans).not.toContain('schedule_tick')
  })
})
