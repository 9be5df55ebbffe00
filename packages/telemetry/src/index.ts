// The public surface, by name.

export {
  type DefinedCounter,
  type DefinedGauge,
  type DefinedHistogram,
  type DefinedMetric,
  defineCounter,
  defineGauge,
  defineHistogram,
  type GaugeOptions,
  type HistogramOptions,
  type MetricOptions,
} from './metrics/definitions.ts'
export { type Page, pageOf } from './metrics/exposition.ts'
export {
  type Aggregate,
  type Exemplar,
  type Family,
  type FamilyType,
  type Labels,
  lasting,
  merged,
  type Sample,
  type Snapshot,
} from './metrics/family.ts'
export { createMetrics, type Metrics, type MetricsOptions } from './metrics/metrics.ts'
export type { ServiceFacts } from './tracing/resource.ts'
export { asksForTraces, type ExporterName } from './tracing/settings.ts'
export { hasTelemetry, startTelemetry, type Telemetry, type TelemetryOptions } from './tracing/telemetry.ts'
