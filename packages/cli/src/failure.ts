import { EmbeddedError } from '@millrace/embedded'
import type { Command } from 'commander'
import { MillraceError } from 'millrace'
import { PortUnusable } from './health-server.ts'
import { PsqlUnusable } from './psql-program.ts'
import { WorkloadUnusable } from './workload-module.ts'

/** Says what went wrong and ends the process with code 1. Errors that are not meant for people keep their stack. */
export function fail(command: Command, error: unknown): never {
  const isForPeople = [MillraceError, EmbeddedError, PortUnusable, PsqlUnusable].some((known) => error instanceof known)
  if (isForPeople) command.error(`error: ${(error as Error).message}`)
  if (error instanceof WorkloadUnusable) {
    const { stack } = (error.cause ?? {}) as Error
    command.error(`error: ${error.message}${stack ? `\n\n${stack}` : ''}`)
  }
  command.error(`error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
}
