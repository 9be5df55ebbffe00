// The `send {queue}` spans of an enqueue. The row of each job carries the span's trace parent, so that its runs can be linked to it.
import { type Attributes, type Span, SpanKind, SpanStatusCode, type Tracer } from '@opentelemetry/api'
import { payloadAttributes } from '../contract/attributes.ts'
import type { Registry } from '../contract/registry.ts'
import { failureFrom } from '../failure.ts'
import type { NewJob } from '../store/jobs.ts'
import { contextBelow, traceParentOf } from '../tracing.ts'

interface Sent {
  readonly id: string | null
  readonly status?: string
}

interface Batch {
  readonly span: Span
  readonly traceParent: string
  readonly positions: number[]
}

/** Writes jobs inside spans of their own: one for each queue, and for each trace that its jobs belong to. */
export async function sendTraced<Result>(
  { tracer, registry }: { tracer: Tracer; registry: Registry },
  jobs: readonly NewJob[],
  { write, sent }: { write(jobs: readonly NewJob[]): Promise<Result>; sent(result: Result): readonly Sent[] },
): Promise<Result> {
  const batches = new Map<string, Batch>()
  const traced = jobs.map((job, position) => {
    const key = `${job.queue} ${job.traceParent}`
    let batch = batches.get(key)
    if (batch === undefined) {
      batch = startBatch(tracer, job)
      batches.set(key, batch)
    }
    batch.positions.push(position)
    return { ...job, traceParent: batch.traceParent }
  })
  try {
    const result = await write(traced)
    for (const { span, positions } of batches.values())
      if (span.isRecording()) describe(span, registry, positions, jobs, sent(result))
    return result
  } catch (error) {
    const { class: type, message } = failureFrom(error)
    for (const { span } of batches.values())
      span.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR, message })
    throw error
  } finally {
    for (const { span } of batches.values()) span.end()
  }
}

function startBatch(tracer: Tracer, { queue, traceParent }: NewJob): Batch {
  const attributes = {
    'messaging.system': 'millrace',
    'messaging.operation.name': 'send',
    'messaging.operation.type': 'send',
    'messaging.destination.name': queue,
  }
  const span = tracer.startSpan(`send ${queue}`, { kind: SpanKind.PRODUCER, attributes }, contextBelow(traceParent))
  return { span, traceParent: traceParentOf(span.spanContext()), positions: [] }
}

function describe(
  span: Span,
  registry: Registry,
  positions: readonly number[],
  jobs: readonly NewJob[],
  sent: readonly Sent[],
): void {
  const own = positions.map((position) => jobs[position] as NewJob)
  const [first] = own as [NewJob]
  const shared: Attributes = {}
  if (own.every(({ type }) => type === first.type)) shared['job.type'] = first.type
  if (first.tenant !== null && own.every(({ tenant }) => tenant === first.tenant))
    shared['millrace.tenant'] = first.tenant
  if (first.correlationId !== null && own.every(({ correlationId }) => correlationId === first.correlationId))
    shared['messaging.message.conversation_id'] = first.correlationId
  if (own.length > 1) span.setAttributes({ ...shared, 'messaging.batch.message_count': own.length })
  else span.setAttributes({ ...shared, ...oneMessage(registry, first, sent[positions[0] as number]) })
}

function oneMessage(registry: Registry, { type, payload }: NewJob, sent: Sent | undefined): Attributes {
  const paths = registry.find(type)?.attributes ?? []
  return {
    ...(sent?.id != null && { 'messaging.message.id': sent.id, 'job.id': Number(sent.id) }),
    ...(sent?.status !== undefined && { 'millrace.outcome': sent.status }),
    ...(paths.length > 0 && spanAttributes(payloadAttributes(paths, JSON.parse(payload)))),
  }
}

/** Payload values as they are named on spans. */
export const spanAttributes = (values: Record<string, Attributes[string]>): Attributes =>
  Object.fromEntries(Object.entries(values).map(([path, value]) => [`job.payload.${path}`, value]))
