import { InvalidDefinition, tenantPolicySql } from 'millrace'
import { describe, expect, test } from 'vitest'
import { tenants } from '../support/tenants.ts'

const POLICY = `current_setting('millrace.tenant', true)`

async function checking() {
  const t = await tenants()
  const millrace = t.client([])
  return {
    ...t,
    check: () => millrace.checkTenantPolicies(),
    /** Of the one table besides `task`. */
    async problems(...statements: string[]) {
      await t.sql('drop table if exists note')
      await t.sql('create table note (organization_id text, body text)')
      for (const statement of statements) await t.sql(statement)
      const { tables, isSound } = await millrace.checkTenantPolicies()
      expect(isSound).toBe(tables.every(({ problems }) => problems.length === 0))
      return tables.find(({ table }) => table === 'note')?.problems
    },
  }
}

const SECURED = ['alter table note enable row level security', 'alter table note force row level security']

describe('checkTenantPolicies', () => {
  test('finds nothing at a table that tenantPolicySql has seen to, however often', async () => {
    await using t = await checking()
    await t.sql(tenantPolicySql({ table: 'task', column: 'organization_id', role: t.role }))
    expect(await t.check()).toEqual({
      schema: 'public',
      column: 'organization_id',
      tables: [{ table: 'task', problems: [] }],
      isSound: true,
    })
  })

  test('names what is missing', async () => {
    await using t = await checking()
    expect(await t.problems()).toEqual([
      'row security is not enabled',
      'row security is not forced, so its owner is above it',
      'no policy looks at millrace.tenant',
    ])
    expect(await t.problems(...SECURED)).toEqual(['no policy looks at millrace.tenant'])
    const policy = `create policy p on note using (organization_id = ${POLICY})`
    expect(await t.problems(policy)).toHaveLength(2)
    expect(await t.problems(...SECURED, policy)).toEqual([])
  })

  test.each([
    ['create policy open on note using (true)', true],
    ['create policy open on note for select using (true)', true],
    ['create policy open on note for insert with check (true)', true],
    [`create policy open on note using (organization_id = ${POLICY}) with check (true)`, true],
    [`create policy open on note for insert with check (organization_id = ${POLICY})`, false],
    ['create policy open on note as restrictive using (body is not null)', false],
  ])('sees whether a second policy lets everybody in: %s', async (second, isOpen) => {
    await using t = await checking()
    const first = `create policy tenant on note using (organization_id = ${POLICY})`
    const expected = isOpen ? ['policy "open" lets rows through whatever millrace.tenant says'] : []
    expect(await t.problems(...SECURED, first, second)).toEqual(expected)
  })

  test('a restrictive policy for every command keeps the others in bounds', async () => {
    await using t = await checking()
    const statements = [
      `create policy tenant on note as restrictive using (organization_id = ${POLICY})`,
      'create policy open on note using (true)',
    ]
    expect(await t.problems(...SECURED, ...statements)).toEqual([])
  })

  test('a partition counts only if it can be reached past its parent', async () => {
    await using t = await checking()
    await t.sql('create table log (organization_id text) partition by list (organization_id)')
    await t.sql('create table log_a partition of log default')
    await t.sql(tenantPolicySql({ table: 'log', column: 'organization_id', role: t.role }))
    expect((await t.check()).tables).toHaveLength(2)
    await t.sql(`grant select on log_a to ${t.role}`)
    expect((await t.check()).tables).toMatchObject([{ table: 'log', problems: [] }, { table: 'log_a' }, {}])
    expect((await t.check()).isSound).toBe(false)
  })

  test('no table with that column is not good news', async () => {
    await using t = await checking()
    const report = await t.client([]).checkTenantPolicies({ column: 'organisation_id' })
    expect(report).toMatchObject({ tables: [], isSound: false })
  })
})

