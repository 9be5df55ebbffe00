// Village Homepage: the start page of a community, as a workload.
import type { Workload } from '@millrace/cli/workload'
import type { Millrace } from 'millrace'
import { aiUsageRoutes } from './admin/ai-usage.ts'
import { rssSourceRoutes } from './admin/rss-sources.ts'
import { socialAccountRoutes } from './admin/social-accounts.ts'
import { stockRoutes } from './admin/stocks.ts'
import { cdnContracts } from './cdn/contracts.ts'
import { VillageClient } from './client.ts'
import { readConfig, type VillageConfig } from './config/read.ts'
import { contractList, villageContracts } from './contracts.ts'
import { VillageDatabase } from './database/pool.ts'
import { villageEscalation } from './escalation.ts'
import { villageHandlers } from './handlers.ts'
import { Outside } from './outside/outside.ts'
import { feedsPage } from './page/feeds.ts'
import { Site } from './page/site.ts'
import { villagePage } from './page/village.ts'
import { villageSchedules } from './schedules.ts'
import { robotsPage, sitemapPage } from './sitemap/pages.ts'
import { type StartSandbox, startVillage } from './start.ts'
import { villageAlerts } from './telemetry/alerts.ts'
import { villageMetrics } from './telemetry/metrics.ts'
import { followScreenshots } from './telemetry/permits.ts'
import type { VillageParts } from './village-parts.ts'
import { goodSiteWorkflow } from './workflow.ts'

/** What the tour of a newcomer needs. */
export interface TourStop {
  readonly millrace: Millrace
  readonly parts: VillageParts
  readonly signal: AbortSignal
}

export interface VillageOptions {
  /** Default: application.yaml, see readConfig. */
  readonly config?: VillageConfig
  /** Starts what stands in for outside services. Only `millrace dev` calls it. */
  readonly sandbox?: StartSandbox
  /** Enqueues something of everything when a worker runs. Only `millrace dev` calls it. */
  readonly tour?: (stop: TourStop) => Promise<void>
  /** Default: the time of this machine. */
  readonly clock?: VillageParts['clock']
}

const systemClock = { now: () => new Date() }
const MIGRATIONS = new URL('../../migrations/', import.meta.url)

export function villageHomepage({
  config = readConfig(),
  sandbox,
  tour,
  clock = systemClock,
}: VillageOptions = {}): Workload {
  const contracts = villageContracts(config)
  const cdn = cdnContracts(contracts)
  const outside = new Outside(config)
  const hasCdn = () => outside.addresses.cdn.putUrl !== ''
  const parts: VillageParts = {
    config,
    contracts,
    cdnContracts: cdn,
    goodSite: goodSiteWorkflow({ contracts, cdn, hasCdn }),
    database: new VillageDatabase(),
    outside,
    client: new VillageClient(),
    site: new Site(config),
    clock,
  }
  const handlers = villageHandlers(parts)
  const stopping = new AbortController()
  return {
    name: 'village-homepage',
    version: '0.1.0',
    migrations: { schema: 'village', folder: MIGRATIONS },
    jobs: [...contractList(contracts), ...Object.values(cdn)],
    workflows: [parts.goodSite],
    handlers,
    schedules: villageSchedules(parts, handlers),
    metrics: villageMetrics,
    pages: [feedsPage(parts), villagePage(parts), sitemapPage(parts), robotsPage(parts)],
    routes: [...rssSourceRoutes(parts), ...aiUsageRoutes(parts), ...stockRoutes(parts), ...socialAccountRoutes(parts)],
    alerts: villageAlerts(parts),
    escalation: villageEscalation(config, parts.outside),
    async start(context) {
      const started = await startVillage(parts, context, sandbox)
      return {
        async stop() {
          stopping.abort()
          await started.stop()
        },
      }
    },
    async ready({ mode, millrace, logger, worker }) {
      const stopFollowing = followScreenshots(worker, contracts)
      stopping.signal.addEventListener('abort', stopFollowing, { once: true })
      if (mode !== 'dev' || tour === undefined) return
      // It goes on while the start is being told of.
      tour({ millrace, parts, signal: stopping.signal }).catch((error: unknown) => {
        if (!stopping.signal.aborted) logger.warn({ err: error }, 'the tour ended early')
      })
    },
  }
}
