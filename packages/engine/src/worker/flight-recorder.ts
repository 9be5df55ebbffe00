// A run's logger. Every line goes to the process's logger, bound to job and correlation; the last ones are also kept,
// and stored with the attempt if it fails.
import { payloadAttributes } from '../contract/attributes.ts'
import { storable } from '../failure.ts'
import type { Logger } from '../logger.ts'
import { spanContextOf } from '../tracing.ts'
import type { Run } from './run.ts'
import { traceParentOfRun } from './run-span.ts'

const KEPT_LINES = 50
const MAX_LINE = 1_000

type Level = keyof Logger

export class FlightRecorder implements Logger {
  readonly #logger: Logger
  readonly #bound: object
  readonly #run: Run
  readonly #startedAt = Date.now()
  #lines: { level: Level; ms: number; msg: string; fields?: object }[] = []

  constructor(logger: Logger, run: Run) {
    this.#logger = logger
    this.#run = run
    this.#bound = boundFields(run)
  }

  debug = (fields: object, message: string): void => this.#log('debug', fields, message)
  info = (fields: object, message: string): void => this.#log('info', fields, message)
  warn = (fields: object, message: string): void => this.#log('warn', fields, message)
  error = (fields: object, message: string): void => this.#log('error', fields, message)

  /** JSON text of the last lines, or null when the run said nothing. */
  recording(): string | null {
    if (this.#lines.length === 0) return null
    return `[${this.#lines.map(encodeLine).join(',')}]`
  }

  #log(level: Level, fields: object, message: string): void {
    const told = this.#redacted(fields, message)
    this.#logger[level]({ ...this.#bound, ...told.fields }, told.message)
    if (this.#lines.length === KEPT_LINES) this.#lines.shift()
    const hasFields = Object.keys(told.fields).length > 0
    const kept = hasFields ? { fields: told.fields } : {}
    this.#lines.push({ level, ms: Date.now() - this.#startedAt, msg: told.message, ...kept })
  }

  /** What cannot be read cannot be looked through, so it is not told at all. */
  #redacted(fields: object, message: string): { fields: object; message: string } {
    try {
      const { redactor } = this.#run
      return { fields: redactor.json({ ...fields }) as object, message: redactor.text(String(message)) }
    } catch {
      return { fields: {}, message: '(a line that cannot be read)' }
    }
  }
}

/** With the names that log collectors know for the trace: logs and spans of a run find each other by them. */
function boundFields(run: Run): object {
  const { id, type, queue, attempt, correlationId, tenant, payload } = run.job
  const { attributes } = run.contract
  const span = spanContextOf(traceParentOfRun(run))
  return {
    ...{ job: id, type, queue, attempt, correlation: correlationId },
    ...(tenant === null ? {} : { tenant }),
    ...(span === undefined ? {} : { trace_id: span.traceId, span_id: span.spanId }),
    ...(attributes.length === 0 ? {} : { attributes: payloadAttributes(attributes, payload, run.redactor) }),
  }
}

/** One line as JSON that jsonb accepts, whatever was logged. */
function encodeLine(line: { level: string; ms: number; msg: string; fields?: object }): string {
  const { level, ms } = line
  try {
    const fields = line.fields === undefined ? undefined : storable(JSON.stringify(line.fields), MAX_LINE)
    return JSON.stringify({ level, ms, msg: storable(String(line.msg), MAX_LINE), fields })
  } catch {
    return JSON.stringify({ level, ms, msg: '(a line that cannot be written as JSON)' })
  }
}
