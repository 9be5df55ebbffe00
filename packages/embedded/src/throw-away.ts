import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { findBinaries } from './binaries.ts'
import { type Cluster, prepareCluster } from './cluster.ts'
import { applicationDatabase, connectionUrl, ensureApplicationDatabase } from './connection.ts'
import type { EmbeddedPostgres } from './embedded-postgres.ts'
import { type Host, surveyHost } from './host.ts'
import { temporaryRoot, volatileRoot } from './places.ts'
import { ownToken } from './process-identity.ts'
import { type RunningServer, type Settings, startServer } from './server.ts'
import { stopServer } from './shutdown.ts'
import { removeAbandoned, throwAwayPrefix } from './sweep.ts'
import { type Guard, guard } from './watchdog-process.ts'

export interface ThrowAwayOptions {
  readonly settings?: Settings
  /**
   * Default true: what is measured here, and crashed, is a queue. With false it writes without waiting for the disk, and
   * keeps its data in memory where there is room: many times faster to copy databases on, and lost if the machine stops.
   */
  readonly isDurable?: boolean
  /** A directory with initdb and postgres, instead of MILLRACE_POSTGRES_BIN or the binaries from npm. */
  readonly binDirectory?: string
  /** Read instead of `process.env`: HOME, XDG_STATE_HOME, TMPDIR and the MILLRACE_ variables. */
  readonly env?: NodeJS.ProcessEnv
}

/**
 * A crash of the server alone still loses nothing: it has handed its log to the operating system.
 * No jit: for tables without statistics, as tests have them, Debian's servers spend a second compiling what runs a moment.
 */
const volatileSettings: Settings = { fsync: 'off', full_page_writes: 'off', max_wal_size: '256MB', jit: 'off' }

/** A server that can also be made to fail. */
export interface ThrowAwayPostgres extends EmbeddedPostgres {
  /** Ends the server at once, without writing anything down; the next start recovers from the write-ahead log. */
  crash(): Promise<void>
  /** Starts the server again with the same data on the same port, after `crash` or while it runs. */
  restart(): Promise<void>
}

/**
 * A server of one's own, with a new cluster in a temporary directory; `stop` removes both.
 * If our process dies first, a watchdog process removes them, or else the next call of this function does.
 */
export async function startThrowAway(options: ThrowAwayOptions = {}): Promise<ThrowAwayPostgres> {
  const host = await surveyHost(options.env ?? process.env)
  const binaries = await findBinaries(host, options.binDirectory)
  const { isDurable = true } = options
  const settings = { ...(isDurable ? {} : volatileSettings), ...options.settings }
  const root = isDurable ? await temporaryRoot(host) : await volatileRoot(host)
  await removeAbandoned(root)
  const directory = await makeDirectory(root, host)
  const watchdog = guard(directory)
  try {
    const cluster = await prepareCluster({ host, binaries, directory, isThrowAway: true })
    const server = await startServer(cluster, { settings })
    await ensureApplicationDatabase({ port: server.port, password: cluster.password })
    return new ThrowAwayServer({ directory, cluster, server, settings, watchdog })
  } catch (error) {
    await discard(directory, watchdog)
    throw error
  }
}

/** The name says whose it is, so there is no moment at which it exists without an owner. */
async function makeDirectory(root: string, host: Host): Promise<string> {
  const directory = await mkdtemp(join(root, `${throwAwayPrefix}${ownToken()}-`))
  if (host.serverUser) await chmod(directory, 0o755)
  return directory
}

async function discard(directory: string, watchdog: Guard): Promise<void> {
  await stopServer(join(directory, 'data'), 'immediate')
  // Backends whose postmaster was killed may write for another moment.
  await rm(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  watchdog.dismiss()
}

interface Parts {
  readonly directory: string
  readonly cluster: Cluster
  readonly server: RunningServer
  readonly settings: Settings
  readonly watchdog: Guard
}

class ThrowAwayServer implements ThrowAwayPostgres {
  readonly url: string
  readonly port: number
  readonly dataDirectory: string
  readonly version: string
  #pid: number
  #stopping: Promise<void> | undefined
  #last: Promise<void> = Promise.resolve()
  readonly #parts: Parts

  constructor(parts: Parts) {
    const { cluster, server } = parts
    this.url = connectionUrl({ port: server.port, password: cluster.password }, applicationDatabase)
    this.port = server.port
    this.dataDirectory = cluster.dataDirectory
    this.version = server.version
    this.#pid = server.pid
    this.#parts = parts
  }

  get pid(): number {
    return this.#pid
  }

  crash(): Promise<void> {
    return this.#afterOthers(() => stopServer(this.dataDirectory, 'immediate'))
  }

  restart(): Promise<void> {
    return this.#afterOthers(async () => {
      if (this.#stopping) throw new Error('This server was stopped, and its data removed: start another one.')
      await stopServer(this.dataDirectory, 'fast')
      const { cluster, settings } = this.#parts
      const { pid } = await startServer(cluster, { settings, port: { must: this.port } })
      this.#pid = pid
    })
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#afterOthers(() => discard(this.#parts.directory, this.#parts.watchdog))
    return this.#stopping
  }

  /** A test that timed out may stop the server while its restart is still under way. */
  #afterOthers(work: () => Promise<void>): Promise<void> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => {})
    return result
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }
}
