// Traces of a worker process, when the standard OTEL_* variables ask for them. A workload that has installed an SDK of its own keeps it.
import type { Logger } from 'millrace'
import type { Lifecycle } from './lifecycle.ts'
import type { Workload } from './workload.ts'

type Env = Readonly<Record<string, string | undefined>>

export async function startTracing(lifecycle: Lifecycle, workload: Workload, logger: Logger): Promise<void> {
  // The SDK is loaded only by processes that use it.
  if (!Object.keys(process.env).some((variable) => variable.startsWith('OTEL_'))) return
  const { asksForTraces, hasTelemetry, startTelemetry } = await import('@millrace/telemetry')
  if (!asksForTraces(process.env) || hasTelemetry()) return
  await lifecycle.start({
    name: 'traces',
    begin: async () => startTelemetry({ service: serviceOf(workload, process.env), version: workload.version }),
    end: async (telemetry) => {
      if (!(await telemetry.stop()))
        logger.warn({}, 'the last spans could not be sent in time: is the collector there?')
    },
  })
}

/** Undefined: the variables name it. */
function serviceOf({ name }: Workload, env: Env): string | undefined {
  const isNamed = env.OTEL_SERVICE_NAME || /(^|,)\s*service\.name=/.test(env.OTEL_RESOURCE_ATTRIBUTES ?? '')
  return isNamed ? undefined : name
}
