// OpenTelemetry as far as the engine speaks it: the API only. A program without an SDK has no tracer, and pays one check per job.
import {
  type Context,
  context,
  isSpanContextValid,
  type ProxyTracerProvider,
  ROOT_CONTEXT,
  type SpanContext,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { VERSION } from './version.ts'

/** Undefined: the program has installed no SDK. Asked anew each time, because it may do so at any time. */
export function tracer(): Tracer | undefined {
  const provider = trace.getTracerProvider() as Partial<ProxyTracerProvider>
  return provider.getDelegateTracer?.('millrace', VERSION)
}

/** W3C `traceparent`. */
export function traceParentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
}

const TRACE_PARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})/

/** Undefined: there is none, or the text is not one. */
export function spanContextOf(traceParent: string | null): SpanContext | undefined {
  const [, traceId = '', spanId = '', flags = ''] = (traceParent !== null && TRACE_PARENT.exec(traceParent)) || []
  const found = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
  return isSpanContextValid(found) ? found : undefined
}

/** The trace in which this code runs; null: in none. */
export function activeTraceParent(): string | null {
  const active = trace.getSpanContext(context.active())
  return active !== undefined && isSpanContextValid(active) ? traceParentOf(active) : null
}

/** A context below the span that a row names: the active one itself where that is it, because it knows more. */
export function contextBelow(traceParent: string | null): Context {
  const active = context.active()
  const named = spanContextOf(traceParent)
  if (named === undefined) return active
  if (trace.getSpanContext(active)?.spanId === named.spanId) return active
  return trace.setSpanContext(ROOT_CONTEXT, named)
}

/** The id of the trace that a `traceparent` names. */
export const traceIdOf = (traceParent: string | null): string | null => spanContextOf(traceParent)?.traceId ?? null
