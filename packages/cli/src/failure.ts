// How a command ends that failed.
import { EmbeddedError } from '@millrace/embedded'
import type { Command } from 'commander'
import { MillraceError } from 'millrace'
import { PortUnusable } from './health-server.ts'
import { PsqlUnusable } from './psql-program.ts'
import { CrashLoop, EXIT_CRASH_LOOP, StartFailed } from './supervisor/verdict.ts'
import { WorkloadUnusable } from './workload-module.ts'

/** What went wrong, for people. Errors that are not meant for them keep their stack. */
export function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof WorkloadUnusable) {
    const { stack } = (error.cause ?? {}) as Error
    return `${error.message}${stack ? `\n\n${stack}` : ''}`
  }
  const known = [MillraceError, EmbeddedError, PortUnusable, PsqlUnusable, StartFailed, CrashLoop]
  return known.some((each) => error instanceof each) ? error.message : (error.stack ?? error.message)
}

/** Says what went wrong and ends the process. */
export function fail(command: Command, error: unknown): never {
  command.error(`error: ${failureText(error)}`, { exitCode: error instanceof CrashLoop ? EXIT_CRASH_LOOP : 1 })
}
