// What a workload can add: its own tables, a choice of queues, a hook for when its worker is at work.
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { freshDatabase } from '../../engine/test/support/database.ts'
import { saidBy } from './support/in-process.ts'
import { fixture, Program } from './support/program.ts'

const module = fixture('village.js')
const TOKEN = `mr_${'t'.repeat(43)}`

async function setup(options: { migrated: boolean }) {
  const database = await freshDatabase(options)
  const client = new pg.Client(database.url)
  await client.connect()
  onTestFinished(async () => {
    await client.end()
    await database.drop()
  })
  const env = { DATABASE_URL: database.url }
  return {
    env,
    millrace: (...args: string[]) => saidBy(args, env),
    rows: async (sql: string) => (await client.query(sql)).rows,
  }
}

test('migrate with a module applies the workload’s own migrations after those of Millrace', async () => {
  const t = await setup({ migrated: false })
  expect(await t.millrace('migrate', module, '--status')).toMatchObject({ code: 3 })
  const dryRun = await t.millrace('migrate', module, '--dry-run')
  expect(dryRun.out).toContain('-- 0001_places\n')
  expect(dryRun.out).toContain('from millrace.job;')
  const { code, out } = await t.millrace('migrate', module)
  expect(code).toBe(0)
  expect(out).toMatch(
    /The schema "millrace" is current\.\n(.*\n)*0001_places +\d+ ms\nThe schema "village" is current\./,
  )
  expect(await t.rows('select * from village.waiting')).toEqual([{ jobs: '0' }])
  const status = JSON.parse((await t.millrace('migrate', module, '--status', '--json')).out)
  expect(status).toMatchObject({
    schema: 'millrace',
    isCurrent: true,
    programs: [
      { schema: 'village', isCurrent: true, migrations: [{ name: '0001_places', state: 'applied' }] },
      { schema: 'village_more', isCurrent: true },
    ],
  })
  expect((await t.millrace('migrate', module)).out).toContain('The schema "village" is current: there was nothing')
})

test('work refuses a database that lacks a migration of the workload, and names the command', async () => {
  const t = await setup({ migrated: true })
  const { code, err } = await t.millrace('work', module)
  expect(code).toBe(1)
  expect(err).toMatch(
    /The schema "village" lacks 0001_places, which this program needs\. Run `millrace migrate .*village\.js`/,
  )
})

test('dev applies them, tells the workload its mode, and calls ready when the worker runs', async () => {
  const t = await setup({ migrated: true })
  await using dev = new Program(['dev', module], { ...t.env, PORT: '0' })
  await dev.said(/Village +dev of HIGH and LOW\n/)
  await dev.said(/Lanes served +HIGH, LOW\n/)
  await expect.poll(() => t.rows('select name from village.place')).toEqual([{ name: 'Ready' }])
  expect(await t.rows('select text from village_more.note')).toEqual([{ text: 'started' }])
})

test('dev and admin serve its routes and pages; admin runs no jobs and needs a token', async () => {
  const t = await setup({ migrated: true })
  await t.millrace('migrate', module)
  await using admin = new Program(['admin', module], { ...t.env, PORT: '0', ADMIN_TOKEN: TOKEN })
  const { admin: url } = (await admin.logged(({ msg }) => msg === 'running')) as unknown as { admin: string }
  const { origin } = new URL(url)
  const page = await fetch(`${origin}/village/below`)
  expect(await page.text()).toBe('<h1>Village</h1> /village/below for anybody')
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(await (await fetch(`${origin}/robots.txt`)).text()).toBe('User-agent: *')
  const found = (headers: Record<string, string>) =>
    fetch(`${origin}/admin/api/places/Elm`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
    })
  expect((await found({})).status).toBe(401)
  expect((await found({ authorization: `Bearer ${TOKEN}` })).status).toBe(200)
  const document = await fetch(`${origin}/admin/api/openapi.json`, { headers: { authorization: `Bearer ${TOKEN}` } })
  expect(JSON.stringify(await document.json())).toContain('/admin/api/places/{name}')
  expect((await t.rows('select type, status from millrace.job')) as unknown).toEqual([
    { type: 'found', status: 'pending' },
  ])
  expect(await t.rows('select text from village_more.note')).toEqual([{ text: 'started' }])
})

test('--queues serves only some queues, and refuses one that no handler has', async () => {
  const t = await setup({ migrated: true })
  await t.millrace('migrate', module)
  await using work = new Program(['work', module, '--queues', 'LOW'], t.env)
  const running = await work.logged(({ msg }) => msg === 'running')
  expect(running).toMatchObject({ village: 'work of LOW', lanes: [{ name: 'LOW' }] })
  const { code, err } = await t.millrace('work', module, '--queues', 'HIHG')
  expect(code).toBe(1)
  expect(err).toMatch(/names queue "HIHG".* Did you mean "?HIGH"?/)
})
