import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Cluster } from './cluster.ts'
import { BinariesUnusableError, StartFailedError, StopFailedError } from './errors.ts'
import { poll } from './poll.ts'
import { freePort, isPortFree } from './port.ts'
import { clearRecycledPidFile } from './postmaster.ts'
import { awaitReady } from './readiness.ts'
import { lastLines, openServerLog, readLog, type ServerLog } from './server-log.ts'
import { asUser } from './server-user.ts'

/** Includes crash recovery. */
export const startDeadlineMs = 60_000
const quitDeadlineMs = 20_000

export interface RunningServer {
  readonly pid: number
  readonly port: number
  readonly version: string
}

/** Names and values as in postgresql.conf. */
export type Settings = Readonly<Record<string, string>>

export interface ServerWishes {
  readonly settings: Settings
  /** `must`: clients hold a URL with this port. `prefer`: it would be nice to have it again. */
  readonly port?: { readonly must: number } | { readonly prefer: number | undefined }
}

/** Starts a server on a cluster that has none. One caller at a time; it may die anywhere and the next one goes on. */
export async function startServer(cluster: Cluster, wishes: ServerWishes): Promise<RunningServer> {
  await clearRecycledPidFile(cluster.dataDirectory)
  const deadline = performance.now() + startDeadlineMs
  let port = await choosePort(wishes.port)
  for (;;) {
    const attempt = await launch(cluster, wishes.settings, port)
    const version = await waitFor(attempt, cluster, port)
    if (version !== undefined) return { pid: attempt.pid, port, version }
    const log = await readLog(attempt.log)
    const obstacle = passingObstacle(log)
    if (obstacle === undefined || performance.now() >= deadline) {
      const { exitCode, signalCode } = attempt.child
      throw new StartFailedError(`it ended with ${signalCode ?? `code ${exitCode}`}`, attempt.log.file, lastLines(log))
    }
    if (obstacle === 'port' && !(wishes.port && 'must' in wishes.port)) port = await freePort()
    else await sleep(100)
  }
}

async function choosePort(wish: ServerWishes['port']): Promise<number> {
  if (wish && 'must' in wish) return wish.must
  return wish?.prefer && (await isPortFree(wish.prefer)) ? wish.prefer : await freePort()
}

/** What goes away by itself: somebody took the port before us; backends of a killed server have not noticed yet. */
function passingObstacle(log: string): 'port' | 'orphans' | undefined {
  if (/could not bind|Address already in use/i.test(log)) return 'port'
  if (/pre-existing shared memory block/i.test(log)) return 'orphans'
  return undefined
}

interface Attempt {
  readonly pid: number
  readonly child: ChildProcess
  readonly log: ServerLog
}

async function launch(cluster: Cluster, settings: Settings, port: number): Promise<Attempt> {
  const { binaries, dataDirectory, logFile, serverUser } = cluster
  // Ours come last, so that they win: everything here relies on them.
  const all = { ...settings, port: `${port}`, listen_addresses: '127.0.0.1', unix_socket_directories: '' }
  const args = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const log = await openServerLog(logFile)
  try {
    const child = spawn(join(binaries.binDirectory, 'postgres'), ['-D', dataDirectory, ...args], {
      ...asUser(serverUser),
      cwd: dataDirectory,
      env: binaries.env,
      // Its own session: Ctrl-C in the terminal of one user of the server must not stop it for the others.
      detached: true,
      stdio: ['ignore', log.handle.fd, log.handle.fd],
    })
    await once(child, 'spawn')
    child.unref()
    return { pid: child.pid as number, child, log }
  } catch (error) {
    throw new BinariesUnusableError(binaries.binDirectory, (error as Error).message, error)
  } finally {
    await log.handle.close()
  }
}

/** The version, or undefined if the server ended instead. */
async function waitFor({ child, pid, log }: Attempt, cluster: Cluster, port: number): Promise<string | undefined> {
  const isRunning = () => child.exitCode === null && child.signalCode === null
  try {
    const { dataDirectory, password } = cluster
    return await awaitReady({ credentials: { port, password }, dataDirectory, isRunning, withinMs: startDeadlineMs })
  } catch (error) {
    child.kill('SIGQUIT')
    const expired = () => new StopFailedError(pid, quitDeadlineMs)
    await poll(() => (isRunning() ? undefined : true), { withinMs: quitDeadlineMs, expired })
    throw new StartFailedError((error as Error).message, log.file, lastLines(await readLog(log)), error)
  }
}
