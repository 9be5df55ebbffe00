// What the standard OTEL_* variables say about traces.
import { InvalidDefinition } from 'millrace'

export type Env = Readonly<Record<string, string | undefined>>

export type ExporterName = 'otlp' | 'console'

/** An empty variable counts as unset, as shells and containers have it. */
const textOf = (env: Env, variable: string): string | undefined => env[variable]?.trim() || undefined

const isTrue = (env: Env, variable: string): boolean => textOf(env, variable)?.toLowerCase() === 'true'

const ENDPOINTS = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT']

/** Whether the variables name a place for traces, and do not switch them off. */
export function asksForTraces(env: Env): boolean {
  if (isTrue(env, 'OTEL_SDK_DISABLED')) return false
  const exporter = exporterFrom(env)
  return exporter !== 'none' && (exporter !== undefined || ENDPOINTS.some((each) => textOf(env, each) !== undefined))
}

export function exporterFrom(env: Env): ExporterName | 'none' | undefined {
  const text = textOf(env, 'OTEL_TRACES_EXPORTER')
  if (text === undefined || text === 'otlp' || text === 'console' || text === 'none') return text
  throw new InvalidDefinition(`OTEL_TRACES_EXPORTER is "${text}": expected otlp, console or none.`)
}

const ALWAYS: Readonly<Record<string, number>> = {
  always_on: 1,
  parentbased_always_on: 1,
  always_off: 0,
  parentbased_always_off: 0,
}
const BY_RATIO = ['traceidratio', 'parentbased_traceidratio']

/** The share of traces to keep. */
export function samplingFrom(env: Env): number | undefined {
  const sampler = textOf(env, 'OTEL_TRACES_SAMPLER')
  if (sampler === undefined) return undefined
  const always = ALWAYS[sampler]
  if (always !== undefined) return always
  if (BY_RATIO.includes(sampler))
    return ratio(Number(textOf(env, 'OTEL_TRACES_SAMPLER_ARG') ?? 1), 'OTEL_TRACES_SAMPLER_ARG')
  const known = [...Object.keys(ALWAYS), ...BY_RATIO].join(', ')
  throw new InvalidDefinition(`OTEL_TRACES_SAMPLER is "${sampler}": expected one of ${known}.`)
}

export function ratio(share: number, what: string): number {
  if (share >= 0 && share <= 1) return share
  throw new InvalidDefinition(`${what} is ${share}: expected a number from 0 to 1.`)
}
