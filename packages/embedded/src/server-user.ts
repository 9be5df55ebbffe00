import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { NoServerUserError } from './errors.ts'

/** The user Postgres runs as. */
export interface ServerUser {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

/** Undefined: as ourselves. Postgres refuses to run as root, so root needs another user for it. */
export async function chooseServerUser(env: NodeJS.ProcessEnv): Promise<ServerUser | undefined> {
  if (process.geteuid?.() !== 0) return undefined
  const candidates = env.MILLRACE_POSTGRES_USER ? [env.MILLRACE_POSTGRES_USER] : ['postgres', 'nobody']
  for (const name of candidates) {
    const user = await lookUpUser(name)
    if (user?.uid === 0) throw new NoServerUserError(candidates, `${name} is root as well`)
    if (user) return user
  }
  throw new NoServerUserError(candidates, 'no such user exists')
}

export async function lookUpUser(name: string): Promise<ServerUser | undefined> {
  const passwd = await readFile('/etc/passwd', 'utf8').catch(() => '')
  for (const line of passwd.split('\n')) {
    const [login, , uid, gid] = line.split(':')
    if (login === name && uid && gid) return { name, uid: Number(uid), gid: Number(gid) }
  }
  return await askId(name)
}

/** For users who are not in the file: LDAP, systemd, macOS directory services. */
async function askId(name: string): Promise<ServerUser | undefined> {
  const id = async (flag: string) => {
    const { stdout } = await promisify(execFile)('id', [flag, '--', name], { timeout: 5000 })
    return Number.parseInt(stdout, 10)
  }
  try {
    return { name, uid: await id('-u'), gid: await id('-g') }
  } catch {
    return undefined
  }
}

/** What `spawn` needs to become that user; libuv also drops the supplementary groups. */
export function asUser(user: ServerUser | undefined): { uid?: number; gid?: number } {
  return user ? { uid: user.uid, gid: user.gid } : {}
}
