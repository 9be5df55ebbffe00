import { isSpanContextValid, TraceFlags, trace } from '@opentelemetry/api'

/** The trace that the current run belongs to, if it is recorded: the engine tells events of a run inside its span. */
export function activeTrace(): string | undefined {
  const context = trace.getActiveSpan()?.spanContext()
  if (context === undefined || !isSpanContextValid(context)) return undefined
  return (context.traceFlags & TraceFlags.SAMPLED) === 0 ? undefined : context.traceId
}
