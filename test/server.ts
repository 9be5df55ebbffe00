// One Postgres for the whole test run: DATABASE_URL, or a throw-away server. Test files get databases of their own.
import { openTestServer, testDatabases } from '@millrace/embedded'
import { migrate } from 'millrace'
import type {} from 'vitest'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    serverUrl: string
    migratedTemplate: string
    emptyTemplate: string
  }
}

export default async function startServer(project: TestProject): Promise<() => Promise<void>> {
  const settings: Record<string, string> = { max_connections: '200' }
  if (process.env.MILLRACE_TEST_TIMEZONE) settings.timezone = process.env.MILLRACE_TEST_TIMEZONE
  // What the fault scenarios promise is about a server that keeps what it has committed.
  const isDurable = project.name === 'faults'
  const server = await openTestServer(process.env, { settings, isDurable })
  const databases = testDatabases(server.url)
  project.provide('serverUrl', server.url)
  project.provide('emptyTemplate', await databases.template('empty', async () => {}))
  project.provide('migratedTemplate', await databases.template('migrated', async (url) => void (await migrate(url))))
  return async () => {
    await databases.close()
    await server.stop()
  }
}
