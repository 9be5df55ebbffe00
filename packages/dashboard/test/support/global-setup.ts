// Once for all browser tests: a database server, a filled database as template, a system on a copy of it, and a browser.
import { fillDemo } from '@millrace/demo'
import { openTestServer, testDatabases } from '@millrace/embedded'
import { createMillrace, migrate } from 'millrace'
import type {} from 'vitest'
import type { TestProject } from 'vitest/node'
import { startChromium } from './chromium.ts'
import { startSystem } from './system.ts'

/** In the demo's week. */
const JOBS = 8_000

/** Of the shared system: the secret of a token for each of them. */
export interface Callers {
  readonly admin: string
  readonly operator: string
  readonly viewer: string
  /** An operator of the tenant copper-kettle alone. */
  readonly tenant: string
}

declare module 'vitest' {
  interface ProvidedContext {
    /** Empty: there is no browser here. */
    browser: string
    systemUrl: string
    systemDatabase: string
    callers: Callers
    /** A filled database to copy, for tests that change more than a thing of their own. */
    databaseServer: string
    filledTemplate: string
    /** One that is migrated and nothing else, for what a new user sees. */
    emptyTemplate: string
  }
}

export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const browser = await startChromium().catch((error: unknown) => {
    if (process.env.CI) throw error
    console.warn(`The browser tests are skipped. ${error instanceof Error ? error.message : String(error)}`)
    return undefined
  })
  project.provide('browser', browser?.wsEndpoint() ?? '')
  const server = await openTestServer(process.env, { settings: { max_connections: '200' } })
  const databases = testDatabases(server.url)
  const emptyTemplate = await databases.template('dashboard-empty', async (url) => void (await migrate(url)))
  const template = await databases.template('dashboard', async (url) => void (await fillDemo(url, { jobs: JOBS })))
  const database = await databases.fresh(template)
  const callers = await makeTokens(database.url)
  // A picture shows jobs that run as long as such jobs do.
  const system = await startSystem(database.url, project.name === 'screenshots' ? { pace: 1 } : {})
  project.provide('systemUrl', system.url)
  project.provide('systemDatabase', database.url)
  project.provide('callers', callers)
  project.provide('databaseServer', server.url)
  project.provide('filledTemplate', template)
  project.provide('emptyTemplate', emptyTemplate)
  return async () => {
    await browser?.close()
    await system.close()
    await databases.close()
    await server.stop()
  }
}

export async function makeTokens(databaseUrl: string): Promise<Callers> {
  await using millrace = createMillrace({ database: databaseUrl, jobs: [] })
  const token = async (name: keyof Callers, role: 'admin' | 'operator' | 'viewer', tenants?: string[]) =>
    (await millrace.tokens.create({ name, role, by: 'test', ...(tenants && { tenants }) })).secret
  return {
    admin: await token('admin', 'admin'),
    operator: await token('operator', 'operator'),
    viewer: await token('viewer', 'viewer'),
    tenant: await token('tenant', 'operator', ['copper-kettle']),
  }
}
