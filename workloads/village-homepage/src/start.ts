// What runs beside the worker: the village's connections, its way out, and under `millrace dev` the sandbox.
import type { StartContext, Started } from '@millrace/cli/workload'
import type { Logger } from 'millrace'
import type { VillageConfig } from './config/read.ts'
import { leaveSurroundings } from './isolated/surroundings.ts'
import { type Sandbox, type ServiceName, type Stand, standsOf } from './outside/services.ts'
import { VillageGauges } from './telemetry/gauges.ts'
import { tellThrottles } from './telemetry/throttles.ts'
import type { VillageParts } from './village-parts.ts'
import { followPlaces } from './weather/weather-store.ts'

export type Stands = Readonly<Record<ServiceName, Stand>>
export type StartSandbox = (parts: VillageParts, stands: Stands) => Promise<Sandbox>

export async function startVillage(
  parts: VillageParts,
  context: StartContext,
  startSandbox: StartSandbox | undefined,
): Promise<Started> {
  const { config, database, outside, client, site } = parts
  const { mode, logger, announce } = context
  const stands = standsOf(config, context)
  site.open(context)
  database.open(context.databaseUrl, {
    onError: (error) => logger.warn({ error: error.message }, 'an idle connection of the village broke'),
  })
  client.open(context.millrace)
  const needsSandbox = Object.values(stands).includes('sandbox')
  const sandbox = needsSandbox ? await startSandbox?.(parts, stands) : undefined
  outside.open(stands, sandbox)
  const takeSurroundings = leaveSurroundings({
    databaseUrl: context.databaseUrl,
    allow: [...config.egress.allow, ...(sandbox?.allow ?? [])],
    userAgent: config.feeds.userAgent,
    chromium: config.screenshots.chromium,
    loadMs: config.screenshots.loadTimeout * 1_000,
    maxMemoryMb: config.screenshots.maxMemoryMb,
  })
  warnOfPermits(config, logger)
  if (mode !== 'admin') await followPlaces(database, config)
  const stopTelling = tellThrottles(context.millrace, logger)
  const gauges = mode === 'admin' ? undefined : new VillageGauges(parts, context)
  await gauges?.refresh()
  if (sandbox !== undefined) announce('Sandbox', sandbox.url)
  if (mode === 'dev') for (const [name, stand] of Object.entries(stands)) announce(name, stand)
  return {
    async stop() {
      stopTelling()
      takeSurroundings()
      await gauges?.stop()
      client.close()
      await outside.close()
      await sandbox?.stop()
      await database.close()
    },
  }
}

function warnOfPermits({ jobs }: VillageConfig, logger: Logger): void {
  const { workers, screenshotConcurrency: permits = workers.screenshot } = jobs
  if (permits > workers.screenshot)
    logger.warn(
      { permits, workers: workers.screenshot },
      'screenshot-concurrency is larger than workers.screenshot, which then is the limit',
    )
}
