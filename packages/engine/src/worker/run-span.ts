// The `process {queue}` span of a run: from the call of the handler until the outcome is written. The handler runs inside it, and so
// do the listeners of the events that tell the outcome.
import { type Attributes, context, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { spanAttributes } from '../client/send-span.ts'
import { payloadAttributes } from '../contract/attributes.ts'
import type { Failure } from '../failure.ts'
import type { Requeue, Settlement } from '../store/settlements.ts'
import { spanContextOf, traceParentOf, tracer } from '../tracing.ts'
import type { Entry, SettleResult } from './acker.ts'
import type { Run } from './run.ts'

/**
 * 'link': a run begins a trace of its own, linked to the span that enqueued it. 'parent': it goes on with that one's trace.
 */
export type TraceMode = 'link' | 'parent'

/** Undefined: the program has installed no SDK. */
export function startRunSpan(run: Run, handler: string, mode: TraceMode): Span | undefined {
  const tracing = tracer()
  if (tracing === undefined) return undefined
  const { job } = run
  const producer = spanContextOf(job.traceParent)
  const isChild = mode === 'parent' && producer !== undefined
  const parent = isChild ? trace.setSpanContext(ROOT_CONTEXT, producer) : ROOT_CONTEXT
  const links = isChild || producer === undefined ? [] : [{ context: producer }]
  const attributes = {
    'messaging.system': 'millrace',
    'messaging.operation.name': 'process',
    'messaging.operation.type': 'process',
    'messaging.destination.name': job.queue,
    'job.type': job.type,
  }
  const span = tracing.startSpan(`process ${job.queue}`, { kind: SpanKind.CONSUMER, attributes, links }, parent)
  if (span.isRecording()) span.setAttributes(describe(run, handler))
  return span
}

function describe(run: Run, handler: string): Attributes {
  const { id, attempt, correlationId, tenant, workflowId, payload } = run.job
  const { attributes, queue } = run.contract
  return {
    'messaging.message.id': id,
    'messaging.message.conversation_id': correlationId,
    'job.id': Number(id),
    'job.queue': queue.facts.title ?? queue.name,
    'job.attempt': attempt,
    'job.handler': handler,
    ...(tenant !== null && { 'millrace.tenant': tenant }),
    ...(workflowId !== null && { 'millrace.workflow.id': workflowId }),
    ...(attributes.length > 0 && spanAttributes(payloadAttributes(attributes, payload, run.redactor))),
  }
}

/** Calls `work` inside the span of the run. */
export function insideSpan<Value>({ span }: Run, work: () => Value): Value {
  return span === undefined ? work() : context.with(trace.setSpan(ROOT_CONTEXT, span), work)
}

/** The trace that the run's children, its logs and its handler belong to. */
export const traceParentOfRun = ({ span, job }: Run): string | null =>
  span === undefined ? job.traceParent : traceParentOf(span.spanContext())

/** Says on the span what became of the run, lets `tell` say it elsewhere, and ends the span. */
export function endRunSpan({ run, settlement }: Entry, result: SettleResult, tell: () => void): void {
  const { span } = run
  // A span that is not kept takes no events, and listeners need not know it.
  if (!span?.isRecording()) tell()
  else {
    write(span, result === 'won' ? conclusionOf(run, settlement) : interrupted(NOT_WRITTEN[result]))
    insideSpan(run, tell)
    span.end()
  }
}

/** The worker has stopped, and the handler of this run has not. */
export function interruptRunSpan({ span }: Run): void {
  if (!span?.isRecording()) return
  write(span, interrupted('the worker stopped before its handler returned'))
  span.end()
}

interface Conclusion {
  readonly outcome: string
  readonly event: string
  readonly attributes: Attributes
  readonly failure?: Failure
}

const NOT_WRITTEN = {
  lost: 'another run has taken over',
  abandoned: 'its outcome could not be written in time',
} as const

const interrupted = (why: string): Conclusion => ({
  outcome: 'interrupted',
  event: 'job.interrupted',
  attributes: { why },
})

function conclusionOf(run: Run, settlement: Settlement): Conclusion {
  switch (settlement.kind) {
    case 'finish': {
      const { status: outcome, reason } = settlement
      if (outcome === 'completed') return { outcome, event: 'job.completed', attributes: {} }
      return { outcome, event: 'job.cancelled', attributes: { reason: reason ?? '', ...budgetOf(run) } }
    }
    case 'requeue':
      return settlement.crash === 'clear' ? waiting(run, settlement) : interrupted(wordsOf(run.abortReason))
    case 'bury': {
      const { reason, failure } = settlement
      const event = reason === 'exhausted' || reason === 'gave_up' ? 'job.exhausted' : 'job.died'
      return { outcome: 'dead', event, attributes: { reason, attempts: run.job.attempt }, failure }
    }
  }
}

function waiting(run: Run, { delayMs, failure }: Requeue): Conclusion {
  const attributes = { delay_ms: delayMs ?? 0, ...budgetOf(run) }
  if (failure !== null) return { outcome: 'retry_scheduled', event: 'job.retry_scheduled', attributes, failure }
  const outcome = run.refusedBy === undefined ? 'snoozed' : 'held'
  return { outcome, event: `job.${outcome}`, attributes }
}

/** A failure is told as it is stored: secrets were taken out. Its stack stays in the database. */
function write(span: Span, { outcome, event, attributes, failure }: Conclusion): void {
  if (failure !== undefined) {
    const { class: type, message, fingerprint } = failure
    span.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR, message })
    span.addEvent('job.failed', { 'exception.type': type, 'exception.message': message, fingerprint })
  }
  span.setAttribute('millrace.outcome', outcome).addEvent(event, attributes)
}

function budgetOf({ refusedBy }: Run): Attributes {
  if (refusedBy === undefined) return {}
  const { budget, level, used, limit } = refusedBy
  return { budget, level, percent_used: limit === 0 ? 100 : (used / limit) * 100 }
}

const wordsOf = (reason: unknown): string => (reason instanceof Error ? reason.message : 'it was given back')
