import { type OpenedDatabase, openTestServer, testDatabases } from '@millrace/embedded'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { withClient } from '#src/connection'
import { sql } from './sql.ts'

let server: OpenedDatabase

beforeAll(async () => {
  server = await openTestServer()
})

afterAll(async () => {
  await server.stop()
})

const ourDatabases = "select datname from pg_database where datname like 'millrace\\_%'"

it('prepares a template once and makes databases from it that do not affect each other', async () => {
  const before = await sql(server.url, ourDatabases)
  const databases = testDatabases(server.url)
  let prepared = 0
  await databases.template('Jobs & more', async (url) => {
    prepared++
    await sql(url, 'create table job as select 1 as id')
  })
  const [one, two] = await Promise.all([databases.fresh(), databases.fresh()])
  await sql(one.url, 'insert into job values (2)')
  expect(await sql(one.url, 'select id from job')).toEqual([1, 2])
  expect(await sql(two.url, 'select id from job')).toEqual([1])
  expect(prepared).toBe(1)

  await withClient(one.url, async () => {
    await one.drop()
    await one.drop()
  })
  await expect(sql(one.url, 'select 1')).rejects.toMatchObject({ code: '3D000' })
  await databases.close()
  await databases.close()
  expect(await sql(server.url, ourDatabases)).toEqual(before)
})

it('makes databases from a template of another process', async () => {
  await using theirs = testDatabases(server.url)
  const template = await theirs.template('shared', async (url) => void (await sql(url, 'create table job (id int)')))
  await using ours = testDatabases(server.url)
  await using database = await ours.fresh(template)
  expect(await sql(database.url, 'select id from job')).toEqual([])
})

it('waits for those who are still connected to the template', async () => {
  await using databases = testDatabases(server.url)
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  let lingering: Promise<void> | undefined
  await databases.template('busy', async (url) => {
    await new Promise<void>((connected) => {
      lingering = withClient(url, async () => {
        connected()
        await released
      })
    })
  })
  const refused = sql(server.url, `create database never template ${await newestTemplate()}`)
  const making = databases.fresh()
  // Postgres itself waits 5 s for others to leave before it refuses.
  await expect(refused).rejects.toMatchObject({ code: '55006' })
  release()
  await using database = await making
  expect(await sql(database.url, 'select 1')).toEqual([1])
  await lingering
})

async function newestTemplate(): Promise<unknown> {
  return (await sql(server.url, `${ourDatabases} order by oid desc limit 1`))[0]
}

it('says what is missing', async () => {
  await using databases = testDatabases(server.url)
  await expect(databases.fresh()).rejects.toThrow('no template yet')
  await expect(databases.fresh('x; drop database y')).rejects.toThrow('not a name')
})

it('leaves nothing behind if preparing fails', async () => {
  const before = await sql(server.url, ourDatabases)
  await using databases = testDatabases(server.url)
  const failure = databases.template('broken', () => Promise.reject(new Error('bad migration')))
  await expect(failure).rejects.toThrow('bad migration')
  await databases.close()
  expect(await sql(server.url, ourDatabases)).toEqual(before)
})
