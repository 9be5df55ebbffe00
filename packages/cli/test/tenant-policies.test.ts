import pg from 'pg'
import { expect, test } from 'vitest'
import { setup as base } from './support/setup.ts'

async function setup() {
  const t = await base()
  const client = new pg.Client(t.env.DATABASE_URL)
  await client.connect()
  return {
    sql: (text: string) => client.query(text),
    check: (...args: string[]) => t.run('tenant-policies', 'check', ...args),
    async [Symbol.asyncDispose]() {
      await client.end()
      await t[Symbol.asyncDispose]()
    },
  }
}

test('tenant-policies check tells by its exit code whether a table with the column is open', async () => {
  await using t = await setup()
  expect(await t.check()).toMatchObject({
    code: 1,
    out: expect.stringMatching(/^No table of schema "public" has a column "organization_id"\./),
  })

  await t.sql('create table task (organization_id text)')
  expect(await t.check()).toMatchObject({
    code: 1,
    out: expect.stringMatching(/^TABLE +PROBLEM\ntask +row security is not enabled\ntask +row security is not forced/),
  })

  await t.sql(`alter table task enable row level security;
    alter table task force row level security;
    create policy own on task using (organization_id = current_setting('millrace.tenant', true))`)
  expect(await t.check()).toMatchObject({ code: 0, out: expect.stringMatching(/^All 1 tables .* keep tenants apart/) })
})

test('--json prints the whole report, for another schema and column too', async () => {
  await using t = await setup()
  await t.sql('create schema app; create table app.note (tenant_id uuid)')
  const { code, out } = await t.check('--schema', 'app', '--column', 'tenant_id', '--json')
  expect(code).toBe(1)
  expect(JSON.parse(out)).toMatchObject({
    schema: 'app',
    column: 'tenant_id',
    isSound: false,
    tables: [{ table: 'note', problems: { length: 3 } }],
  })
})

test('--system-role names roles that may see all; an unknown one is refused', async () => {
  await using t = await setup()
  await t.sql(`create table task (organization_id text);
    alter table task enable row level security;
    alter table task force row level security;
    create policy own on task using (organization_id = current_setting('millrace.tenant', true));
    create policy system on task to pg_monitor using (true);
    create view titles as select * from task;
    grant select on titles to pg_monitor, pg_read_all_stats`)
  const { code, out } = await t.check('--system-role', 'pg_monitor')
  expect(code).toBe(1)
  expect(out).toMatch(/^TABLE +PROBLEM\ntitles +it is a view that reads with the rights of its owner[^\n]*\n$/)
  const both = ['--system-role', 'pg_monitor', '--system-role', 'pg_read_all_stats']
  expect(await t.check(...both)).toMatchObject({ code: 0 })
  expect(await t.check('--system-role', 'nobody_here')).toMatchObject({ err: expect.stringMatching(/"nobody_here"/) })
})
