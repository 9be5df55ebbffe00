// Operations of LIPAS in the admin API.
import type { Route } from '@millrace/admin'
import type { LipasSystem } from '../system.ts'
import { boardRoutes } from './board.ts'
import { massImportRoute } from './import-many.ts'
import { saveRoute } from './save.ts'
import { traceRoute } from './trace.ts'

export const lipasRoutes = (system: LipasSystem): Route[] => [
  saveRoute(system),
  massImportRoute(system),
  traceRoute(),
  ...boardRoutes(system),
]
