import { randomUUID } from 'node:crypto'
import { testDatabases } from '@millrace/embedded'
import { migrate } from 'millrace'
import { type TestDatabase, testDatabase } from 'millrace/testing'
import pg from 'pg'
import { inject } from 'vitest'

/** A database of this test's own, migrated unless told otherwise. Dropped at the end of its scope. */
export async function freshDatabase(options: { migrated?: boolean } = {}): Promise<TestDatabase> {
  const server = inject('serverUrl')
  if (options.migrated !== false) return testDatabase({ server })
  const databases = testDatabases(server)
  const database = await databases.fresh(inject('emptyTemplate'))
  const drop = async () => {
    await database.drop()
    await databases.close()
  }
  return { ...database, drop, [Symbol.asyncDispose]: drop }
}

/** Migrated databases whose encoding lacks most characters: values of which Postgres says no, and none of our checks. */
export async function latinDatabases() {
  const name = `millrace_latin_${randomUUID().replaceAll('-', '')}`
  const url = new URL(inject('serverUrl'))
  const admin = new pg.Client(url.href)
  await admin.connect()
  await admin.query(
    `create database ${name} template template0 encoding 'LATIN1' locale_provider libc lc_collate 'C' lc_ctype 'C'`,
  )
  url.pathname = `/${name}`
  await migrate(url.href)
  const databases = testDatabases(inject('serverUrl'))
  const close = async () => {
    await databases.close()
    await admin.query(`drop database ${name} with (force)`)
    await admin.end()
  }
  return { fresh: (): Promise<TestDatabase> => databases.fresh(name), close, [Symbol.asyncDispose]: close }
}
