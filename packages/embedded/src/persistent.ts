import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findBinaries } from './binaries.ts'
import { type Cluster, prepareCluster } from './cluster.ts'
import { applicationDatabase, connectionUrl, ensureApplicationDatabase } from './connection.ts'
import type { EmbeddedPostgres } from './embedded-postgres.ts'
import { StartFailedError } from './errors.ts'
import { surveyHost } from './host.ts'
import { withLock } from './lock.ts'
import { clusterDirectory } from './places.ts'
import { findPostmaster, isPostmaster } from './postmaster.ts'
import { awaitReady } from './readiness.ts'
import { isAnybodyLeft, register } from './registrations.ts'
import { type RunningServer, type Settings, startDeadlineMs, startServer } from './server.ts'
import { stopServer } from './shutdown.ts'

export interface EmbeddedOptions {
  /** Which cluster; unless given, one for the project that the working directory belongs to. */
  readonly name?: string
  /** Where the cluster lives, instead of a place chosen by its name. */
  readonly directory?: string
  /** Server settings such as `{ work_mem: '64MB' }`. Whoever joins a running server gets the settings it runs with. */
  readonly settings?: Settings
  /** Hears one sentence before each step that may take seconds. */
  readonly onLog?: (message: string) => void
  /** Read instead of `process.env`: HOME, XDG_STATE_HOME, TMPDIR and the MILLRACE_ variables. */
  readonly env?: NodeJS.ProcessEnv
}

/**
 * Starts the server of a persistent cluster, or joins it if another process has. The last one to stop stops the
 * server. It outlives a process that dies without stopping; the next start joins it then.
 */
export async function startEmbedded(options: EmbeddedOptions = {}): Promise<EmbeddedPostgres> {
  const log = options.onLog ?? (() => {})
  const host = await surveyHost(options.env ?? process.env)
  const directory = await clusterDirectory(host, options.name, options.directory)
  log(`Preparing Postgres in ${directory}`)
  const binaries = await findBinaries(host)
  const lock = join(directory, 'lock')
  return await withLock(lock, async () => {
    const leave = await enter(directory)
    try {
      const cluster = await prepareCluster({ host, binaries, directory, isThrowAway: false })
      const server = (await joinServer(cluster)) ?? (await startAgain(cluster, directory, options.settings ?? {}))
      await ensureApplicationDatabase({ port: server.port, password: cluster.password })
      log(`Postgres ${server.version} runs on port ${server.port}`)
      return new PersistentPostgres(cluster, server, () => withLock(lock, leave))
    } catch (error) {
      await leave().catch(() => {})
      throw error
    }
  })
}

/** Was there ever an embedded server for this project? Makes nothing. */
export async function hasEmbedded(options: Pick<EmbeddedOptions, 'name' | 'directory' | 'env'> = {}): Promise<boolean> {
  const host = await surveyHost(options.env ?? process.env)
  const directory = await clusterDirectory(host, options.name, options.directory)
  return existsSync(join(directory, 'data', 'PG_VERSION'))
}

/** Registers us as a user of the cluster; the answer undoes that, and stops the server if nobody else is left. */
async function enter(directory: string): Promise<() => Promise<void>> {
  const users = join(directory, 'users')
  const registration = await register(users)
  return async () => {
    await registration.leave()
    if (!(await isAnybodyLeft(users))) await stopServer(join(directory, 'data'), 'fast')
  }
}

/** Undefined if no server runs, or if it was on its way out. */
async function joinServer(cluster: Cluster): Promise<RunningServer | undefined> {
  const postmaster = await findPostmaster(cluster.dataDirectory)
  if (postmaster === undefined) return undefined
  const { pid, port } = postmaster
  const { dataDirectory, password } = cluster
  const version = await awaitReady({
    credentials: { port, password },
    dataDirectory,
    isRunning: () => isPostmaster(pid, dataDirectory),
    withinMs: startDeadlineMs,
  }).catch((error) => {
    throw new StartFailedError(`it runs already (pid ${pid}), but ${error.message}`, cluster.logFile, '', error)
  })
  return version === undefined ? undefined : { pid, port, version }
}

/** On the port it had last time, if that is free: URLs in other windows and tools stay valid. */
async function startAgain(cluster: Cluster, directory: string, settings: Settings): Promise<RunningServer> {
  const portFile = join(directory, 'port')
  const lastPort = Number(await readFile(portFile, 'utf8').catch(() => '')) || undefined
  const server = await startServer(cluster, { settings, port: { prefer: lastPort } })
  await writeFile(portFile, `${server.port}\n`)
  return server
}

class PersistentPostgres implements EmbeddedPostgres {
  readonly url: string
  readonly port: number
  readonly pid: number
  readonly dataDirectory: string
  readonly version: string
  readonly #leave: () => Promise<void>
  #stopping: Promise<void> | undefined

  constructor(cluster: Cluster, server: RunningServer, leave: () => Promise<void>) {
    this.url = connectionUrl({ port: server.port, password: cluster.password }, applicationDatabase)
    this.port = server.port
    this.pid = server.pid
    this.dataDirectory = cluster.dataDirectory
    this.version = server.version
    this.#leave = leave
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#leave()
    return this.#stopping
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }
}
