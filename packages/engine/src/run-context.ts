// Which job is running, for whatever is enqueued from inside it: it inherits correlation and trace and becomes a child.
import { AsyncLocalStorage } from 'node:async_hooks'

export interface RunContext {
  readonly jobId: string
  readonly correlationId: string
  /** Of the run's span, or what its job's row says. */
  readonly traceParent: string | null
}

export const runContext = new AsyncLocalStorage<RunContext>()
