import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../app/root-route.tsx'

export const workflowsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/workflows',
  component: lazyRouteComponent(() => import('./workflows-screen.tsx'), 'WorkflowsScreen'),
})
