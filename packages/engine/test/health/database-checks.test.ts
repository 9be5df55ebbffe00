import { createMillrace, migrate } from 'millrace'
import pg from 'pg'
import { expect, test } from 'vitest'
import { Registry } from '#src/contract/registry'
import type { Patient } from '#src/health/check'
import { findingsOf } from '#src/health/check'
import { readHealth } from '#src/health/health'
import { autovacuum, connections, notifyQueue } from '#src/health/server-checks'
import { Database } from '#src/store/db'
import { declaredParts } from '#src/store/server'
import { migrationFiles } from '#src/store/sql.generated'
import { freshDatabase } from '../support/database.ts'
import { setup as base, eventually, silent } from '../support/setup.ts'

/** `look`: what one check says, and with which verdict. */
async function setup() {
  const t = await base()
  const db = new Database({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections: 2 })
  const services = { db, clock: { databaseNow: () => null }, registry: new Registry([]) }
  return {
    ...t,
    async look(check: string, limits: Parameters<typeof readHealth>[1] = {}) {
      const { findings } = await readHealth(services, limits)
      return findings.filter((finding) => finding.check === check)
    },
    async [Symbol.asyncDispose]() {
      await db.close()
      await t[Symbol.asyncDispose]()
    },
  }
}

test('a database that does not answer makes the verdict failing, and nothing throws', async () => {
  await using millrace = createMillrace({ database: 'postgres://nobody@127.0.0.1:1/none', jobs: [], logger: silent })
  const health = await millrace.health()
  expect(health).toMatchObject({ verdict: 'failing', figures: null, reasons: [{ check: 'database' }] })
  expect(health.summary).toBe('Something is failing: check database.')
  expect(health.reasons[0]?.says).toMatch(/^The database could not be read: /)
})

test('a schema that lacks migrations is failing until they are applied', async () => {
  const database = await freshDatabase({ migrated: false })
  try {
    await using millrace = createMillrace({ database: database.url, jobs: [], logger: silent })
    const before = await millrace.health()
    expect(before).toMatchObject({
      verdict: 'failing',
      reasons: [{ check: 'schema', remedy: expect.stringMatching(/millrace migrate/) }],
    })
    await migrate(database.url)
    const { findings } = await millrace.health()
    expect(findings.find(({ check }) => check === 'schema')).toMatchObject({ verdict: 'ok' })
  } finally {
    await database.drop()
  }
})

test('schema drift is named: a table or index that is gone, an invalid index, a migration of another text', async () => {
  await using t = await setup()
  expect(await t.look('schema')).toMatchObject([{ verdict: 'ok' }])
  await t.sql('drop index millrace.job_failed_idx')
  await t.sql(`update pg_index set indisvalid = false where indexrelid = 'millrace.job_suspect_idx'::regclass`)
  await t.sql(`update millrace.migration set checksum = 'x' where version = 42`)
  expect(await t.look('schema')).toMatchObject([
    {
      verdict: 'degraded',
      says: 'Migration 0042_tenant_slots was applied from another text than the one of this version.',
    },
    { verdict: 'degraded', says: 'Index "job_failed_idx" is missing.' },
    { verdict: 'degraded', says: 'Index "job_suspect_idx" is not valid: building it was cut off.' },
  ])
  await t.sql('alter table millrace.upkeep rename to elsewhere')
  const health = await t.client([]).health()
  expect(health).toMatchObject({ verdict: 'failing', reasons: [{ says: 'Table "upkeep" is missing.' }, {}, {}, {}] })
})

