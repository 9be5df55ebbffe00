import { type EmbeddedOptions, startEmbedded } from './persistent.ts'
import { startThrowAway, type ThrowAwayOptions } from './throw-away.ts'

/** A server to work with, wherever it comes from. */
export interface OpenedDatabase extends AsyncDisposable {
  readonly url: string
  /** False for the server that DATABASE_URL names; stopping does nothing then. */
  readonly embedded: boolean
  stop(): Promise<void>
}

/** The database that DATABASE_URL names, else the embedded one of this project, which keeps its data. */
export async function openDatabase(
  env: NodeJS.ProcessEnv = process.env,
  options: Omit<EmbeddedOptions, 'env'> = {},
): Promise<OpenedDatabase> {
  return external(env) ?? embedded(await startEmbedded({ ...options, env }))
}

/** The server that DATABASE_URL names, else a throw-away one. */
export async function openTestServer(
  env: NodeJS.ProcessEnv = process.env,
  options: Omit<ThrowAwayOptions, 'env'> = {},
): Promise<OpenedDatabase> {
  return external(env) ?? embedded(await startThrowAway({ ...options, env }))
}

function external({ DATABASE_URL: url }: NodeJS.ProcessEnv): OpenedDatabase | undefined {
  if (!url) return undefined
  const stop = async () => {}
  return { url, embedded: false, stop, [Symbol.asyncDispose]: stop }
}

function embedded(server: { readonly url: string; stop(): Promise<void> }): OpenedDatabase {
  const stop = () => server.stop()
  return { url: server.url, embedded: true, stop, [Symbol.asyncDispose]: stop }
}
