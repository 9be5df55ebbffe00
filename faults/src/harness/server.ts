// The Postgres the scenarios run on, and a migrated database for each of them.
import { openTestServer, startThrowAway, type TestDatabase, testDatabases } from '@millrace/embedded'
import { migrate } from 'millrace'

export interface FaultServer {
  /** A migrated database of one's own. */
  freshDatabase(): Promise<TestDatabase>
}

export interface OpenFaultServer extends FaultServer, AsyncDisposable {}

/** A server that a scenario may crash. */
export interface CrashableServer extends OpenFaultServer {
  crash(): Promise<void>
  restart(): Promise<void>
}

const settings = { max_connections: '200' }

/** DATABASE_URL, or a throw-away server. */
export async function openFaultServer(env: NodeJS.ProcessEnv): Promise<OpenFaultServer> {
  const server = await openTestServer(env, { settings })
  return withTemplate(server.url, () => server.stop())
}

/** Always a throw-away server: nobody crashes what DATABASE_URL names. */
export async function openCrashableServer(): Promise<CrashableServer> {
  // Recovery begins by syncing every file; one call for all of them is a second faster.
  const sync: Record<string, string> = process.platform === 'linux' ? { recovery_init_sync_method: 'syncfs' } : {}
  const server = await startThrowAway({ settings: { ...settings, ...sync } })
  const open = await withTemplate(server.url, () => server.stop())
  return { ...open, crash: () => server.crash(), restart: () => server.restart() }
}

/** A server that somebody else runs, with a template that is migrated already. */
export function faultServerAt(url: string, template: string): OpenFaultServer {
  const databases = testDatabases(url)
  return { freshDatabase: () => databases.fresh(template), [Symbol.asyncDispose]: () => databases.close() }
}

async function withTemplate(url: string, stop: () => Promise<void>): Promise<OpenFaultServer> {
  const databases = testDatabases(url)
  const close = async () => {
    await databases.close().catch(() => {})
    await stop()
  }
  try {
    const template = await databases.template('faults', async (of) => void (await migrate(of)))
    return { freshDatabase: () => databases.fresh(template), [Symbol.asyncDispose]: close }
  } catch (error) {
    await close()
    throw error
  }
}
