// What a worker process tells its supervisor. Everything else on the channel is somebody else's and passed over.

/**
 * final: starting again cannot help. outage: it helps as soon as the database is back. unknown: it may help, and is tried
 * a few times.
 */
export type FailureKind = 'final' | 'outage' | 'unknown'

export interface StartFailure {
  readonly kind: FailureKind
  /** For people. */
  readonly text: string
}

export interface Condition {
  readonly isReady: boolean
  readonly workerId: string | null
}

/** `isLeaving`: an operator asked this worker to stop, so nothing is to take its place. */
export type Report =
  | { readonly condition: Condition }
  | { readonly startFailure: StartFailure }
  | { readonly isLeaving: true }

export interface Message {
  readonly millrace: Report
}

export function reportIn(message: unknown): Report | undefined {
  return typeof message === 'object' && message !== null && 'millrace' in message
    ? (message as Message).millrace
    : undefined
}
