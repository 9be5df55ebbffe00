import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../app/root-route.tsx'

export interface WorkersSearch {
  /** The worker whose panel is open. */
  readonly id?: string
}

export const workersRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/workers',
  validateSearch: ({ id }: Record<string, unknown>): WorkersSearch =>
    typeof id === 'string' && id !== '' ? { id } : {},
  component: lazyRouteComponent(() => import('./workers-screen.tsx'), 'WorkersScreen'),
})
