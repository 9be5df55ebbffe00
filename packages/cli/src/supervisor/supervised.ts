// The side of the worker process: it says whether it is ready, why it could not start, and stops with its supervisor.
import type { Snapshot } from '@millrace/telemetry'
import {
  DatabaseConflict,
  DatabaseTimeout,
  DatabaseUnavailable,
  type Logger,
  MillraceError,
  type Worker,
} from 'millrace'
import type { StopRequests } from '../signals.ts'
import { WorkloadUnusable } from '../workload-module.ts'
import { type Condition, type FailureKind, isMetricsRequest, type Message, type Report } from './messages.ts'

/** The number of this process. Only a supervisor sets it. */
export const NUMBER_VARIABLE = 'MILLRACE_PROCESS'
/** Set by a supervisor that serves metrics. */
export const METRICS_VARIABLE = 'MILLRACE_PROCESS_METRICS'
const LOOK_MS = 200

export class Supervised {
  readonly number: number
  /** The supervisor wants its metrics. */
  readonly isScraped: boolean

  private constructor(number: number, isScraped: boolean) {
    this.number = number
    this.isScraped = isScraped
  }

  /** Undefined when no supervisor started this process. To be asked once: what handlers start must not inherit the number. */
  static detect(): Supervised | undefined {
    const number = Number(process.env[NUMBER_VARIABLE])
    const isScraped = process.env[METRICS_VARIABLE] !== undefined
    delete process.env[NUMBER_VARIABLE]
    delete process.env[METRICS_VARIABLE]
    return process.send !== undefined && number >= 1 ? new Supervised(number, isScraped) : undefined
  }

  /**
   * However often it is asked, it stops in order: a Ctrl-C reaches it from the terminal and from the supervisor, and only
   * the supervisor ends it at once. A supervisor that is gone is a request too.
   */
  stopRequests(logger: Logger): StopRequests {
    return (stop) => {
      let isAsked = false
      const ask = (why: string) => {
        if (isAsked) return
        isAsked = true
        logger.info({ why }, 'stopping')
        stop()
      }
      process.on('SIGTERM', ask)
      process.on('SIGINT', ask)
      // A terminal that closes sends it to everybody; the supervisor decides.
      process.on('SIGHUP', () => {})
      const onGone = () => ask('the supervisor is gone')
      if (process.connected) process.once('disconnect', onGone)
      else onGone()
    }
  }

  /** Tells the condition of the worker now and whenever it changes. A lost lease also changes the worker's id. */
  reportOn(worker: Worker | undefined): void {
    let told: Condition | undefined
    const look = () => {
      const condition = { isReady: worker?.isReady ?? true, workerId: worker?.id ?? null }
      if (told?.isReady === condition.isReady && told.workerId === condition.workerId) return
      told = condition
      void tell({ condition })
    }
    look()
    setInterval(look, LOOK_MS).unref()
  }

  /** Answers the supervisor with the metrics of this process, whenever it asks. */
  answerMetrics(snapshot: () => Promise<Snapshot>): void {
    process.on('message', async (message) => {
      if (isMetricsRequest(message)) await this.sendMetrics(await snapshot())
    })
  }

  sendMetrics(metrics: Snapshot): Promise<boolean> {
    return tell({ metrics })
  }

  /** An operator asked this worker to stop: the supervisor shall start no other one in its place. */
  leaves(): void {
    void tell({ isLeaving: true })
  }

  /** False: nobody heard it. */
  startFailed(error: unknown, text: string): Promise<boolean> {
    return tell({ startFailure: { kind: kindOf(error), text } })
  }
}

const PASSING = [DatabaseConflict, DatabaseTimeout, DatabaseUnavailable]

function kindOf(error: unknown): FailureKind {
  if (PASSING.some((each) => error instanceof each)) return 'outage'
  return error instanceof MillraceError || error instanceof WorkloadUnusable ? 'final' : 'unknown'
}

function tell(report: Report): Promise<boolean> {
  const message: Message = { millrace: report }
  return new Promise((resolve) => {
    if (!process.connected) return resolve(false)
    process.send?.(message, undefined, undefined, (error) => resolve(error === null))
  })
}
