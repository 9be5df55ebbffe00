// `lipas` as a process of its own.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

export const LIPAS = fileURLToPath(new URL('../../bin/lipas.js', import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export interface Running {
  readonly child: ChildProcess
  /** Resolves with the first match in what it has printed on stdout. */
  printed(pattern: RegExp): Promise<RegExpExecArray>
  readonly ended: Promise<Ended>
}

export function start(args: readonly string[], env: Readonly<Record<string, string>> = {}): Running {
  const { DATABASE_URL: _, ...inherited } = process.env
  const child = spawn(process.execPath, [LIPAS, ...args], { env: { ...inherited, ...env } })
  const said = { out: '', err: '' }
  child.stdout.on('data', (text) => {
    said.out += text
  })
  child.stderr.on('data', (text) => {
    said.err += text
  })
  const ended = once(child, 'close').then(() => ({ code: child.exitCode, ...said }))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const printed = async (pattern: RegExp) => {
    for (;;) {
      const match = pattern.exec(said.out)
      if (match !== null) return match
      const isOver = await Promise.race([once(child.stdout, 'data').then(() => false), ended.then(() => true)])
      if (isOver) throw new Error(`It ended without printing ${pattern}: ${said.out}${said.err}`)
    }
  }
  return { child, printed, ended }
}

export const ran = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> =>
  start(args, env).ended
