// Logs go to stderr: JSON lines for machines, one short line each for a person at a terminal.
import { styleText } from 'node:util'
import pino, { type Logger } from 'pino'
import { isUnsafe, safeJson, safeLine, safeLines } from './terminal.ts'

const LEVELS = ['debug', 'info', 'warn', 'error']

/** `labels` stand on every line. */
export function createLogger(labels: Record<string, unknown> = {}): Logger {
  const wanted = process.env.LOG_LEVEL ?? 'info'
  const level = LEVELS.includes(wanted) ? wanted : 'info'
  const destination = process.stderr.isTTY ? { write: writeForPeople } : pino.destination({ dest: 2, sync: true })
  const logger = pino(
    { level, base: { pid: process.pid, ...labels }, timestamp: pino.stdTimeFunctions.isoTime },
    destination,
  )
  if (level !== wanted) logger.warn(`LOG_LEVEL is "${wanted}"; expected ${LEVELS.join(', ')}. Using info.`)
  return logger
}

function writeForPeople(line: string): void {
  process.stderr.write(`${humanLine(line, process.env.NO_COLOR === undefined)}\n`)
}

const STYLES = { debug: 'gray', info: 'green', warn: 'yellow', error: 'red', fatal: 'red' } as const

/** "09:41:07 WARN  the message  key=value", from one of pino's JSON lines. */
export function humanLine(json: string, isColoured: boolean): string {
  const { level, time, msg = '', pid: _, err, ...fields } = JSON.parse(json)
  const name = pino.levels.labels[level] as keyof typeof STYLES
  const paint = (style: Parameters<typeof styleText>[0], text: string) => (isColoured ? styleText(style, text) : text)
  const details = Object.entries(fields).map(([key, value]) => `${safeLine(key)}=${shown(value)}`)
  const tail = details.length === 0 ? '' : `  ${paint('gray', details.join(' '))}`
  // Indented, so that no line of a message looks like a line of the log.
  const stack = err?.stack ? `\n${safeLines(String(err.stack)).replace(/^/gm, '  ')}` : ''
  return `${paint('gray', clockOf(time))} ${paint(STYLES[name], name.toUpperCase().padEnd(5))} ${safeLine(msg)}${tail}${stack}`
}

const clockOf = (time: string): string => new Date(time).toTimeString().slice(0, 8)
const shown = (value: unknown): string =>
  typeof value === 'string' && /^[^\s"]+$/.test(value) && !isUnsafe(value) ? value : safeJson(JSON.stringify(value))
