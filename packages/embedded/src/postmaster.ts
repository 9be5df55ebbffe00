import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { isRunning, ps } from './process-identity.ts'

/** The main process of a Postgres server, as its pid file describes it. */
export interface Postmaster {
  readonly pid: number
  readonly port: number
  /** It has its port and has finished recovery. */
  readonly isReady: boolean
}

/** The server that runs on this data directory. Its pid file alone proves nothing: pids repeat after a crash. */
export async function findPostmaster(dataDirectory: string): Promise<Postmaster | undefined> {
  const lines = await readPidFile(dataDirectory)
  const [pid, port] = [Number(lines?.[0]), Number(lines?.[3])]
  return isPostmaster(pid, dataDirectory) ? { pid, port, isReady: lines?.[7]?.trim() === 'ready' } : undefined
}

/** Whether that pid is, now, the main process of a server on `dataDirectory` (which must be a real path). */
export function isPostmaster(pid: number, dataDirectory: string): boolean {
  return servesDirectory(pid, dataDirectory) === 'yes'
}

function servesDirectory(pid: number, dataDirectory: string): 'yes' | 'no' | 'perhaps' {
  if (!Number.isInteger(pid) || pid <= 0 || !isRunning(pid)) return 'no'
  if (process.platform !== 'linux') return isServerCommand(ps(pid, ['command']), dataDirectory) ? 'yes' : 'no'
  const [program = '', ...args] = readOrEmpty(`/proc/${pid}/cmdline`).split('\0')
  // The children of a postmaster call themselves "postgres: checkpointer" and the like.
  if (!['postgres', 'postmaster'].includes(basename(program))) return 'no'
  const workingDirectory = workingDirectoryOf(pid)
  if (workingDirectory !== undefined) return workingDirectory === dataDirectory ? 'yes' : 'no'
  // Root in a container may not look at another user's working directory. We always start servers with `-D /…`.
  const argument = args.includes('-D') ? args[args.indexOf('-D') + 1] : undefined
  if (argument === dataDirectory) return 'yes'
  return argument?.startsWith('/') ? 'no' : 'perhaps'
}

/** As we start servers. Where there is no /proc, there is only this one line to go by. */
function isServerCommand(command: string, dataDirectory: string): boolean {
  return `${command} `.includes(`/postgres -D ${dataDirectory} `)
}

/**
 * Postgres refuses to start when its pid file names a living process of the same user, even if that process is
 * something else that was given the pid later (in a container that restarts, the same pids come again).
 * Removes the file only when that is certain to have happened.
 */
export async function clearRecycledPidFile(dataDirectory: string): Promise<void> {
  const lines = await readPidFile(dataDirectory)
  if (lines === undefined) return
  const isEmpty = lines.join('').trim() === ''
  // The pid of a dead process is no obstacle, and Postgres makes its own checks then.
  if (!isEmpty && !isRunning(Number(lines[0]))) return
  if (isAnyPostmaster(dataDirectory) || isSharedMemoryAttached(lines[6])) return
  await rm(join(dataDirectory, 'postmaster.pid'), { force: true })
}

function isAnyPostmaster(dataDirectory: string): boolean {
  if (process.platform === 'linux') {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
    return pids.some((pid) => servesDirectory(Number(pid), dataDirectory) !== 'no')
  }
  const commands = ps('all', ['command']).split('\n')
  return commands.some((command) => isServerCommand(command, dataDirectory))
}

/** A backend that outlived its postmaster still writes to the data. Its shared memory gives it away. */
function isSharedMemoryAttached(pidFileLine: string | undefined): boolean {
  const [key, id] = (pidFileLine ?? '').trim().split(/\s+/)
  if (!id || process.platform !== 'linux') return false
  const segments = readOrEmpty('/proc/sysvipc/shm').split('\n').slice(1)
  return segments.some((line) => {
    const [segmentKey, segmentId, , , , , attached] = line.trim().split(/\s+/)
    return segmentId === id && Number(segmentKey) === Number(key) && Number(attached) > 0
  })
}

/** Lines: pid, data directory, start time, port, socket directory, listen address, shared memory key and id, status. */
async function readPidFile(dataDirectory: string): Promise<string[] | undefined> {
  try {
    return (await readFile(join(dataDirectory, 'postmaster.pid'), 'utf8')).split('\n')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function workingDirectoryOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return undefined
  }
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
