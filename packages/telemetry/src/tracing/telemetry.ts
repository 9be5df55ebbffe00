// Installs the SDK of OpenTelemetry in one call: resource, sampling, exporter, and an end that takes bounded time.
import { context, type ProxyTracerProvider, propagation, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import {
  BatchSpanProcessor,
  ConsoleSpanExporter,
  SimpleSpanProcessor,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import { type Duration, InvalidDefinition, toMs } from 'millrace'
import { LinkedSampler } from './linked-sampler.ts'
import { resourceOf, type ServiceFacts } from './resource.ts'
import { type ExporterName, exporterFrom, ratio, samplingFrom } from './settings.ts'

export interface TelemetryOptions extends ServiceFacts {
  /**
   * 'otlp': OTLP over HTTP, configured by the OTEL_EXPORTER_OTLP_* variables. 'console': stdout. Or an exporter of your own. Default:
   * OTEL_TRACES_EXPORTER, else 'otlp'.
   */
  exporter?: ExporterName | SpanExporter
  /** Where OTLP goes, such as 'http://collector:4318/v1/traces'. Default: OTEL_EXPORTER_OTLP_ENDPOINT, else localhost. */
  endpoint?: string
  /** With every OTLP request. OTEL_EXPORTER_OTLP_HEADERS adds to them. */
  headers?: Readonly<Record<string, string>>
  /** The share of traces to keep, from 0 to 1. Default: OTEL_TRACES_SAMPLER and its argument, else 1. */
  sampling?: number
  /** Spans are sent together, no later than this after their end. Default 5 s. */
  delay?: Duration
  /** How long `flush` and `stop` may take; then the rest is given up. Default 5 s. */
  patience?: Duration
}

export interface Telemetry {
  /** Sends what has ended. Never rejects; false: not all of it was sent in time. */
  flush(): Promise<boolean>
  /** The same, and no more spans after it. */
  stop(): Promise<boolean>
}

/** True: an SDK is installed in this process, by this function or otherwise. */
export function hasTelemetry(): boolean {
  const provider = trace.getTracerProvider() as Partial<ProxyTracerProvider>
  return provider.getDelegateTracer?.('millrace') !== undefined
}

/** Throws InvalidDefinition if the process has an SDK already. */
export function startTelemetry(options: TelemetryOptions = {}): Telemetry {
  if (hasTelemetry()) {
    throw new InvalidDefinition(
      'This process has an OpenTelemetry SDK already, and Millrace uses it. Call startTelemetry once, or leave it to your own set-up.',
    )
  }
  const patienceMs = toMs(options.patience ?? '5s', 'patience')
  const provider = new NodeTracerProvider({
    resource: resourceOf(options, process.env),
    sampler: new LinkedSampler(ratio(options.sampling ?? samplingFrom(process.env) ?? 1, 'sampling')),
    spanProcessors: [processorOf(options, patienceMs)],
  })
  provider.register()
  return {
    flush: () => within(patienceMs, provider.forceFlush()),
    stop: async () => {
      uninstall()
      return within(patienceMs, provider.shutdown())
    },
  }
}

function processorOf(options: TelemetryOptions, exportTimeoutMillis: number): SpanProcessor {
  const { exporter = exporterFrom(process.env) ?? 'otlp', endpoint: url, headers } = options
  if (exporter === 'none')
    throw new InvalidDefinition('OTEL_TRACES_EXPORTER is none. Do not call startTelemetry, or pass { exporter }.')
  if (exporter === 'console') return new SimpleSpanProcessor(new ConsoleSpanExporter())
  const made =
    exporter === 'otlp' ? new OTLPTraceExporter({ ...(url && { url }), ...(headers && { headers }) }) : exporter
  const scheduledDelayMillis = toMs(options.delay ?? '5s', 'delay')
  return new BatchSpanProcessor(made, { scheduledDelayMillis, exportTimeoutMillis })
}

/** The rest of the process goes on without a tracer. */
function uninstall(): void {
  trace.disable()
  context.disable()
  propagation.disable()
}

/** A collector that does not answer must not keep a process. */
async function within(ms: number, work: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms)
  })
  const sent = work.then(
    () => true,
    () => false,
  )
  return Promise.race([sent, late]).finally(() => clearTimeout(timer))
}
