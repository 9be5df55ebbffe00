// A look at a budget, which every job makes that is charged to one, must not grow with the backlog or with what others
// have reserved, whatever the statistics say.
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { statementTexts } from '#src/store/sql.generated'
import { freshDatabase } from '../support/database.ts'
import { planOf } from '../support/plans.ts'

const RESERVED = 40
const runId = randomUUID()
let database: Awaited<ReturnType<typeof freshDatabase>>
let client: pg.Client

beforeAll(async () => {
  database = await freshDatabase()
  client = new pg.Client(database.url)
  await client.connect()
  await client.query('alter table millrace.job set (autovacuum_enabled = off)')
  await client.query('alter table millrace.budget_reservation set (autovacuum_enabled = off)')
  await client.query(
    `insert into millrace.job (id, status, type, queue, priority, run_at, attempt, max_attempts, run_id, worker_id, payload, created_at, updated_at)
     select g, case when g % 4 = 0 then 'processing' else 'pending' end, 'tag', 'q', 5, now(), 1, 5, $1, $1, '{}', now(), now()
     from generate_series(1, 100000) as g`,
    [runId],
  )
  await client.query(
    `insert into millrace.budget_reservation (job_id, run_id, id, budget, period, amount, created_at, spent_at)
     select g * 4, $1, gen_random_uuid(), case when g <= $2 then 'ai' else 'other' end, '2026-11', 1, now(),
       case when g > 10000 then now() end
     from generate_series(1, 20000) as g`,
    [runId, RESERVED],
  )
}, 60_000)

afterAll(async () => {
  await client.end()
  await database.drop()
})

const look = [new Date('2026-11-15T12:00:00Z'), '{ai}', '{month}', '{UTC}', '{100}', null]
test.each(['missing', 'fresh'] as const)(
  'a look reads only what is reserved of its budget, with %s statistics',
  async (statistics) => {
    if (statistics === 'fresh') await client.query('analyze millrace.job, millrace.budget_reservation')
    const { rows } = await client.query(statementTexts.budgetLook, look)
    expect(rows[0]).toMatchObject({ reserved: String(RESERVED), period: '2026-11' })
    const plan = await planOf(client, 'budgetLook', look)
    expect(plan.scans.filter((name) => name === 'job' || name === 'budget_reservation')).toEqual([])
    expect(plan.buffers).toBeLessThan(RESERVED * 5 + 50)
  },
)
