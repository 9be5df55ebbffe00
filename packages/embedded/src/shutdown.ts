import { StopFailedError } from './errors.ts'
import { poll } from './poll.ts'
import { findPostmaster } from './postmaster.ts'
import { tokenOf } from './process-identity.ts'

/** fast: disconnects everybody and writes everything down. immediate: as if it had crashed. */
export type ShutdownMode = 'fast' | 'immediate'

const deadlineMs = { fast: 60_000, immediate: 20_000 }
const signals = { fast: 'SIGINT', immediate: 'SIGQUIT' } as const

/** Stops the server that runs on this data, if one does, and waits until it is gone. It need not be our child. */
export async function stopServer(dataDirectory: string, mode: ShutdownMode): Promise<void> {
  const postmaster = await findPostmaster(dataDirectory)
  if (postmaster === undefined) return
  const { pid } = postmaster
  const token = tokenOf(pid)
  signal(pid, signals[mode])
  // A fault test may have frozen it.
  signal(pid, 'SIGCONT')
  // Not when it has stopped looking like a server: a process that ends has no command line any more, and still is one.
  await poll(() => (token !== undefined && tokenOf(pid) === token ? undefined : true), {
    withinMs: deadlineMs[mode],
    expired: () => new StopFailedError(pid, deadlineMs[mode]),
  })
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