test('the tables and indexes that the migrations create are all there', async () => {
  await using t = await setup()
  const { tables, indexes } = declaredParts(migrationFiles.map(({ text }) => text).join('\n'))
  const there = await t.sql<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'millrace'::regnamespace and relkind in ('r', 'p', 'i', 'I')`,
  )
  const names = new Set(there.map(({ name }) => name))
  expect([...tables, ...indexes].filter((name) => !names.has(name))).toEqual([])
  expect(tables.size).toBeGreaterThan(20)
  expect(indexes.size).toBeGreaterThan(30)
})

test('a clock that is off by more than five seconds is noticed, in either direction', async () => {
  await using t = await setup()
  const shifted = (ms: number) => t.look('clock', { processNow: () => Date.now() + ms })
  expect(await shifted(0)).toMatchObject([{ verdict: 'ok' }])
  expect(await shifted(60_000)).toMatchObject([
    { verdict: 'degraded', says: expect.stringMatching(/(1 min|59 s) ?\d* ?s? ahead of that of the database/) },
  ])
  expect(await shifted(-60_000)).toMatchObject([
    { verdict: 'degraded', says: expect.stringMatching(/ behind that of the database/) },
  ])
})

test('a transaction that stays open is blamed for the dead rows it keeps, until it ends', async () => {
  await using t = await setup()
  const session = new pg.Client({ connectionString: t.url, application_name: 'nightly report' })
  await session.connect()
  try {
    await session.query('begin isolation level repeatable read')
    await session.query('select count(*) from millrace.job')
    expect(await t.look('old_snapshot')).toMatchObject([{ verdict: 'ok' }])
    const [finding] = await eventually(async () => {
      const findings = await t.look('old_snapshot', { oldSnapshotMs: 200 })
      return findings[0]?.verdict === 'degraded' && findings
    })
    expect(finding?.says).toMatch(
      /^A session \(pid \d+, nightly report, idle in transaction\) holds a snapshot for \d+ ms/,
    )
    await session.query('commit')
    expect(await t.look('old_snapshot', { oldSnapshotMs: 200 })).toMatchObject([{ verdict: 'ok' }])
  } finally {
    await session.end()
  }
})

test('a table with many dead rows is bloated until it is vacuumed', async () => {
  await using t = await setup()
  const client = await t.pool.connect()
  try {
    await client.query('alter table millrace.metric_minute set (autovacuum_enabled = off)')
    await client.query(`
      insert into millrace.metric_minute
      select now() - n * interval '1 minute', 'a', 'b', 'completed', 1, 1, '{}', 1, '{}' from generate_series(1, 12000) as n`)
    await client.query('delete from millrace.metric_minute')
    await client.query('select pg_stat_force_next_flush()')
    await client.query('select 1')
    const [finding] = await eventually(async () => {
      const findings = await t.look('bloat')
      return findings[0]?.verdict === 'degraded' && findings
    })
    expect(finding?.says).toMatch(/^Table "metric_minute" holds 12000 dead rows beside \d+ live ones/)
    await client.query('vacuum millrace.metric_minute')
    await client.query('select pg_stat_force_next_flush()')
    await client.query('select 1')
    await eventually(async () => (await t.look('bloat'))[0]?.verdict === 'ok')
  } finally {
    client.release()
  }
})

test('the server is looked at: connections, autovacuum and the queue of notifications', async () => {
  const server = { connections: 10, maxConnections: 100, isAutovacuumOn: true, notifyQueueUsage: 0.1 }
  const look = async (check: typeof autovacuum, state: object) =>
    findingsOf(check, await check.look({ server: { ...server, ...state } } as Patient))
  for (const [check, bad] of [
    [connections, { connections: 95 }],
    [autovacuum, { isAutovacuumOn: false }],
    [notifyQueue, { notifyQueueUsage: 0.6 }],
  ] as const) {
    expect(await look(check, {})).toMatchObject([{ verdict: 'ok', remedy: null }])
    expect(await look(check, bad)).toMatchObject([{ verdict: 'degraded', remedy: expect.any(String) }])
  }
})

test('a check that cannot look says so, and the others go on', async () => {
  await using t = await base()
  class Unwilling extends Database {
    override run<Row>(...[statement, ...rest]: Parameters<Database['run']>): Promise<Row[]> {
      if (statement === 'tableBloat') return Promise.reject(new Error('permission denied for function pg_indexes_size'))
      return super.run<Row>(statement, ...rest)
    }
  }
  const db = new Unwilling({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections: 2 })
  const { verdict, findings } = await readHealth({
    db,
    clock: { databaseNow: () => null },
    registry: new Registry([]),
  }).finally(() => db.close())
  expect(verdict).toBe('degraded')
  expect(findings.find(({ check }) => check === 'bloat')?.says).toBe(
    'The check bloat could not look: permission denied for function pg_indexes_size',
  )
  expect(findings.find(({ check }) => check === 'old_snapshot')?.verdict).toBe('ok')
})
