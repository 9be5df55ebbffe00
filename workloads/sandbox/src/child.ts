// Starts a sandbox in a process of its own, so that what it computes does not block the worker, and stops it.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { portBeside } from './front.ts'

const START_MS = 30_000

export interface SandboxProcess {
  /** What it printed when it had started: see runAsProcess. */
  readonly addresses: unknown
  stop(): Promise<void>
}

/** `main` calls runAsProcess. Its port: one above that of `millrace dev`, or the next free one. */
export async function startSandboxProcess(main: string, port = portBeside()): Promise<SandboxProcess> {
  const child = spawn(process.execPath, [main, String(port)], {
    // It would get Ctrl-C from the terminal before the worker has stopped, which still calls it.
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const stop = () => stopped(child)
  const killIt = () => child.kill('SIGKILL')
  process.once('exit', killIt)
  child.once('close', () => process.off('exit', killIt))
  try {
    return { addresses: JSON.parse(await firstLine(child)), stop }
  } catch (cause) {
    await stop()
    throw new Error('The sandbox did not start.', { cause })
  }
}

async function firstLine(child: ChildProcess): Promise<string> {
  const signal = AbortSignal.timeout(START_MS)
  const lines = createInterface({ input: child.stdout as NonNullable<ChildProcess['stdout']> })
  const ended = once(child, 'close', { signal }).then(() => {
    throw new Error(`It ended with ${child.exitCode ?? child.signalCode}.`)
  })
  ended.catch(() => {})
  const [line] = (await Promise.race([once(lines, 'line', { signal }), ended])) as [string]
  return line
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const end = once(child, 'close')
  child.kill('SIGTERM')
  await end
}
