// Structured logging in the shape of pino, so that a pino instance fits as it is.

export interface Logger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

const write =
  (level: string) =>
  (fields: object, message: string): void => {
    process.stderr.write(`${JSON.stringify({ level, time: new Date().toISOString(), ...fields, msg: message })}\n`)
  }

/** Warnings and errors as JSON lines on stderr: the default, quiet while all is well. */
export const stderrLogger: Logger = { debug: () => {}, info: () => {}, warn: write('warn'), error: write('error') }
