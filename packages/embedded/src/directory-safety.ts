import { access, chmod, constants, lstat, mkdir, realpath, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ServerUser } from './server-user.ts'

/** A directory we use, or the reason why we do not. */
export type Claim = { readonly path: string } | { readonly refused: string }

/**
 * Makes `path` (if needed) a directory that only we can write, and that `reader` can enter.
 * Answers with its real path, so that it can be compared with what the kernel reports about processes.
 * `isOurs`: it bears our name, so its mode may be corrected. A directory that the caller chose (it could be /tmp or
 * root's home) keeps the mode it has.
 */
export async function claimDirectory(path: string, reader: ServerUser | undefined, isOurs: boolean): Promise<Claim> {
  try {
    const mode = reader ? 0o755 : 0o700
    const made = await mkdir(path, { recursive: true, mode })
    const entry = await lstat(path)
    // Covers a symbolic link too: one that somebody else put under a shared temp directory is theirs.
    if (entry.uid !== process.geteuid?.()) return { refused: `${path} belongs to another user (uid ${entry.uid})` }
    const real = await realpath(path)
    const danger = await whoElseCouldReplace(dirname(real))
    if (danger) return { refused: danger }
    // Explicit, because a umask of 077 would shut out the reader and one of 002 would let a group write.
    for (const step of withAncestors(path)) if (made && step.length >= made.length) await chmod(step, mode)
    if (isOurs) await chmod(real, mode)
    return (await whyUnusable(real, reader)) ?? { path: real }
  } catch (error) {
    return { refused: `${path}: ${(error as Error).message}` }
  }
}

async function whyUnusable(path: string, reader: ServerUser | undefined): Promise<{ refused: string } | undefined> {
  if (((await stat(path)).mode & 0o022) !== 0) return { refused: `${path} can be written by other users` }
  if (!(await isWritable(path))) return { refused: `${path} cannot be written` }
  if (reader && !(await canTraverse(path, reader))) {
    return { refused: `${path} cannot be entered by ${reader.name}, who runs Postgres` }
  }
  return undefined
}

/**
 * Whoever may write a directory above ours can replace ours, binaries included.
 * Group-writable ones pass: with user-private groups (umask 002) every home directory has them.
 */
async function whoElseCouldReplace(directory: string): Promise<string | undefined> {
  // In a user namespace the machine's own directories belong to an unmapped uid; the owner of / owns the machine.
  const trusted = [0, process.geteuid?.(), (await stat('/')).uid]
  for (const path of withAncestors(directory)) {
    const { uid, mode } = await stat(path)
    if (!trusted.includes(uid)) return `${path} belongs to another user (uid ${uid}), who could replace what is in it`
    const isWritableByAll = (mode & 0o002) !== 0 && (mode & 0o1000) === 0
    if (isWritableByAll) return `${path} can be written by everybody and has no sticky bit`
  }
  return undefined
}

/** By permission bits alone: an access control list may allow more, never assume it does. */
export async function canTraverse(directory: string, user: ServerUser): Promise<boolean> {
  for (const path of withAncestors(directory)) {
    const { uid, gid, mode } = await stat(path)
    const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001
    if ((mode & bit) === 0) return false
  }
  return true
}

export async function isWritable(directory: string): Promise<boolean> {
  return await access(directory, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  )
}

function withAncestors(path: string): string[] {
  const steps = path.split('/').filter((step) => step !== '')
  return ['/', ...steps.map((_, index) => join('/', ...steps.slice(0, index + 1)))]
}
