// Which part of a span of time is read from counts by hour, and which from counts by minute. Pure.
import { InvalidDefinition } from '../errors.ts'
import type { MetricEdge, MetricSpan, MetricStep } from '../store/metrics.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
export const STEP_MS: Record<MetricStep, number> = { minute: MINUTE_MS, hour: HOUR_MS, day: DAY_MS }
/** So many points are read quickly. Minutes are kept for 30 days, hours for 13 months. */
const LONGEST_MS: Record<MetricStep, number> = { minute: 6 * HOUR_MS, hour: 31 * DAY_MS, day: 400 * DAY_MS }

const LONGEST_TEXT: Record<MetricStep, string> = {
  minute: '6 hours. Ask for a shorter span, or by the hour',
  hour: '31 days. Ask for a shorter span, or by the day',
  day: '400 days. Hours are kept for 13 months',
}

const floor = (ms: number, stepMs: number): number => Math.floor(ms / stepMs) * stepMs
const ceil = (ms: number, stepMs: number): number => Math.ceil(ms / stepMs) * stepMs

/** `from` and `to` are taken down and up to the minute. Hours that are not rolled up yet are read as minutes. */
export function spanOf(from: Date, to: Date, { rolledUpUntil }: MetricEdge): MetricSpan {
  const fromMs = floor(from.getTime(), MINUTE_MS)
  const toMs = ceil(to.getTime(), MINUTE_MS)
  const hoursFromMs = Math.min(ceil(fromMs, HOUR_MS), toMs)
  const edgeMs = rolledUpUntil?.getTime() ?? 0
  const hoursToMs = Math.max(hoursFromMs, Math.min(floor(toMs, HOUR_MS), edgeMs))
  return {
    from: new Date(fromMs),
    hoursFrom: new Date(hoursFromMs),
    hoursTo: new Date(hoursToMs),
    to: new Date(toMs),
  }
}

/** The span in whole steps. By the minute, only minutes are read. */
export function stepSpanOf(from: Date, to: Date, step: MetricStep, edge: MetricEdge): MetricSpan {
  const begin = new Date(floor(from.getTime(), STEP_MS[step]))
  const end = new Date(Math.max(ceil(to.getTime(), STEP_MS[step]), begin.getTime() + STEP_MS[step]))
  if (end.getTime() - begin.getTime() > LONGEST_MS[step] + STEP_MS[step])
    throw new InvalidDefinition(`The span is too long: by the ${step} it may be ${LONGEST_TEXT[step]}.`)
  return step === 'minute' ? { from: begin, hoursFrom: end, hoursTo: end, to: end } : spanOf(begin, end, edge)
}

/** Every step of the span, also those in which nothing happened. */
export function stepsOf({ from, to }: MetricSpan, step: MetricStep): Date[] {
  const count = Math.round((to.getTime() - from.getTime()) / STEP_MS[step])
  return Array.from({ length: count }, (_, n) => new Date(from.getTime() + n * STEP_MS[step]))
}
