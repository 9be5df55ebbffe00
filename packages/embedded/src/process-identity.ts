import { execFileSync } from 'node:child_process'
import { readFileSync, readlinkSync } from 'node:fs'

/**
 * A process, named so that a later process with the same pid is not mistaken for it: `<pid>.<birth>`.
 * Safe as a file name. On Linux the birth is `<boot>-<pid namespace>-<clock ticks since boot>`.
 */
export type ProcessToken = string

/** `elsewhere`: another pid namespace, so another container that shares our disk. It may well be alive. */
export type Life = 'alive' | 'gone' | 'elsewhere'

const isLinux = process.platform === 'linux'
const bootAndNamespace = isLinux ? `${bootId()}-${pidNamespace()}` : ''

export function ownToken(): ProcessToken {
  return tokenOf(process.pid) ?? `${process.pid}.unknown`
}

/** Undefined when no such process runs. A zombie does not run: a container without an init process keeps them. */
export function tokenOf(pid: number): ProcessToken | undefined {
  const birth = isLinux ? birthFromProc(pid) : birthFromPs(pid)
  return birth === undefined ? undefined : `${pid}.${birth}`
}

export function lifeOf(token: ProcessToken): Life {
  const [pid, birth = ''] = token.split('.')
  if (tokenOf(Number(pid)) === token) return 'alive'
  const [boot, namespace] = birth.split('-')
  const [ownBoot, ownNamespace] = bootAndNamespace.split('-')
  return isLinux && boot === ownBoot && namespace !== ownNamespace ? 'elsewhere' : 'gone'
}

export function isRunning(pid: number): boolean {
  return tokenOf(pid) !== undefined
}

function birthFromProc(pid: number): string | undefined {
  const stat = readOrEmpty(`/proc/${pid}/stat`)
  // The second field is the program's name in parentheses and may itself contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state, startedAtTick] = [fields[0], fields[19]]
  return startedAtTick === undefined || isDeadState(state) ? undefined : `${bootAndNamespace}-${startedAtTick}`
}

function birthFromPs(pid: number): string | undefined {
  const [state, ...startedAt] = ps(pid, ['stat', 'lstart']).split(/\s+/)
  if (startedAt.length === 0 || isDeadState(state)) return undefined
  return String(Date.parse(`${startedAt.join(' ')} UTC`) / 1000)
}

function isDeadState(state: string | undefined): boolean {
  return state === undefined || /^[ZX]/.test(state)
}

/** What `ps` says about one process, or about all; empty if there is no such process. */
export function ps(pid: number | 'all', columns: readonly string[]): string {
  const which = pid === 'all' ? ['-ax'] : ['-p', String(pid)]
  // Each column with an option of its own: after "=", everything up to the end of the argument is its heading.
  const args = ['-ww', ...which, ...columns.flatMap((column) => ['-o', `${column}=`])]
  try {
    const env = { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' }
    return execFileSync('ps', args, { env, stdio: ['ignore', 'pipe', 'ignore'], timeout: 5000 })
      .toString()
      .trim()
  } catch {
    return ''
  }
}

function bootId(): string {
  return readOrEmpty('/proc/sys/kernel/random/boot_id').slice(0, 8) || 'unknown'
}

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid').replace(/\D/g, '') || 'unknown'
  } catch {
    return 'unknown'
  }
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
