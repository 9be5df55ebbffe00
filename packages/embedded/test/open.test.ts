import { join } from 'node:path'
import { openDatabase, openTestServer } from '@millrace/embedded'
import { expect, it } from 'vitest'
import { scratchDirectory } from './scratch.ts'
import { sql } from './sql.ts'

it('uses the server that DATABASE_URL names, and leaves it alone', async () => {
  const env = { DATABASE_URL: 'postgres://example.org/app' }
  for (const open of [openDatabase, openTestServer]) {
    await using database = await open(env)
    expect(database).toMatchObject({ url: env.DATABASE_URL, embedded: false })
    await database.stop()
  }
})

it('starts the embedded server otherwise, also if DATABASE_URL is empty', async () => {
  await using scratch = await scratchDirectory()
  const directory = join(scratch.path, 'cluster')
  await using database = await openDatabase({ ...process.env, DATABASE_URL: '' }, { directory })
  expect(database.embedded).toBe(true)
  expect(await sql(database.url, 'show data_directory')).toEqual([join(directory, 'data')])
})

it('starts a throw-away server for tests otherwise', async () => {
  const server = await openTestServer({ ...process.env, DATABASE_URL: undefined }, { settings: { fsync: 'off' } })
  expect(server.embedded).toBe(true)
  expect(await sql(server.url, 'show fsync')).toEqual(['off'])
  await server.stop()
  await expect(sql(server.url, 'select 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
})
