// Which job is running, for whatever is enqueued from inside it: it inherits the correlation and becomes a child.
import { AsyncLocalStorage } from 'node:async_hooks'

export interface RunContext {
  readonly jobId: string
  readonly correlationId: string
}

export const runContext = new AsyncLocalStorage<RunContext>()
