import { execFile } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { BinariesMissingError, BinariesUnusableError } from './errors.ts'
import { type Host, surveyHost } from './host.ts'
import { installBinaries, locateCarrier } from './install.ts'
import { stateDirectory } from './places.ts'
import { asUser } from './server-user.ts'

export interface Binaries {
  readonly binDirectory: string
  readonly major: string
  /** The environment for initdb and postgres: nothing of ours that could change what they do, such as PGDATA. */
  readonly env: NodeJS.ProcessEnv
}

/** `binDirectory` or MILLRACE_POSTGRES_BIN if given, else the binaries from npm. */
export async function findBinaries(host: Host, binDirectory = host.env.MILLRACE_POSTGRES_BIN): Promise<Binaries> {
  if (binDirectory) return await inspect(host, resolve(binDirectory), { LD_LIBRARY_PATH: host.env.LD_LIBRARY_PATH })
  // Ours find their libraries beside them; a foreign LD_LIBRARY_PATH would come first.
  const carrier = await locateCarrier()
  return await inspect(host, await installBinaries(carrier, await stateDirectory(host)), {})
}

async function inspect(host: Host, binDirectory: string, extraEnv: NodeJS.ProcessEnv): Promise<Binaries> {
  const env = { PATH: host.env.PATH, TZ: 'UTC', ...extraEnv }
  try {
    // As the user who will run the server: root can execute what that user cannot even reach.
    const options = { ...asUser(host.serverUser), env, cwd: '/', timeout: 10_000 }
    for (const program of ['initdb', 'postgres']) accessSync(join(binDirectory, program))
    const { stdout } = await promisify(execFile)(join(binDirectory, 'postgres'), ['--version'], options)
    const major = /\(PostgreSQL\) (\d+)/.exec(stdout)?.[1]
    if (major === undefined) throw new Error(`postgres --version answered "${stdout.trim()}"`)
    return { binDirectory, major, env }
  } catch (error) {
    const { code, path, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' && !(path && isReadable(path))) throw new BinariesMissingError(path ?? binDirectory, error)
    const asWhom = host.serverUser ? ` as ${host.serverUser.name}` : ''
    throw new BinariesUnusableError(binDirectory, `postgres --version${asWhom} failed, ${message.trim()}`, error)
  }
}

/** A client program such as `psql` beside the server's binaries, if these carry it. Those from npm do not, so far. */
export async function findClientProgram(
  name: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<string | undefined> {
  const carrier = await locateCarrier().catch(() => undefined)
  const carried = env.MILLRACE_POSTGRES_BIN || (carrier && join(carrier.directory, 'native', 'bin'))
  if (!carried || !isReadable(join(carried, name))) return undefined
  const { binDirectory } = await findBinaries(await surveyHost(env))
  return join(binDirectory, name)
}

/** The bin directory of a Postgres that Debian's packages installed, if there is one. */
export function findPostgres(majorVersion: number): string | undefined {
  const directory = `/usr/lib/postgresql/${majorVersion}/bin`
  return ['initdb', 'postgres'].every((program) => isReadable(join(directory, program))) ? directory : undefined
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK)
    return true
  } catch {
    return false
  }
}
