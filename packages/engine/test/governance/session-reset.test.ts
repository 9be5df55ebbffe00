import { defineJob, defineQueues, type Handler, implement, type JobContext, type Queryable } from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Database } from '#src/store/db'
import { setup } from '../support/setup.ts'
import { tenants } from '../support/tenants.ts'

const queues = defineQueues({ default: {} })
const leave = defineJob({ type: 'leave', queue: queues.default, payload: z.object({ sql: z.string() }) })
const look = defineJob({ type: 'look', queue: queues.default, payload: z.object({}) })
const forA = { tenant: 'a', maxAttempts: 1 }
const forB = { tenant: 'b', maxAttempts: 1 }

const STATE = `select current_setting('search_path') as search_path, current_setting('statement_timeout') as statement_timeout,
  current_setting('client_encoding') as client_encoding, coalesce(current_setting('app.who', true), '') as who,
  to_regclass('pg_temp.notes') is null as is_without_temp,
  (select count(*)::int from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()) as locks,
  (select count(*)::int from pg_cursors where name = 'kept') as cursors,
  pg_backend_pid() as pid`

type Way = 'ctx.tenantDb' | 'ctx.transaction'
const through = (way: Way, ctx: JobContext, work: (tx: Queryable) => Promise<unknown>) =>
  way === 'ctx.tenantDb' ? ctx.tenantDb(work) : ctx.transaction(work)

async function working(way: Way, leaving: Handler<typeof leave>) {
  const t = await tenants()
  const { millrace } = await t.working([
    implement(leave, leaving),
    implement(look, (_, ctx) => through(way, ctx, async (tx) => (await tx.query(STATE)).rows[0])),
  ])
  const stateFor = async () => {
    const { id } = await millrace.enqueue(look, {}, forB)
    return ((await millrace.result(id)) as unknown as { result: { pid: number } }).result
  }
  return { ...t, millrace, stateFor }
}

describe.each<Way>(['ctx.tenantDb', 'ctx.transaction'])('a job’s session after %s', (way) => {
  test.each([
    `set search_path = other`,
    `set statement_timeout = '7s'`,
    `set app.who = 'a'`,
    `create temporary table notes as select * from task`,
    `select pg_advisory_lock(4711)`,
    `declare kept cursor with hold for select title from task`,
    `set constraints all deferred; set client_encoding = 'LATIN1'`,
  ])('the next job finds nothing of %j', async (sql) => {
    await using t = await working(way, ({ sql }, ctx) =>
      through(way, ctx, async (tx) => {
        await tx.query(sql)
        return 'done'
      }),
    )
    const before = await t.stateFor()
    const { id } = await t.millrace.enqueue(leave, { sql }, forA)
    expect(await t.millrace.result(id)).toMatchObject({ status: 'completed' })
    // The same connection: a new one would be clean without anybody's doing.
    expect(await t.stateFor()).toEqual(before)
  })

  test('a constraint trigger that waits for the commit still sees the settings, and its failure is the job’s', async () => {
    await using t = await working(way, (_, ctx) =>
      through(way, ctx, async (tx) => {
        await tx.query(`set app.who = 'seen'`)
        await tx.query(`insert into late values (1)`)
      }),
    )
    await t.sql(`create table late (id int)`)
    await t.sql(`grant insert on late to ${t.role}`)
    await t.sql(`create function refuse() returns trigger language plpgsql as
      $$begin raise check_violation using message = 'refused: ' || current_setting('app.who'); end$$`)
    await t.sql(`create constraint trigger late after insert on late deferrable initially deferred
      for each row execute function refuse()`)
    const { id } = await t.millrace.enqueue(leave, { sql: '' }, forA)
    expect(await t.millrace.result(id)).toMatchObject({
      status: 'dead',
      error: expect.stringContaining('refused: seen'),
    })
  })
})

test('a job that set another role for the session leaves the login’s own to the next one', async () => {
  await using t = await working('ctx.transaction', (_, ctx) =>
    ctx.transaction(async (tx) => {
      await tx.query(`set role ${t.role}`)
      await tx.query('set local role none')
    }),
  )
  const { pid } = await t.stateFor()
  const { id } = await t.millrace.enqueue(leave, { sql: '' }, forA)
  expect(await t.millrace.result(id)).toMatchObject({ status: 'completed' })
  expect(await t.stateFor()).toMatchObject({ pid })
})

test('plans that a connection keeps for the engine survive the reset', async () => {
  await using t = await setup()
  const db = new Database({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections: 1 })
  try {
    const read = () => db.tuples('tenantJobs', ['a'], { keepsPlan: true })
    await read()
    await db.transaction((tx) => tx.query(`set search_path = other`))
    expect(await read()).toEqual([])
    const { rows } = await db.transaction((tx) => tx.query('select from pg_prepared_statements'))
    expect(rows).toHaveLength(1)
  } finally {
    await db.close()
  }
})

test('a session is clean after a rollback that came too late for what it should take back', async () => {
  await using t = await setup()
  const db = new Database({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections: 1 })
  const state = () => db.transaction(async (tx) => (await tx.query(STATE)).rows[0])
  try {
    const before = await state()
    const left = db.transaction(async (tx) => {
      await tx.query(`set search_path = other; commit; create temporary table notes (id int)`)
      throw new TypeError('too late')
    })
    await expect(left).rejects.toThrow('too late')
    expect(await state()).toEqual(before)
  } finally {
    await db.close()
  }
})
