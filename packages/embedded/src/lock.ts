import { createHash, randomBytes } from 'node:crypto'
import { readlink, symlink, unlink } from 'node:fs/promises'
import { ClusterBusyError } from './errors.ts'
import { poll } from './poll.ts'
import { lifeOf, ownToken } from './process-identity.ts'

/** Longer than the longest honest holder: initdb, then a start with crash recovery, each up to its own deadline. */
const patienceMs = 180_000

/**
 * Runs `work` while no other process or call runs work under the same path.
 * The lock is a symbolic link whose target names its holder: made in one step, never half-written, and it says who
 * died when nobody released it. The holder's process may die at any time; the next one takes over.
 */
export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  await acquire(path)
  try {
    return await work()
  } finally {
    await unlink(path)
  }
}

async function acquire(path: string): Promise<void> {
  const self = `${ownToken()}.${randomBytes(4).toString('hex')}`
  let holder = 'unknown'
  await poll(
    async () => {
      if (await tryCreate(path, self)) return true
      const current = await holderOf(path)
      if (current === undefined) return undefined
      holder = current
      if (lifeOf(processOf(current)) !== 'alive') await takeFromTheDead(path, current)
      return undefined
    },
    { withinMs: patienceMs, expired: () => new ClusterBusyError(path, `process ${holder}`, patienceMs) },
  )
}

/**
 * Two processes may find the same dead holder at once, and the slower must not remove the lock that the faster has
 * taken since. So removing it is itself done under a lock, one for each dead holder; whoever dies there is dealt with
 * in the same way.
 */
async function takeFromTheDead(path: string, holder: string): Promise<void> {
  const name = createHash('sha256').update(holder).digest('hex').slice(0, 8)
  await withLock(`${path}.${name}`, async () => {
    if ((await holderOf(path)) === holder) await unlink(path)
  })
}

async function tryCreate(path: string, holder: string): Promise<boolean> {
  try {
    await symlink(holder, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

async function holderOf(path: string): Promise<string | undefined> {
  return await readlink(path).catch(() => undefined)
}

function processOf(holder: string): string {
  return holder.slice(0, holder.lastIndexOf('.'))
}
