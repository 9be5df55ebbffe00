// What becomes of jobs, for a developer who looks on: each kind of failure once in full, and every ten seconds a line of
// counts. Repeated failures are in the log at the level debug.
import type { Logger, Millrace } from 'millrace'
import { logJobs } from './job-log.ts'
import { counted } from './worker-process.ts'

const EVERY_MS = 10_000

interface Counts {
  completed: number
  retried: number
  dead: number
  workflows: number
}

export class JobDigest {
  readonly #logger: Logger
  readonly #timer: NodeJS.Timeout
  readonly #told = new Set<string>()
  #counts = none()
  #sinceMs = performance.now()

  constructor(logger: Logger) {
    this.#logger = logger
    this.#timer = setInterval(() => this.flush(), EVERY_MS)
    this.#timer.unref()
  }

  watch(millrace: Millrace): void {
    const { events } = millrace
    events.on('job_completed', () => this.#counts.completed++)
    events.on('job_retry_scheduled', () => this.#counts.retried++)
    events.on('job_died', () => this.#counts.dead++)
    events.on('workflow_completed', () => this.#counts.workflows++)
    logJobs(millrace, this.#onceEach())
  }

  /** Writes the line, if there is anything to tell. */
  flush(): void {
    const { completed, retried, dead, workflows } = this.#counts
    const seconds = Math.max(1, Math.round((performance.now() - this.#sinceMs) / 1_000))
    this.#counts = none()
    this.#sinceMs = performance.now()
    if (completed + retried + dead + workflows === 0) return
    const parts = [`${counted(completed, 'job')} completed`]
    if (workflows > 0) parts.push(`${counted(workflows, 'workflow')} completed`)
    if (retried > 0) parts.push(`${counted(retried, 'attempt')} failed and will be repeated`)
    if (dead > 0) parts.push(`${counted(dead, 'job')} failed for good`)
    this.#logger.info({}, `in the last ${seconds} s: ${parts.join(', ')}`)
  }

  stop(): void {
    clearInterval(this.#timer)
    this.flush()
  }

  /** Writes a warning or error when its kind is new, and what repeats one at the level debug. */
  #onceEach(): Logger {
    const logger = this.#logger
    const once = (level: 'warn' | 'error') => (fields: object, message: string) => {
      const kind = `${message} ${kindOf(fields)}`
      const isNew = !this.#told.has(kind)
      this.#told.add(kind)
      logger[isNew ? level : 'debug'](fields, message)
    }
    return {
      debug: (fields, message) => logger.debug(fields, message),
      info: (fields, message) => logger.info(fields, message),
      warn: once('warn'),
      error: once('error'),
    }
  }
}

/** The same for failures that differ only in numbers, such as ids. */
function kindOf(fields: object): string {
  const { type, name, error, reason } = fields as Record<string, unknown>
  return JSON.stringify([type, name, error, reason]).replace(/\d+/g, '#')
}

const none = (): Counts => ({ completed: 0, retried: 0, dead: 0, workflows: 0 })
