// How a process is asked to stop.
import type { Logger } from 'millrace'

/** Calls `stop` when the process shall stop in order. */
export type StopRequests = (stop: () => void) => void

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const

/** npm passes on the Ctrl-C that the terminal has sent us already: two signals within this time are one key press. */
const ECHO_MS = process.env.npm_lifecycle_event === undefined ? 0 : 300

/** The first SIGINT or SIGTERM asks to stop; another one ends the process at once. */
export function stopSignals(
  logger: Logger,
  endAtOnce: (exitCode: number) => void = (exitCode) => process.exit(exitCode),
): StopRequests {
  return (stop) => {
    let firstAt: number | undefined
    const hear = (signal: keyof typeof EXIT_CODES) => {
      if (firstAt === undefined) {
        firstAt = Date.now()
        logger.info({ signal }, 'stopping; once more to stop at once')
        stop()
      } else if (Date.now() - firstAt >= ECHO_MS) {
        logger.warn({ signal }, 'stopped at once: jobs that were running will be rescued, an embedded database runs on')
        endAtOnce(EXIT_CODES[signal])
      }
    }
    process.on('SIGINT', hear)
    process.on('SIGTERM', hear)
  }
}
