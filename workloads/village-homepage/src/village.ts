// Village Homepage: the start page of a community, as a workload.
import type { Workload } from '@millrace/cli/workload'
import { VillageClient } from './client.ts'
import { readConfig, type VillageConfig } from './config/read.ts'
import { contractList, villageContracts } from './contracts.ts'
import { VillageDatabase } from './database/pool.ts'
import { villageEscalation } from './escalation.ts'
import { villageHandlers } from './handlers.ts'
import { Outside } from './outside/outside.ts'
import { type Sandbox, type ServiceName, type Stand, standsOf } from './outside/services.ts'
import { Site } from './page/site.ts'
import { villagePage } from './page/village.ts'
import { villageSchedules } from './schedules.ts'
import { villageMetrics } from './telemetry/metrics.ts'
import type { VillageParts } from './village-parts.ts'
import { followPlaces } from './weather/weather-store.ts'

export interface VillageOptions {
  /** Default: application.yaml, see readConfig. */
  readonly config?: VillageConfig
  /** Starts what stands in for outside services. Only `millrace dev` calls it. */
  readonly sandbox?: (parts: VillageParts, stands: Readonly<Record<ServiceName, Stand>>) => Promise<Sandbox>
  /** Default: the time of this machine. */
  readonly clock?: VillageParts['clock']
}

const systemClock = { now: () => new Date() }
const MIGRATIONS = new URL('../../migrations/', import.meta.url)

export function villageHomepage({
  config = readConfig(),
  sandbox: startSandbox,
  clock = systemClock,
}: VillageOptions = {}): Workload {
  const contracts = villageContracts(config)
  const parts: VillageParts = {
    config,
    contracts,
    database: new VillageDatabase(),
    outside: new Outside(config),
    client: new VillageClient(),
    site: new Site(config),
    clock,
  }
  const handlers = villageHandlers(parts)
  return {
    name: 'village-homepage',
    version: '0.1.0',
    migrations: { schema: 'village', folder: MIGRATIONS },
    jobs: contractList(contracts),
    handlers,
    schedules: villageSchedules(parts, handlers),
    metrics: villageMetrics,
    pages: [villagePage(parts)],
    escalation: villageEscalation(config, parts.outside),
    async start(context) {
      const { database, outside, client, site } = parts
      const stands = standsOf(config, context)
      site.open(context)
      database.open(context.databaseUrl, {
        onError: (error) => context.logger.warn({ error: error.message }, 'an idle connection of the village broke'),
      })
      const names = Object.entries(stands)
      const needsSandbox = names.some(([, stand]) => stand === 'sandbox')
      const sandbox = needsSandbox ? await startSandbox?.(parts, stands) : undefined
      outside.open(stands, sandbox)
      client.open(context.millrace)
      if (context.mode !== 'admin') await followPlaces(database, config)
      if (sandbox !== undefined) context.announce('Sandbox', sandbox.url)
      if (context.mode === 'dev') for (const [name, stand] of names) context.announce(name, stand)
      return {
        async stop() {
          client.close()
          await outside.close()
          await sandbox?.stop()
          await database.close()
        },
      }
    },
  }
}
