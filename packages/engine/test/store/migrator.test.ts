import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import pg from 'pg'
import { expect, test } from 'vitest'
import { MigrationFailed, SchemaTooNew, SchemaTooOld } from '#src/errors'
import { Database } from '#src/store/db'
import {
  checkSchema,
  type MigrationFile,
  type MigrationProgress,
  migrate,
  migrationDryRun,
  migrationStatus,
} from '#src/store/migrator'
import { migrationFiles } from '#src/store/sql.generated'
import { freshDatabase } from '../support/database.ts'

const table = { file: '0001_table', text: 'create table millrace.thing (id int primary key);\n' }
const column = { file: '0002_column', text: 'alter table millrace.thing add column note text;\n' }
const index = {
  file: '0003_index',
  text: `-- no-transaction
-- Thing by note.
drop index concurrently if exists millrace.thing_by_note_idx;
-- next statement
create unique index concurrently thing_by_note_idx on millrace.thing (note);
`,
}
const newer = (markers: string) => ({ file: '0009_newer', text: `${markers}create table millrace.newer ();\n` })

async function setup() {
  const database = await freshDatabase({ migrated: false })
  const connect = async () => {
    const client = new pg.Client(database.url)
    await client.connect()
    return client
  }
  const client = await connect()
  const rows = async (text: string) => (await client.query(text)).rows
  return {
    url: database.url,
    rows,
    ledger: async () => (await rows('select name from millrace.migration order by version')).map(({ name }) => name),
    /** A transaction that keeps everybody from altering the table, until it is ended. */
    async reader() {
      const reader = await connect()
      await reader.query('begin; lock table millrace.thing in access share mode')
      return { end: () => reader.end() }
    },
    async check(migrations: MigrationFile[], schema = 'millrace') {
      const db = new Database({ connection: { connectionString: database.url }, schema, maxConnections: 1 })
      return checkSchema(db, migrations).finally(() => db.close())
    },
    async [Symbol.asyncDispose]() {
      await client.end()
      await database[Symbol.asyncDispose]()
    },
  }
}

/** Records what a migrator reports, and lets a test wait for it. */
function recorder() {
  const seen: MigrationProgress[] = []
  const waiting: (() => void)[] = []
  return {
    seen,
    onProgress(progress: MigrationProgress) {
      seen.push(progress)
      for (const wake of waiting.splice(0)) wake()
    },
    async until(event: MigrationProgress['event']) {
      while (!seen.some((progress) => progress.event === event)) {
        await new Promise<void>((resolve) => waiting.push(resolve))
      }
    },
  }
}

test('an empty database gets every migration, each with its ledger row', async () => {
  await using t = await setup()
  const applied = await migrate(t.url)
  expect(applied.map(({ name }) => name)).toEqual(migrationFiles.map(({ file }) => file))
  expect(await t.ledger()).toEqual(migrationFiles.map(({ file }) => file))
  expect(await t.rows('select * from millrace.job')).toEqual([])
  expect(await t.rows('select * from millrace.migration_lock')).toEqual([])
  const statuses = await migrationStatus(t.url)
  expect(new Set(statuses.map(({ state }) => state))).toEqual(new Set(['applied']))
  expect(statuses[0]).toMatchObject({ version: 1, isBreaking: false, appliedAt: expect.any(Date) })
})

test('a second run applies nothing, and a later migration is applied alone', async () => {
  await using t = await setup()
  await migrate(t.url, { migrations: [table] })
  expect(await migrate(t.url, { migrations: [table] })).toEqual([])
  expect(await migrate(t.url, { migrations: [table, column] })).toMatchObject([{ name: '0002_column' }])
})

test('eight migrators at once apply each migration exactly once', async () => {
  await using t = await setup()
  const migrations = [table, column, index]
  const results = await Promise.all(Array.from({ length: 8 }, () => migrate(t.url, { migrations })))
  const names = results.flat().map(({ name }) => name)
  expect(names.sort()).toEqual(['0001_table', '0002_column', '0003_index'])
  expect(await t.ledger()).toEqual(names)
  expect(await t.rows('select * from millrace.migration_lock')).toEqual([])
})

test('a migrator that was killed half-way is replaced when its lease expires', async () => {
  await using t = await setup()
  const migrations = [table, column]
  await migrate(t.url, { migrations: [table] })
  const reader = await t.reader()
  const victim = spawnMigrator(t.url, migrations)
  await victim.started
  victim.process.kill('SIGKILL')
  await once(victim.process, 'exit')
  expect(await t.rows('select * from millrace.migration_lock')).toHaveLength(1)

  const heir = recorder()
  const result = migrate(t.url, { migrations, lockTimeoutMs: 50, onProgress: heir.onProgress })
  await heir.until('waiting')
  await t.rows(`update millrace.migration_lock set expires_at = now() - interval '1 second'`)
  await heir.until('retrying')
  await reader.end()
  expect(await result).toMatchObject([{ name: '0002_column' }])
})

