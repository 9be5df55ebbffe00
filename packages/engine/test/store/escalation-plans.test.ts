// The outbox holds 90 days of faults: looking at it every second must not read them.
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { planOf } from '../support/plans.ts'
import { type Setup, setup } from '../support/setup.ts'

let t: Setup
let client: pg.Client

beforeAll(async () => {
  t = await setup()
  client = new pg.Client(t.url)
  await client.connect()
  // 40,000 that were told and resolved, 20,000 that wait for tomorrow's digest, and 10 to send now.
  await client.query(`
    insert into millrace.escalation (kind, key, severity, created_at, channel, due_at, sent_at, resolved_at, told)
    select 'dead_job', 'dead/' || n % 100, 'error', now() - interval '1 day', 'digest', null, now(), now(), 'resolved'
    from generate_series(1, 40000) as n
    union all
    select 'dead_job', 'dead/' || n % 100, 'error', now(), 'digest', now() + interval '1 day', null, now(), null
    from generate_series(1, 20000) as n
    union all
    select 'dead_job', 'dead/' || n, 'error', now(), 'slack', null, null, null, null from generate_series(1, 10) as n`)
  await client.query('vacuum analyze millrace.escalation')
})

afterAll(async () => {
  await client.end()
  await t[Symbol.asyncDispose]()
})

test.each([
  ['escalationUnrouted', [500], 0],
  ['escalationDue', [null], 1],
  ['escalationTake', ['slack', 10_000, false, true, null, null, null], 10],
  ['escalationNews', ['digest', 500], 0],
  ['escalationSettled', [null, '0', 500], 1],
  ['escalationPostpone', ['slack', 'none', new Date().toISOString()], 0],
] as const)(
  '%s reads what it needs, and not what is settled or waits for a digest',
  async (statement, values, rows) => {
    const plan = await planOf(client, statement, values)
    expect(plan.rows).toBe(rows)
    expect(plan.scans.filter((name) => name === 'escalation')).toEqual([])
    expect(plan.buffers).toBeLessThan(400)
  },
)
