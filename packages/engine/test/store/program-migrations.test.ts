// The tables of a program that uses Millrace.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkProgramMigrations, migrateProgram, programMigrationStatus } from 'millrace'
import { expect, onTestFinished, test } from 'vitest'
import { setup } from '../support/setup.ts'

async function folderWith(files: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-migrations-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  return folder
}

test('run once each, in order, and their text is not rewritten', async () => {
  await using t = await setup()
  const folder = await folderWith({
    'README.md': 'not a migration',
    '0001_shop.sql': 'create table shop.item (id int primary key);',
    '0002_view.sql': 'create view shop.live as select id from millrace.job;',
  })
  const program = { schema: 'shop', folder }
  await expect(checkProgramMigrations(t.url, program, 'npm run migrate')).rejects.toThrow(
    'The schema "shop" lacks 0001_shop, 0002_view, which this program needs. Run `npm run migrate`, then start again.',
  )
  const [one, two] = await Promise.all([migrateProgram(t.url, program), migrateProgram(t.url, program)])
  expect([...one, ...two].map(({ name }) => name).sort()).toEqual(['0001_shop', '0002_view'])
  await checkProgramMigrations(t.url, program, 'npm run migrate')
  expect(await t.sql('select * from shop.live')).toEqual([])
  await writeFile(join(folder, '0001_shop.sql'), 'create table shop.item (id bigint primary key);')
  expect((await programMigrationStatus(t.url, program)).map(({ state }) => state)).toEqual(['changed', 'applied'])
  await expect(migrateProgram(t.url, program)).rejects.toThrow(/its file has been changed since/)
})

test('that fail leave nothing, and say where', async () => {
  await using t = await setup()
  const folder = await folderWith({ '0001_shop.sql': 'create table shop.item ();\ncreate tabel shop.x ();' })
  await expect(migrateProgram(t.url, { schema: 'shop', folder })).rejects.toThrow(
    /^Migration 0001_shop failed at line 2/,
  )
  expect(await t.sql("select to_regclass('shop.item') as found")).toEqual([{ found: null }])
})

test('in a schema of others, without a folder or without files are refused', async () => {
  await using t = await setup()
  const empty = await folderWith({})
  const refused = (schema: string, folder: string) => expect(migrateProgram(t.url, { schema, folder })).rejects
  await refused('millrace', empty).toThrow(/"millrace", which belongs to others/)
  await refused('Shop', empty).toThrow(/expected up to 63 small letters/)
  await refused('shop', join(empty, 'nowhere')).toThrow(/cannot be read from .*nowhere/)
  await refused('shop', empty).toThrow(/holds no migration of schema "shop"/)
})
