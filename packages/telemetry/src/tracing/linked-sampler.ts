// Keeps or drops what belongs together: a span follows its parent, a span without one follows the spans that it links to, and only
// the first of a trace is drawn by lot. Otherwise one run in a hundred would be kept of one enqueue in a hundred: hardly ever both.
import { type Context, isSpanContextValid, type Link, TraceFlags, trace } from '@opentelemetry/api'
import {
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  type SamplingResult,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base'

type Asked = Parameters<Sampler['shouldSample']>

export class LinkedSampler implements Sampler {
  readonly #byParent: Sampler
  readonly #ratio: number

  constructor(ratio: number) {
    this.#ratio = ratio
    this.#byParent = new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) })
  }

  shouldSample(...asked: Asked): SamplingResult {
    const [context, , , , , links] = asked
    const linked = hasParent(context) ? [] : links.filter((link) => isSpanContextValid(link.context))
    if (linked.length === 0) return this.#byParent.shouldSample(...asked)
    return { decision: linked.some(isKept) ? SamplingDecision.RECORD_AND_SAMPLED : SamplingDecision.NOT_RECORD }
  }

  toString(): string {
    return `LinkedSampler{${this.#ratio}}`
  }
}

function hasParent(context: Context): boolean {
  const parent = trace.getSpanContext(context)
  return parent !== undefined && isSpanContextValid(parent)
}

const isKept = ({ context }: Link): boolean => (context.traceFlags & TraceFlags.SAMPLED) !== 0
