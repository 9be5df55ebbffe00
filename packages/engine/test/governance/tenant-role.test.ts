import { createMillrace, defineJob, defineQueues, implement } from 'millrace'
import { runJob } from 'millrace/testing'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { silent } from '../support/setup.ts'
import { tenants } from '../support/tenants.ts'

const report = defineJob({ type: 'report', queue: defineQueues({ default: {} }).default, payload: z.object({}) })
const handlers = [implement(report, () => {})]

type Tenants = Awaited<ReturnType<typeof tenants>>

/** With every right on Millrace's tables, and none on anything else. */
async function ordinaryLogin(t: Tenants) {
  const login = await t.makeRole(`login password 'x'`)
  await t.sql(`grant all on schema millrace to ${login}`)
  await t.sql(`grant all on all tables in schema millrace to ${login}`)
  return { login, database: t.as(login, 'x') }
}

describe('a worker does not start with a tenantRole that', () => {
  const starting = (t: Tenants, tenantRole: string) => t.client([report], { tenantRole }).work({ handlers })

  test('does not exist', async () => {
    await using t = await tenants()
    await expect(starting(t, 'nobody_knows')).rejects.toThrow(/tenantRole "nobody_knows".*no such role: create role/)
  })

  test.each([
    ['is a superuser', 'superuser', /is a superuser/],
    ['bypasses row security', 'bypassrls', /bypasses row security/],
  ])('%s', async (_, kind, message) => {
    await using t = await tenants()
    const role = await t.makeRole(kind)
    await expect(starting(t, role)).rejects.toThrow(message)
  })

  test('is the login itself', async () => {
    await using t = await tenants()
    const { login, database } = await ordinaryLogin(t)
    await using millrace = createMillrace({ database, jobs: [report], tenantRole: login, logger: silent })
    await expect(millrace.work({ handlers })).rejects.toThrow(/is the login itself/)
  })

  test('owns a table, or has the rights of a role that does', async () => {
    await using t = await tenants()
    const owner = await t.makeRole()
    const member = await t.makeRole(`in role ${owner}`)
    await t.sql(`create table possession (n int)`)
    await t.sql(`alter table possession owner to ${owner}`)
    await expect(starting(t, owner)).rejects.toThrow(/owns table possession/)
    await expect(starting(t, member)).rejects.toThrow(/owns table possession/)
  })

  test('has rights on Millrace’s own tables', async () => {
    await using t = await tenants()
    await t.sql(`grant usage on schema millrace to ${t.role}`)
    await t.sql(`grant select on millrace.job to ${t.role}`)
    await expect(starting(t, t.role)).rejects.toThrow(/has rights on millrace\.job.*revoke/)
  })

  test('its login may not use', async () => {
    await using t = await tenants()
    const { login, database } = await ordinaryLogin(t)
    await using millrace = createMillrace({ database, jobs: [report], tenantRole: t.role, logger: silent })
    await expect(millrace.work({ handlers })).rejects.toThrow(`may not use it: grant "${t.role}" to "${login}"`)
  })
})

test('an inline run refuses such a role too', async () => {
  await using t = await tenants()
  const millrace = t.client([report], { tenantRole: 'nobody_knows' })
  await expect(runJob(handlers[0] as never, {}, { millrace })).rejects.toThrow(/no such role/)
})

test('a login without rights of its own, which acts as the owner of everything, gets its role back', async () => {
  await using t = await tenants()
  const owner = await t.makeRole()
  const login = await t.makeRole(`login password 'x' noinherit in role ${owner}, ${t.role}`)
  await t.sql(`alter role ${login} set role = '${owner}'`)
  await t.sql(`grant create, usage on schema millrace to ${owner}`)
  const tables = await t.sql<{ name: string }>(
    `select oid::regclass::text as name from pg_class where relnamespace = 'millrace'::regnamespace and relkind in ('r', 'p', 'v')`,
  )
  for (const { name } of tables) await t.sql(`alter table ${name} owner to ${owner}`)
  await using millrace = createMillrace({
    database: t.as(login, 'x'),
    jobs: [report],
    tenantRole: t.role,
    logger: silent,
  })
  const handler = implement(report, (_, ctx) =>
    ctx.tenantDb(
      async (tx) => {
        await millrace.enqueue(report, {}, { tx, tenant: 'a', delay: '1h' })
        return (await tx.query('select current_user as role, id from task')).rows
      },
      { complete: true },
    ),
  )
  await millrace.work({ handlers: [handler] })
  const { id } = await millrace.enqueue(report, {}, { tenant: 'a' })
  expect(await millrace.result(id)).toMatchObject({ result: [{ role: t.role, id: 1 }] })
})

test('the tenant role itself cannot read the jobs', async () => {
  await using t = await tenants()
  const client = new pg.Client(t.url)
  await client.connect()
  await client.query(`set role ${t.role}`)
  await expect(client.query('select * from millrace.job')).rejects.toThrow(/permission denied/)
  await client.end()
})
