// The span of a run whose process died: that process took its own span with it, so the rescuer writes one.
import { ROOT_CONTEXT, SpanKind, SpanStatusCode } from '@opentelemetry/api'
import type { Orphan } from '../store/running-jobs.ts'
import type { Settlement } from '../store/settlements.ts'
import { spanContextOf, tracer } from '../tracing.ts'

/** From the start of the run until now, linked to what enqueued it. A worker may have its runs in `parent` mode: nobody knows here. */
export function writeRescuedSpan(run: Orphan, settlement: Settlement): void {
  const producer = spanContextOf(run.traceParent)
  const span = tracer()?.startSpan(
    `process ${run.queue}`,
    {
      kind: SpanKind.CONSUMER,
      startTime: run.startedAt ?? Date.now(),
      links: producer === undefined ? [] : [{ context: producer }],
      attributes: {
        'messaging.system': 'millrace',
        'messaging.operation.name': 'process',
        'messaging.operation.type': 'process',
        'messaging.destination.name': run.queue,
        'messaging.message.id': run.id,
        'messaging.message.conversation_id': run.correlationId,
        'job.id': Number(run.id),
        'job.type': run.type,
        'job.queue': run.queue,
        'job.attempt': run.attempt,
        'error.type': 'WorkerDied',
        'millrace.outcome': settlement.kind === 'bury' ? 'dead' : 'interrupted',
        ...(run.tenant !== null && { 'millrace.tenant': run.tenant }),
      },
    },
    ROOT_CONTEXT,
  )
  if (!span?.isRecording()) return
  span.setStatus({ code: SpanStatusCode.ERROR, message: 'Its worker died.' })
  span.addEvent('job.interrupted', { why: 'its worker died', ...(run.host !== null && { 'host.name': run.host }) })
  if (settlement.kind === 'bury') span.addEvent('job.died', { reason: settlement.reason, attempts: run.attempt })
  span.end()
}
