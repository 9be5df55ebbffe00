import { lstat, readdir, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { lifeOf } from './process-identity.ts'
import { stopServer } from './shutdown.ts'

export const throwAwayPrefix = 'millrace-throwaway-'

/** Stops and removes the throw-away servers whose owners died without doing so. */
export async function removeAbandoned(temporaryRoot: string): Promise<void> {
  // A temporary directory that we may write need not let us list it.
  for (const name of await readdir(temporaryRoot).catch(() => [])) {
    const directory = join(temporaryRoot, name)
    // Another process may be sweeping too, and what could not be removed now is for the next sweep.
    if (ownerOf(directory) !== undefined) await removeIfAbandoned(directory).catch(() => {})
  }
}

/** Leaves alone what belongs to another user, and what an owner in another container may still use. */
export async function removeIfAbandoned(directory: string): Promise<void> {
  const owner = ownerOf(directory)
  const entry = await lstat(directory)
  if (owner === undefined || lifeOf(owner) !== 'gone') return
  if (!entry.isDirectory() || entry.uid !== process.geteuid?.()) return
  await stopServer(join(directory, 'data'), 'immediate')
  await rm(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
}

/** The process that a throw-away directory is named for. */
export function ownerOf(directory: string): string | undefined {
  return /^millrace-throwaway-(\d+\.[\w-]+)-\w{6}$/.exec(basename(directory))?.[1]
}
