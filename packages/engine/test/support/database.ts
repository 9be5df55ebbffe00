import { testDatabases } from '@millrace/embedded'
import { type TestDatabase, testDatabase } from 'millrace/testing'
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
