import type { Logger, MillraceEvents } from 'millrace'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { Events } from '#src/events'
import { Loop } from '#src/maintenance/loop'
import { TableKeeper } from '#src/maintenance/table-keeper'
import { Database } from '#src/store/db'
import { upkeepClaim } from '#src/store/upkeep'
import { setup as base, eventually, silent } from '../support/setup.ts'

const DEAD = 12_000
/** What autovacuum does beside it holds its snapshots for less. */
const OLD_MS = 300
/** Enough for job_pkey and the claim's indexes to pass eight megabytes. */
const BURST = 400_000

/** A database whose autovacuum leaves millrace.job alone, and pods that look after it. */
async function setup() {
  const t = await base()
  await t.sql('alter table millrace.job set (autovacuum_enabled = off)')
  const opened: Database[] = []
  const sessions: pg.Client[] = []
  const open = (url: string) => (maxConnections: number) => {
    const db = new Database({ connection: { connectionString: url }, schema: 'millrace', maxConnections })
    opened.push(db)
    return db
  }

  return {
    ...t,

    /** A process, as far as tables are concerned. `heard`: its events. `warned`: its log. */
    pod({ url = t.url, oldSnapshotMs = 60_000 } = {}) {
      const events = new Events()
      const heard: [string, object][] = []
      const names = ['table_bloated', 'vacuum_done', 'vacuum_blocked', 'index_rebuilt'] as const
      for (const name of names) events.on(name, (facts) => void heard.push([name, facts]))
      const warned: [object, string][] = []
      const logger: Logger = { ...silent, warn: (facts, message) => void warned.push([facts, message]) }
      const services = { db: open(url)(3), events, logger, open: open(url), oldSnapshotMs }
      return { keeper: new TableKeeper(services), db: services.db, events, heard, warned }
    },

    /** One statement at a time on one connection, whose counts are known at once. */
    async write(...statements: string[]) {
      const client = await t.pool.connect()
      for (const statement of statements) {
        await client.query(statement)
        await client.query('select pg_stat_force_next_flush()')
      }
      client.release()
    },

    /** A session that does not let go of what it has seen, and has not for longer than the others around. */
    async snapshot() {
      const client = new pg.Client({ connectionString: t.url, application_name: 'nightly report' })
      sessions.push(client)
      await client.connect()
      await client.query('begin isolation level repeatable read')
      const { rows } = await client.query('select pg_backend_pid() as pid, count(*) from millrace.job')
      const { pid } = rows[0] as { pid: number }
      const held = `select from pg_stat_activity where pid = ${pid} and clock_timestamp() - xact_start > '${OLD_MS}ms'`
      await eventually(async () => (await t.sql(held)).length === 1)
      return {
        pid,
        /** Resolves when the server has forgotten it. */
        async close() {
          await client.end()
          await eventually(async () => (await t.sql(`select from pg_stat_activity where pid = ${pid}`)).length === 0)
        },
      }
    },

    async sizes() {
      const rows = await t.sql<{ name: string; bytes: number }>(
        `select relname as name, pg_relation_size(oid)::int as bytes from pg_class
         where relkind = 'i' and oid in (select indexrelid from pg_index where indrelid = 'millrace.job'::regclass)`,
      )
      return new Map(rows.map(({ name, bytes }) => [name, bytes]))
    },

    async [Symbol.asyncDispose]() {
      await Promise.all([...opened.map((db) => db.close()), ...sessions.map((client) => client.end())])
      await t[Symbol.asyncDispose]()
    },
  }
}

const jobs = (count: number) =>
  `insert into millrace.job (type, queue, priority, run_at, max_attempts, payload, created_at, updated_at)
   select 'task', 'default', 5, now() + g * interval '1 second', 5, '{}', now(), now() from generate_series(1, ${count}) as g`
const churn = [jobs(DEAD), 'delete from millrace.job where id > 100']
/** A burst that is over, and was cleaned up after: pages and index pages stay. */
const burst = [jobs(BURST), 'delete from millrace.job where id % 1000 <> 0', 'vacuum millrace.job']

