import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../app/root-route.tsx'

interface TenantsSearch {
  /** Whose shares are shown. Default: the queue with most work. */
  readonly queue?: string
}

const validateSearch = ({ queue }: Record<string, unknown>): TenantsSearch =>
  typeof queue === 'string' && queue !== '' ? { queue } : {}

export const tenantsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/tenants',
  validateSearch,
  component: lazyRouteComponent(() => import('./tenants-screen.tsx'), 'TenantsScreen'),
})

export const tenantRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/tenants/$tenant',
  validateSearch,
  component: lazyRouteComponent(() => import('./tenant-screen.tsx'), 'TenantScreen'),
})