describe('what shows rows past the policies of tables', () => {
  const leak = 'create extension if not exists file_fdw; create server files foreign data wrapper file_fdw'
  test.each([
    ['a view', 'create view other as select * from task', /reads with the rights of its owner/],
    ['a view without the column', 'create view other as select title from task', /reads with the rights of its owner/],
    [
      'a view of a view',
      'create view inner_one with (security_invoker = true) as select title from task; create view other as select * from inner_one',
      /reads with the rights of its owner/,
    ],
    ['a materialised view', 'create materialized view other as select * from task', /no policy binds/],
    [
      'a foreign table',
      `${leak}; create foreign table other (organization_id text) server files options (filename '/dev/null')`,
      /no policy binds/,
    ],
  ])('is found: %s', async (_, create, problem) => {
    await using t = await checking()
    await t.sql(create)
    // Only its owner can use it yet.
    expect((await t.check()).isSound).toBe(true)
    await t.sql(`grant select on other to ${t.role}`)
    expect(await t.check()).toMatchObject({
      isSound: false,
      tables: [
        { table: 'task', problems: [] },
        { table: 'other', problems: [expect.stringMatching(problem)] },
      ],
    })
  })

  test('is found in another schema, too', async () => {
    await using t = await checking()
    await t.sql('create schema app; create view app.other as select * from task; grant select on app.other to public')
    expect((await t.check()).tables).toMatchObject([{ table: 'task' }, { table: 'app.other' }])
  })

  test('is not a view with security_invoker, nor one of other tables', async () => {
    await using t = await checking()
    await t.sql('create table plain (n int); create view open as select * from plain; grant select on open to public')
    await t.sql('create view other with (security_invoker = on) as select * from task; grant select on other to public')
    expect(await t.check()).toMatchObject({ isSound: true, tables: [{ table: 'task' }] })
  })
})

describe('a system role', () => {
  test('may have a policy, views and partitions of its own', async () => {
    await using t = await checking()
    const system = await t.makeRole()
    await t.sql(`create policy system on task to ${system} using (true)`)
    await t.sql(`create materialized view other as select * from task; grant select on other to ${system}`)
    expect((await t.check()).tables).toMatchObject([
      { problems: ['policy "system" lets rows through whatever millrace.tenant says'] },
      { table: 'other' },
    ])
    const millrace = t.client([])
    expect(await millrace.checkTenantPolicies({ systemRoles: [system] })).toMatchObject({
      isSound: true,
      tables: [{ table: 'task' }],
    })
    await t.sql(`grant select on other to ${t.role}; drop policy system on task`)
    await t.sql(`create policy system on task to ${system}, ${t.role} using (true)`)
    expect((await millrace.checkTenantPolicies({ systemRoles: [system] })).tables).toMatchObject([
      { problems: [expect.stringMatching(/"system"/)] },
      { table: 'other' },
    ])
  })

  test('must exist', async () => {
    await using t = await checking()
    const check = t.client([]).checkTenantPolicies({ systemRoles: ['nobody_here'] })
    await expect(check).rejects.toThrow(/"nobody_here"/)
  })
})

describe('tenantPolicySql', () => {
  test('quotes names, takes another schema and another type', async () => {
    await using t = await checking()
    await t.sql('create schema "App"')
    await t.sql('create table "App"."user" ("Org" uuid)')
    await t.sql(tenantPolicySql({ schema: 'App', table: 'user', column: 'Org', role: t.role, type: 'uuid' }))
    const report = await t.client([]).checkTenantPolicies({ schema: 'App', column: 'Org' })
    expect(report.isSound).toBe(true)
  })

  test('an unset tenant sees nothing: neither never set nor empty', async () => {
    await using t = await checking()
    const seen = async (setting: string | null) => {
      const tx = await t.pool.connect()
      await tx.query('begin')
      if (setting !== null) await tx.query(`select set_config('millrace.tenant', $1, true)`, [setting])
      await tx.query(`set local role ${t.role}`)
      const { rows } = await tx.query('select id from task')
      await tx.query('rollback')
      tx.release()
      return rows.map(({ id }) => id)
    }
    await t.sql(`insert into task values (3, '', 'of nobody')`)
    expect([await seen(null), await seen('a'), await seen(''), await seen(null)]).toEqual([[], [1], [], []])
  })

  test('refuses a type that is more than a name', () => {
    const policy = { table: 't', column: 'c', role: 'r', type: 'text) or (true' }
    expect(() => tenantPolicySql(policy)).toThrow(InvalidDefinition)
  })
})
