import { fillDemo } from '@millrace/demo'
import { createMillrace } from 'millrace'
import { expect, test } from 'vitest'
import { freshDatabase } from '../../engine/test/support/database.ts'
import { get, Program, ran } from './support/program.ts'

test('demo goes on with a database that it has filled before: it runs a worker and serves the admin API', async () => {
  await using database = await freshDatabase({ migrated: false })
  const env = { DATABASE_URL: database.url }
  await fillDemo(database.url, { jobs: 300 })
  await using demo = new Program(['demo', '--port', '0'], env)
  const [, url] = await demo.said(/Admin +(\S+)\/admin\//)
  await demo.said(/The database holds the demo already: it goes on\./)
  expect(await get(`${url}/admin/api/tenants/moss-lane-records`)).toMatchObject({ body: { status: 'suspended' } })
  await using millrace = createMillrace({ database: database.url, jobs: [] })
  await expect
    .poll(async () => (await millrace.search.jobs('created:>-1m status:completed', { limit: 1 })).jobs)
    .not.toEqual([])
  demo.signal('SIGINT')
  expect(await demo.ended()).toMatchObject({ code: 0 })
}, 60_000)

test('demo --fill-only fills a database and ends', async () => {
  await using database = await freshDatabase({ migrated: false })
  const filled = await ran(['demo', '--fill-only', '--jobs', '300'], { DATABASE_URL: database.url })
  expect(filled).toMatchObject({ code: 0, err: expect.stringMatching(/a week of 300 jobs …\nFilled in [\d.]+ s\.\n/) })
  await using millrace = createMillrace({ database: database.url, jobs: [] })
  expect(await millrace.tenants.get('moss-lane-records')).toMatchObject({ status: 'suspended' })
}, 60_000)
