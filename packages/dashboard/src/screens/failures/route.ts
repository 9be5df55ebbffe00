import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../app/root-route.tsx'

export const failuresRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/failures',
  component: lazyRouteComponent(() => import('./failures-screen.tsx'), 'FailuresScreen'),
})
