import { createMillrace, type MillraceOptions } from 'millrace'
import { freshDatabase } from '../../../engine/test/support/database.ts'
import { saidBy } from './in-process.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** A database of this test's own, a client on it, and the commands of `millrace`, run there by this process. */
export async function setup(options: Partial<MillraceOptions> = {}) {
  const database = await freshDatabase()
  const millrace = createMillrace({ database: database.url, jobs: [], logger: silent, ...options })
  return {
    millrace,
    env: { DATABASE_URL: database.url },
    run: (...args: string[]) => saidBy(args, { DATABASE_URL: database.url }),
    async [Symbol.asyncDispose]() {
      await millrace.close()
      await database.drop()
    },
  }
}
