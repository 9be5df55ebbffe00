// What handlers, schedules, routes and pages of the village are built from. They get it by their constructors.

import type { CdnContracts } from './cdn/contracts.ts'
import type { VillageClient } from './client.ts'
import type { VillageConfig } from './config/read.ts'
import type { VillageContracts } from './contracts.ts'
import type { VillageDatabase } from './database/pool.ts'
import type { Outside } from './outside/outside.ts'
import type { Site } from './page/site.ts'
import type { GoodSiteWorkflow } from './workflow.ts'

export interface VillageParts {
  readonly config: VillageConfig
  readonly contracts: VillageContracts
  readonly cdnContracts: CdnContracts
  readonly goodSite: GoodSiteWorkflow
  readonly database: VillageDatabase
  readonly outside: Outside
  readonly client: VillageClient
  readonly site: Site
  readonly clock: { now(): Date }
}
