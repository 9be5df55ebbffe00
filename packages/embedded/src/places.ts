import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { realpath, statfs } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { canTraverse, claimDirectory, isWritable } from './directory-safety.ts'
import { BadNameError, PlaceUnusableError } from './errors.ts'
import type { Host } from './host.ts'

/** Where binaries and persistent clusters live: the first candidate that is safe and reachable. */
export async function stateDirectory(host: Host): Promise<string> {
  const reasons: string[] = []
  for (const candidate of await stateCandidates(host)) {
    const claim = await claimDirectory(candidate, host.serverUser, true)
    if ('path' in claim) return claim.path
    reasons.push(claim.refused)
  }
  throw new PlaceUnusableError('the state of the embedded Postgres', reasons)
}

async function stateCandidates({ env, uid, serverUser }: Host): Promise<string[]> {
  // An explicit wish is not replaced by a fallback: it fails with its reason.
  if (env.MILLRACE_STATE_HOME) return [resolve(env.MILLRACE_STATE_HOME, 'millrace')]
  const root = await temporaryRoot({ env, uid, serverUser }).catch(() => undefined)
  const fallback = root === undefined ? [] : [join(root, `millrace-${uid}`)]
  if (uid === 0) return ['/var/lib/millrace', ...fallback]
  const homes = [env.XDG_STATE_HOME, env.HOME && join(env.HOME, '.local', 'state')]
  return [...homes.filter((home) => home && isAbsolute(home)).map((home) => join(`${home}`, 'millrace')), ...fallback]
}

/** For throw-away servers. Root's own TMPDIR may be private, and Postgres runs as somebody else then. */
export async function temporaryRoot({ env, serverUser }: Host): Promise<string> {
  const candidates = [env.TMPDIR, '/tmp', '/var/tmp'].filter((path) => path !== undefined && isAbsolute(path))
  for (const candidate of candidates as string[]) {
    const real = await realpath(candidate).catch(() => undefined)
    if (real === undefined || !(await isWritable(real))) continue
    if (serverUser === undefined || (await canTraverse(real, serverUser))) return real
  }
  const who = serverUser ? `both ${process.geteuid?.()} and ${serverUser.name}` : 'us'
  throw new PlaceUnusableError('temporary files', [`none of ${candidates.join(', ')} is open to ${who}`])
}

/** Where Linux keeps files in memory. */
const memory = '/dev/shm'
/** Several times what a long test run takes at once. A container often has 64 MB there. */
const roomNeeded = 2 * 1024 ** 3

/** For servers whose data nobody will miss: in memory where there is room, else where other temporary files are. */
export async function volatileRoot(host: Host, needed = roomNeeded): Promise<string> {
  const isOpen = async () =>
    (await isWritable(memory)) && (!host.serverUser || (await canTraverse(memory, host.serverUser)))
  const room = await statfs(memory).then(
    ({ bavail, bsize }) => Math.min(bavail * bsize, process.availableMemory()),
    () => 0,
  )
  return room >= needed && (await isOpen()) ? memory : await temporaryRoot(host)
}

/** Where one persistent cluster lives; `directory` is the caller's own choice instead of a name. */
export async function clusterDirectory(host: Host, name: string | undefined, directory?: string): Promise<string> {
  const isOurs = directory === undefined
  const path = isOurs ? await namedCluster(host, name) : resolve(directory)
  const claim = await claimDirectory(path, host.serverUser, isOurs)
  if ('path' in claim) return claim.path
  throw new PlaceUnusableError('the cluster', [claim.refused])
}

async function namedCluster(host: Host, name = projectName(process.cwd())): Promise<string> {
  if (!/^[\w-][\w.-]{0,79}$/.test(name)) throw new BadNameError(name)
  const clusters = join(await stateDirectory(host), 'clusters')
  const claim = await claimDirectory(clusters, host.serverUser, true)
  if ('refused' in claim) throw new PlaceUnusableError('clusters', [claim.refused])
  return join(claim.path, name)
}

/** Two checkouts of the same project get two clusters; each subdirectory of a checkout gets that checkout's. */
export function projectName(directory: string): string {
  const project = nearestPackage(directory) ?? directory
  const readable = basename(project)
    .replace(/[^\w-]+/g, '-')
    .slice(0, 40)
  const hash = createHash('sha256').update(project).digest('hex').slice(0, 8)
  return `${readable || 'root'}-${hash}`
}

function nearestPackage(directory: string): string | undefined {
  if (existsSync(join(directory, 'package.json'))) return directory
  const parent = dirname(directory)
  return parent === directory ? undefined : nearestPackage(parent)
}
