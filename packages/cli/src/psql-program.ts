// psql itself: where it is, and running it in the place of this program.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, statSync } from 'node:fs'
import { constants as system } from 'node:os'
import { delimiter, join } from 'node:path'
import { findEmbeddedProgram } from './embedded.ts'

/** psql, or the database it shall open, cannot be used. The message is for people. */
export class PsqlUnusable extends Error {}

/** MILLRACE_PSQL, else the first in PATH, else the one beside the binaries of the embedded Postgres. */
export async function findPsql(env: NodeJS.ProcessEnv): Promise<string> {
  const wish = env.MILLRACE_PSQL
  if (wish) {
    if (isProgram(wish)) return wish
    throw new PsqlUnusable(`MILLRACE_PSQL names ${wish}, which is no program that can be run. Correct or unset it.`)
  }
  const places = (env.PATH ?? '').split(delimiter).filter((directory) => directory !== '')
  const found = places.map((directory) => join(directory, 'psql')).find(isProgram)
  const program = found ?? (await findEmbeddedProgram('psql', env))
  if (program !== undefined) return program
  throw new PsqlUnusable(
    'psql was not found in PATH, and the embedded Postgres does not carry it. Install it (Debian and Ubuntu: apt-get install postgresql-client; macOS: brew install libpq; Alpine: apk add postgresql-client), or set MILLRACE_PSQL to its path.',
  )
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** Answers with its exit code. */
export async function runPsql(program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  let child: ChildProcess | undefined
  const pass = (signal: NodeJS.Signals) => child?.kill(signal)
  // Ctrl-C reaches psql from the terminal, cancels its query, and must not end us before it.
  const ignore = () => {}
  process.on('SIGINT', ignore).on('SIGTERM', pass).on('SIGHUP', pass)
  try {
    child = spawn(program, args, { env, stdio: 'inherit' })
    return await codeOf(child)
  } catch (error) {
    throw new PsqlUnusable(`${program} cannot be run: ${(error as Error).message}.`)
  } finally {
    process.off('SIGINT', ignore).off('SIGTERM', pass).off('SIGHUP', pass)
  }
}

async function codeOf(child: ChildProcess): Promise<number> {
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals]
  return code ?? 128 + system.signals[signal]
}
