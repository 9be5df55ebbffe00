// The public surface, by name.
export type { ServiceFacts } from './tracing/resource.ts'
export { asksForTraces, type ExporterName } from './tracing/settings.ts'
export { hasTelemetry, startTelemetry, type Telemetry, type TelemetryOptions } from './tracing/telemetry.ts'
