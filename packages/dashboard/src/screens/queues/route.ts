import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../app/root-route.tsx'

export const queuesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/queues',
  component: lazyRouteComponent(() => import('./queues-screen.tsx'), 'QueuesScreen'),
})

export const queueRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/queues/$queue',
  component: lazyRouteComponent(() => import('./queue-screen.tsx'), 'QueueScreen'),
})
