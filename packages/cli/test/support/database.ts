import { type TestDatabase, testDatabases } from '@millrace/embedded'
import { inject } from 'vitest'

/** A database of this test's own, migrated unless told otherwise. Dropped at the end of its scope. */
export async function freshDatabase(options: { migrated?: boolean } = {}): Promise<TestDatabase> {
  const databases = testDatabases(inject('serverUrl'))
  const template = options.migrated === false ? inject('emptyTemplate') : inject('migratedTemplate')
  const database = await databases.fresh(template)
  const drop = async () => {
    await database.drop()
    await databases.close()
  }
  return { ...database, drop, [Symbol.asyncDispose]: drop }
}
