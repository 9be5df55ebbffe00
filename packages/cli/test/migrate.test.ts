import { expect, test } from 'vitest'
import { freshDatabase } from '../../engine/test/support/database.ts'
import { saidBy } from './support/in-process.ts'

const millrace = (args: string, env: Record<string, string> = {}) => saidBy(args.split(' '), env)

async function setup() {
  const database = await freshDatabase({ migrated: false })
  return { ...database, millrace: (args: string) => millrace(args, { DATABASE_URL: database.url }) }
}

test('migrate applies what is pending, and --status tells by its exit code whether anything is', async () => {
  await using t = await setup()
  expect(await t.millrace('migrate --status')).toMatchObject({
    code: 3,
    out: expect.stringMatching(/^MIGRATION +STATE.*\n0001_foundation +pending\n/),
  })
  expect(await t.millrace('migrate')).toMatchObject({
    code: 0,
    err: '',
    out: expect.stringMatching(/^APPLIED +TOOK\n0001_foundation +\d+ ms\n(.*\n)*The schema "millrace" is current\.\n$/),
  })
  expect(await t.millrace('migrate --status')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^MIGRATION +STATE +APPLIED AT +TOOK\n0001_foundation +applied +\d{4}-.*Z +\d+ ms\n/),
  })
  expect(await t.millrace('migrate')).toMatchObject({ code: 0, out: expect.stringContaining('nothing to apply') })
})

test('--dry-run prints the SQL of another schema and changes nothing', async () => {
  await using t = await setup()
  const { code, out } = await t.millrace('migrate --dry-run --schema jobs')
  expect(code).toBe(0)
  expect(out).toContain('-- 0001_foundation\n')
  expect(out).toContain('create table "jobs".job (')
  expect(await t.millrace('migrate --status --schema jobs')).toMatchObject({ code: 3 })
})

test('--json prints one JSON document and nothing else', async () => {
  await using t = await setup()
  const json = async (args: string) => JSON.parse((await t.millrace(`${args} --json`)).out)
  expect(await json('migrate --dry-run')).toMatchObject({
    steps: expect.arrayContaining([{ name: 'groundwork', sql: expect.any(String) }]),
  })
  expect(await json('migrate')).toMatchObject({ schema: 'millrace', applied: { 0: { name: '0001_foundation' } } })
  expect(await json('migrate --status')).toMatchObject({ isCurrent: true, migrations: { 0: { state: 'applied' } } })
})

test('--database-url wins over DATABASE_URL', async () => {
  await using t = await setup()
  const elsewhere = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nowhere' }
  expect(await millrace(`migrate --database-url ${t.url}`, elsewhere)).toMatchObject({ code: 0 })
})

test('without a database it says what to set; with a wrong one it says that it cannot be reached', async () => {
  expect(await millrace('migrate')).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringMatching(/^error: No database is given\. Set DATABASE_URL or pass --database-url/),
  })
  expect(await millrace('migrate --database-url postgres://nobody@127.0.0.1:1/nowhere')).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^error: Postgres cannot be reached at postgres:\/\/.*ECONNREFUSED/),
  })
})

test('the help names the exit codes', async () => {
  const { code, out } = await millrace('migrate --help')
  expect(code).toBe(0)
  expect(out).toMatch(/Exit codes:\n {2}0 {2}done/)
})
