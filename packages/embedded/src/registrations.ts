import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { lifeOf, ownToken } from './process-identity.ts'

/**
 * Who uses a cluster: one empty file per use, named for its process. The last one to leave stops the server.
 * Call these under the cluster's lock, else a server can be stopped between somebody's look and their registration.
 */
export async function register(directory: string): Promise<{ leave(): Promise<void> }> {
  await mkdir(directory, { recursive: true })
  const file = join(directory, `${ownToken()}.${randomBytes(4).toString('hex')}`)
  await writeFile(file, '')
  return { leave: () => rm(file, { force: true }) }
}

/** Clears the registrations of processes that died without leaving. */
export async function isAnybodyLeft(directory: string): Promise<boolean> {
  let isUsed = false
  for (const name of await readdir(directory)) {
    const isAlive = lifeOf(name.slice(0, name.lastIndexOf('.'))) === 'alive'
    if (isAlive) isUsed = true
    else await rm(join(directory, name), { force: true })
  }
  return isUsed
}