test('a migration waits for a lock only briefly at a time, and succeeds when the other transaction ends', async () => {
  await using t = await setup()
  await migrate(t.url, { migrations: [table] })
  const reader = await t.reader()
  const { onProgress, until, seen } = recorder()
  const result = migrate(t.url, { migrations: [table, column], lockTimeoutMs: 50, onProgress })
  await until('retrying')
  await reader.end()
  expect(await result).toMatchObject([{ name: '0002_column' }])
  expect(seen[1]).toMatchObject({
    event: 'retrying',
    name: '0002_column',
    reason: expect.stringContaining('lock timeout'),
  })
})

test('a migration that never gets its lock gives up, changes nothing and says where to look', async () => {
  await using t = await setup()
  await migrate(t.url, { migrations: [table] })
  const reader = await t.reader()
  const failing = migrate(t.url, { migrations: [table, column], lockTimeoutMs: 50, patienceMs: 0 })
  await expect(failing).rejects.toThrow(/^Migration 0002_column was tried for .* pg_stat_activity .* rolled back/)
  await reader.end()
  expect(await t.ledger()).toEqual(['0001_table'])
  expect(await t.rows('select * from millrace.migration_lock')).toEqual([])
})

test('a migrator that loses its lease in the middle applies nothing until it has it again', async () => {
  await using t = await setup()
  await migrate(t.url, { migrations: [table] })
  const reader = await t.reader()
  const { onProgress, until } = recorder()
  const result = migrate(t.url, { migrations: [table, column], lockTimeoutMs: 50, onProgress })
  await until('retrying')
  await t.rows(`update millrace.migration_lock set owner = gen_random_uuid()`)
  await reader.end()
  await until('waiting')
  expect(await t.ledger()).toEqual(['0001_table'])
  await t.rows('delete from millrace.migration_lock')
  expect(await result).toMatchObject([{ name: '0002_column' }])
})

test('SQL that fails leaves ledger and schema as they were, and the error names file and line', async () => {
  await using t = await setup()
  const broken = {
    file: '0002_broken',
    text: 'create table millrace.half ();\n\nalter table millrace.nothing add x int;\n',
  }
  const error = await migrate(t.url, { migrations: [table, broken] }).catch((thrown) => thrown)
  expect(error).toBeInstanceOf(MigrationFailed)
  expect(error.message).toBe(
    'Migration 0002_broken failed: relation "millrace.nothing" does not exist. It was rolled back, so nothing was changed. Remove the cause and run `millrace migrate` again.',
  )
  expect(await t.ledger()).toEqual(['0001_table'])
  expect(await t.rows(`select to_regclass('millrace.half') as half`)).toEqual([{ half: null }])
  await expect(
    migrate(t.url, {
      migrations: [table, { file: '0002_typo', text: '--\n\nselect 1 form;\n\ncreate tabel x ();\n' }],
    }),
  ).rejects.toThrow('Migration 0002_typo failed at line 5: syntax error at or near "tabel"')
})

test('an applied migration whose file was changed is refused by name; line endings do not count', async () => {
  await using t = await setup()
  await migrate(t.url, { migrations: [table] })
  expect(await migrate(t.url, { migrations: [{ ...table, text: table.text.replaceAll('\n', '\r\n') }] })).toEqual([])
  const changed = [{ ...table, text: `${table.text}-- improved` }, column]
  await expect(migrate(t.url, { migrations: changed })).rejects.toThrow(
    /^Migration 0001_table is applied .* Restore the file/,
  )
  expect((await migrationStatus(t.url, { migrations: changed })).map(({ state }) => state)).toEqual([
    'changed',
    'pending',
  ])
  expect(await t.ledger()).toEqual(['0001_table'])
})

test('a newer schema that is not breaking suits an older worker, and an older migrator leaves it alone', async () => {
  await using t = await setup()
  await migrate(t.url, { migrations: [table, newer('')] })
  await t.check([table])
  expect(await migrate(t.url, { migrations: [table] })).toEqual([])
  expect(await migrationStatus(t.url, { migrations: [table] })).toMatchObject([
    { name: '0001_table', state: 'applied' },
    { name: '0009_newer', state: 'unknown', isBreaking: false },
  ])
})

test('a newer schema marked as breaking is refused by older workers and older migrators', async () => {
  await using t = await setup()
  await migrate(t.url, { migrations: [table, newer('-- breaking\n')] })
  await expect(t.check([table])).rejects.toThrow(SchemaTooNew)
  await expect(migrate(t.url, { migrations: [table] })).rejects.toThrow(/has 0009_newer, marked as breaking/)
})

test('a gap below a migration already applied is not repaired', async () => {
  await using t = await setup()
  await migrate(t.url, { migrations: [table, newer('')] })
  await expect(migrate(t.url, { migrations: [table, column] })).rejects.toThrow(
    /^Migration 0002_column is not applied .* 0009_newer, which this version does not know, is/,
  )
  await expect(migrate(t.url, { migrations: [table, column, newer('')] })).rejects.toThrow(/^Migration 0002_column/)
  expect(await t.ledger()).toEqual(['0001_table', '0009_newer'])
})

