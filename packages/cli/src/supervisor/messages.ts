// What a worker process and its supervisor tell each other. Everything else on the channel is passed over.
import type { Snapshot } from '@millrace/telemetry'

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
  | { readonly metrics: Snapshot }

export interface Message {
  readonly millrace: Report
}

export function reportIn(message: unknown): Report | undefined {
  return typeof message === 'object' && message !== null && 'millrace' in message
    ? (message as Message).millrace
    : undefined
}

/** The supervisor wants the metrics of a process. */
export const METRICS_REQUEST = { millraceRequest: 'metrics' } as const

export function isMetricsRequest(message: unknown): boolean {
  return (message as Partial<typeof METRICS_REQUEST> | null)?.millraceRequest === METRICS_REQUEST.millraceRequest
}
