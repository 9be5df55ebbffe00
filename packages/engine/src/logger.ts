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
    const line = { level, time: new Date().toISOString(), ...fields, msg: message }
    process.stderr.write(`${JSON.stringify(line, printable)}\n`)
  }

/** What JSON cannot say: logging must not fail a job. */
function printable(_: string, value: unknown): unknown {
  if (value instanceof Error) return { name: value.name, message: value.message, stack: value.stack }
  return typeof value === 'bigint' ? String(value) : value
}

/** Warnings and errors as JSON lines on stderr: the default, quiet while all is well. */
export const stderrLogger: Logger = { debug: () => {}, info: () => {}, warn: write('warn'), error: write('error') }
