// Every screen's route. The URL is the state of a screen: its search parameters are texts, so that links can be written by hand.
import { createRouter } from '@tanstack/react-router'
import { basePath } from '../data/base.ts'
import { alertsRoute } from '../screens/alerts/route.ts'
import { auditRoute } from '../screens/audit/route.ts'
import { budgetsRoute } from '../screens/budgets/route.ts'
import { failureRoute, failuresRoute } from '../screens/failures/route.ts'
import { jobRoute } from '../screens/job/route.ts'
import { jobsRoute } from '../screens/jobs/route.ts'
import { overviewRoute } from '../screens/overview/route.ts'
import { queueRoute, queuesRoute } from '../screens/queues/route.ts'
import { schedulesRoute } from '../screens/schedules/route.ts'
import { tenantRoute, tenantsRoute } from '../screens/tenants/route.ts'
import { workersRoute } from '../screens/workers/route.ts'
import { workflowRoute, workflowsRoute } from '../screens/workflows/route.ts'
import { NotFound, ScreenError, ScreenPending } from './fallbacks.tsx'
import { rootRoute } from './root-route.tsx'

const routes = [
  overviewRoute,
  jobsRoute,
  jobRoute,
  failuresRoute,
  failureRoute,
  queuesRoute,
  queueRoute,
  tenantsRoute,
  tenantRoute,
  workflowsRoute,
  workflowRoute,
  schedulesRoute,
  workersRoute,
  budgetsRoute,
  alertsRoute,
  auditRoute,
]

export const router = createRouter({
  routeTree: rootRoute.addChildren(routes),
  basepath: `${basePath}/admin`,
  defaultPreload: 'intent',
  defaultNotFoundComponent: NotFound,
  defaultErrorComponent: ScreenError,
  defaultPendingComponent: ScreenPending,
  scrollRestoration: true,
  parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch,
})

function stringifySearch(search: Record<string, unknown>): string {
  const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== '')
  const text = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString()
  return text === '' ? '' : `?${text}`
}

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
