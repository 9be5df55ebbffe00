// How a command ends that failed.
import { type Command, InvalidArgumentError } from 'commander'
import { MillraceError } from 'millrace'
import { EmbeddedUnusable } from './embedded.ts'
import { PortUnusable } from './health-server.ts'
import { PsqlUnusable } from './psql-program.ts'
import { CrashLoop, EXIT_CRASH_LOOP, StartFailed } from './supervisor/verdict.ts'
import { safeLines } from './terminal.ts'
import { WorkloadUnusable } from './workload-module.ts'

/** A command cannot do what it was asked: said without a stack. */
export class Refused extends Error {
  override readonly name = 'Refused'
}

/** What went wrong, for people. Errors that are not meant for them keep their stack. */
export function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof WorkloadUnusable) {
    const { stack, code } = (error.cause ?? {}) as NodeJS.ErrnoException
    return `${error.message}${stack && code !== 'MODULE_NOT_FOUND' ? `\n\n${stack}` : ''}`
  }
  const known = [
    MillraceError,
    EmbeddedUnusable,
    PortUnusable,
    PsqlUnusable,
    Refused,
    StartFailed,
    CrashLoop,
    InvalidArgumentError,
  ]
  return known.some((each) => error instanceof each) ? error.message : (error.stack ?? error.message)
}

/** Says what went wrong and ends the process. */
export function fail(command: Command, error: unknown): never {
  command.error(`error: ${safeLines(failureText(error))}`, {
    exitCode: error instanceof CrashLoop ? EXIT_CRASH_LOOP : 1,
  })
}
