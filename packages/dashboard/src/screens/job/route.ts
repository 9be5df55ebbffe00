import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../app/root-route.tsx'

export const jobRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/jobs/$id',
  component: lazyRouteComponent(() => import('./job-screen.tsx'), 'JobScreen'),
})
