import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export interface Guard {
  /** There is nothing left to guard. */
  dismiss(): void
}

/**
 * Starts a process that waits for our end and then removes a throw-away server.
 * It reads from a pipe that only we hold: however we die, the kernel closes it. In its own session, so that Ctrl-C
 * does not end it along with us.
 */
export function guard(directory: string): Guard {
  const program = fileURLToPath(new URL('./watchdog.js', import.meta.url))
  const child = spawn(process.execPath, [program, directory], {
    cwd: '/',
    // Loaders and inspectors that NODE_OPTIONS asks for are meant for us.
    env: { ...process.env, NODE_OPTIONS: '' },
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  // Without a watchdog the next sweep does its work.
  child.on('error', () => {})
  child.stdin.on('error', () => {})
  child.unref()
  const pipe = child.stdin as typeof child.stdin & { unref?: () => void }
  pipe.unref?.()
  return { dismiss: () => child.stdin.end() }
}