test('a worker refuses a schema that lacks a migration it knows', async () => {
  await using t = await setup()
  await expect(t.check([table])).rejects.toThrow(SchemaTooOld)
  await migrate(t.url, { migrations: [table] })
  await t.check([table])
  await expect(t.check([table, column])).rejects.toThrow(/lacks 0002_column.* Run `millrace migrate`/)
  await expect(t.check([table], 'other')).rejects.toThrow(/Run `millrace migrate --schema other`/)
})

test('a dry run shows what would be sent, in order, and changes nothing', async () => {
  await using t = await setup()
  const migrations = [table, column, index]
  const steps = await migrationDryRun(t.url, { migrations, schema: 'other' })
  expect(steps.map(({ name }) => name)).toEqual([
    ...Array(3).fill('groundwork'),
    ...['0001_table', '0002_column', '0003_index', '0003_index'],
  ])
  expect(await t.rows(`select from pg_namespace where nspname = 'other'`)).toEqual([])

  for (const { sql } of steps) await t.rows(sql)
  expect(await t.rows('select id, note from other.thing')).toEqual([])
})

test('a dry run shows only what is missing', async () => {
  await using t = await setup()
  await migrate(t.url, { migrations: [table] })
  const steps = await migrationDryRun(t.url, { migrations: [table, column] })
  expect(steps).toEqual([{ name: '0002_column', sql: column.text }])
})

test('an index is built concurrently; cut off by an error it is unfinished, and the next run starts it over', async () => {
  await using t = await setup()
  const migrations = [table, column, index]
  await migrate(t.url, { migrations: [table, column] })
  await t.rows(`insert into millrace.thing values (1, 'twice'), (2, 'twice')`)
  await expect(migrate(t.url, { migrations })).rejects.toThrow(
    /^Migration 0003_index failed at line 5: could not create unique index .*twice.* unfinished.* starts over/,
  )
  expect((await migrationStatus(t.url, { migrations })).map(({ state }) => state)).toEqual([
    'applied',
    'applied',
    'unfinished',
  ])
  await expect(t.check(migrations)).rejects.toThrow(SchemaTooOld)

  await t.rows('delete from millrace.thing where id = 2')
  const { onProgress, seen } = recorder()
  expect(await migrate(t.url, { migrations, onProgress })).toMatchObject([{ name: '0003_index' }])
  expect(seen[0]).toEqual({ event: 'restarted', name: '0003_index' })
  const isValid = `select indisvalid from pg_index where indexrelid = 'millrace.thing_by_note_idx'::regclass`
  expect(await t.rows(isValid)).toEqual([{ indisvalid: true }])
  await t.check(migrations)
})

test('another schema name holds everything, ledger and lease included', async () => {
  await using t = await setup()
  await migrate(t.url, { schema: 'Jobs of us' })
  expect(await t.rows('select * from "Jobs of us".job')).toEqual([])
  expect(await t.rows(`select from pg_namespace where nspname = 'millrace'`)).toEqual([])
  expect(await migrate(t.url, { schema: 'Jobs of us' })).toEqual([])
})

test('a role that may not create schemas migrates into one that was made for it', async () => {
  await using t = await setup()
  const role = `migrator_${process.pid}_${Date.now()}`
  await t.rows(`create role ${role} login password 'secret'`)
  await t.rows(`create schema millrace authorization ${role}`)
  const url = Object.assign(new URL(t.url), { username: role, password: 'secret' })
  expect(await migrate(url.href, { migrations: [table] })).toHaveLength(1)
  await t.rows(`drop owned by ${role}`)
  await t.rows(`drop role ${role}`)
})

test('what comes after migrating runs while no other migrator does, also when nothing was applied', async () => {
  await using t = await setup()
  let runs = 0
  const afterMigrate = async (db: Database) => {
    const others = await t.rows('select * from millrace.migration_lock')
    expect(others).toHaveLength(1)
    expect(db.schema).toBe('millrace')
    runs++
  }
  await migrate(t.url, { migrations: [table], afterMigrate })
  await migrate(t.url, { migrations: [table], afterMigrate })
  expect(runs).toBe(2)
})

test.each([
  ['a name without a number', [{ file: 'table', text: '' }], /is not named like 0001_/],
  ['a number taken twice', [table, { file: '0001_other', text: '' }], /has the same number as 0001_table/],
  [
    'an index that would stay half-built',
    [{ file: '0001_index', text: '-- no-transaction\ncreate index concurrently if not exists x on y (z);' }],
    /Write `drop index concurrently if exists`/,
  ],
])('%s is refused before anything is read', async (_, migrations, message) => {
  await expect(migrate('postgres://nowhere.invalid/none', { migrations })).rejects.toThrow(message)
})

function spawnMigrator(url: string, migrations: MigrationFile[]): { process: ChildProcess; started: Promise<void> } {
  const script = new URL('./fixtures/migrate-process.js', import.meta.url)
  const child = spawn(process.execPath, [script.pathname, url, JSON.stringify(migrations)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const started = (async () => {
    for await (const line of createInterface({ input: child.stdout })) {
      if (JSON.parse(line).event === 'started') return
    }
    throw new Error('The migrator ended before it started a migration.')
  })()
  return { process: child, started }
}