describe('dead rows', () => {
  test('that autovacuum does not come for are removed, once', async () => {
    await using t = await setup()
    const { keeper, heard, warned } = t.pod()
    await t.write(...churn)
    expect(await keeper.tick()).toEqual({ vacuumed: ['job'], rebuilt: [] })
    expect(heard).toEqual([
      [
        'table_bloated',
        expect.objectContaining({ table: 'job', deadRows: DEAD - 100, liveRows: 100, mayRepair: true }),
      ],
      ['vacuum_done', expect.objectContaining({ table: 'job', deadRowsBefore: DEAD - 100, deadRowsAfter: 0 })],
    ])
    expect(await keeper.tick()).toEqual({ vacuumed: [], rebuilt: [] })
    expect(heard).toHaveLength(2)
    expect(warned).toEqual([])
  })

  test('below the bound are left to autovacuum', async () => {
    await using t = await setup()
    const { keeper, heard } = t.pod()
    await t.write(jobs(9_000), 'delete from millrace.job')
    expect(await keeper.tick()).toEqual({ vacuumed: [], rebuilt: [] })
    expect(heard).toEqual([])
  })

  test('are removed by one of two pods that look at the same time', async () => {
    await using t = await setup()
    const pods = [t.pod(), t.pod(), t.pod()]
    await t.write(...churn)
    const results = await Promise.all(pods.map(({ keeper }) => keeper.tick()))
    expect(results.flatMap(({ vacuumed }) => vacuumed)).toEqual(['job'])
    const [counted] = await t.sql(`select vacuum_count::int from pg_stat_user_tables where relname = 'job'`)
    expect(counted).toEqual({ vacuum_count: 1 })
  })

  test('that came back within minutes are not removed again: the next vacuum has to wait', async () => {
    await using t = await setup()
    const { keeper } = t.pod()
    await t.write(...churn)
    await keeper.tick()
    await t.write(...churn)
    expect(await keeper.tick()).toEqual({ vacuumed: [], rebuilt: [] })
  })

  test('under an old snapshot are not removed, and its holder is named until it is gone', async () => {
    await using t = await setup()
    const { keeper, heard, warned } = t.pod({ oldSnapshotMs: OLD_MS })
    await t.write(jobs(DEAD))
    const snapshot = await t.snapshot()
    await t.write('delete from millrace.job')
    const holder = {
      kind: 'session',
      pid: snapshot.pid,
      name: 'nightly report',
      state: 'idle in transaction',
      heldMs: expect.any(Number),
    }
    await keeper.tick()
    expect(heard.at(-1)).toEqual(['vacuum_blocked', { table: 'job', deadRows: DEAD, holder }])
    expect(warned).toEqual([
      [expect.objectContaining({ holder }), 'an old snapshot keeps dead rows from being removed'],
    ])
    const count = heard.length
    expect(await keeper.tick()).toEqual({ vacuumed: [], rebuilt: [] })
    expect(heard).toHaveLength(count)

    await snapshot.close()
    await t.sql(`update millrace.upkeep set started_at = started_at - interval '10 minutes'`)
    await t.sql(`select pg_stat_reset_single_table_counters('millrace.job'::regclass)`)
    await t.write(...churn)
    expect(await keeper.tick()).toEqual({ vacuumed: ['job'], rebuilt: [] })
    expect(heard.at(-1)).toEqual(['vacuum_done', expect.objectContaining({ deadRowsAfter: 0 })])
  })

  test('of a table that another role owns are reported, and that it may not be cleaned, once', async () => {
    await using t = await setup()
    const [{ role } = { role: '' }] = await t.sql<{ role: string }>(`select 'keeper_' || current_database() as role`)
    await t.sql(`create role ${role} login password 'p'`)
    await t.sql(`grant usage on schema millrace to ${role}`)
    await t.sql(`grant select, insert, update, delete on all tables in schema millrace to ${role}`)
    const url = new URL(t.url)
    url.username = role
    url.password = 'p'
    const { keeper, db, heard, warned } = t.pod({ url: url.href })
    await t.write(...churn)
    expect(await keeper.tick()).toEqual({ vacuumed: [], rebuilt: [] })
    await keeper.tick()
    expect(heard).toEqual([['table_bloated', expect.objectContaining({ mayRepair: false })]])
    expect(warned).toEqual([[{ table: 'job' }, 'this role may not repair a table that needs it']])
    await db.close()
    await t.sql(`drop owned by ${role}`)
    await t.sql(`drop role ${role}`)
  })
})

describe('an index that a burst has left large', () => {
  test('is rebuilt in a quiet moment, one at a time and one an hour, by one of the pods', async () => {
    await using t = await setup()
    const pods = [t.pod(), t.pod()]
    await t.write(...burst)
    const before = await t.sizes()
    const tick = async () =>
      (await Promise.all(pods.map(({ keeper }) => keeper.tick()))).flatMap((each) => each.rebuilt)
    // Whether it is quiet is known from the second look on.
    expect(await tick()).toEqual([])
    const [first] = await tick()
    expect(first).toMatch(/^job_/)
    expect((await t.sizes()).get(first as string)).toBeLessThan((before.get(first as string) as number) / 10)
    expect(await tick()).toEqual([])
    await t.sql(`update millrace.upkeep set started_at = started_at - interval '2 hours'`)
    const [second] = await tick()
    expect(second).toMatch(/^job_/)
    expect(second).not.toBe(first)
    const told = pods.flatMap(({ heard }) => heard).filter(([name]) => name === 'index_rebuilt')
    const indexes = told.map(([, facts]) => (facts as MillraceEvents['index_rebuilt']).index)
    expect(new Set(indexes)).toEqual(new Set([first, second]))
  }, 60_000)

  test('stays as it is while much is written, or while an old snapshot would hold the rebuild up', async () => {
    await using t = await setup()
    const { keeper } = t.pod({ oldSnapshotMs: OLD_MS })
    await t.write(...burst)
    await keeper.tick()
    await t.write(jobs(5_000), 'delete from millrace.job where id > 400000', 'vacuum millrace.job')
    expect(await keeper.tick()).toEqual({ vacuumed: [], rebuilt: [] })
    const snapshot = await t.snapshot()
    expect(await keeper.tick()).toEqual({ vacuumed: [], rebuilt: [] })
    expect(await t.sql('select from millrace.upkeep')).toEqual([])
    await snapshot.close()
    expect((await keeper.tick()).rebuilt).toHaveLength(1)
  }, 60_000)

  test('that a rebuild was cut off at leaves nothing behind for long', async () => {
    await using t = await setup()
    const { keeper, events } = t.pod()
    await t.write(...burst)
    await keeper.tick()
    // A writer that does not commit: the rebuild waits for it, and the stop does not.
    const writer = await t.pool.connect()
    await writer.query('begin')
    await writer.query(`lock table millrace.job in row exclusive mode`)
    const failures: unknown[] = []
    const loop = new Loop(keeper, { onError: (_, error) => void failures.push(error) })
    loop.start()
    const leftovers = async () => [...(await t.sizes()).keys()].filter((name) => name.endsWith('_ccnew'))
    await eventually(async () => (await leftovers()).length > 0)
    await loop.stop()
    expect(failures).toEqual([])
    expect(await leftovers()).toHaveLength(1)
    await writer.query('rollback')
    writer.release()
    await t.sql(`update millrace.upkeep set started_at = started_at - interval '2 hours'`)
    const rebuilt = events.next('index_rebuilt')
    expect((await keeper.tick()).rebuilt).toHaveLength(1)
    await rebuilt
    expect(await leftovers()).toEqual([])
  }, 60_000)
})

test('a repair that was begun is nobody else’s until its interval is over', async () => {
  await using t = await setup()
  const { db } = t.pod()
  const claims = await Promise.all(Array.from({ length: 8 }, () => upkeepClaim(db, 'x', 60_000)))
  expect(claims.filter(Boolean)).toHaveLength(1)
  expect(await upkeepClaim(db, 'y', 60_000)).toBe(true)
  await t.sql(`update millrace.upkeep set started_at = now() - interval '61 s'`)
  expect(await upkeepClaim(db, 'x', 60_000)).toBe(true)
})
