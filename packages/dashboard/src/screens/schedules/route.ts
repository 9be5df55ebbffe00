import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../app/root-route.tsx'

export interface SchedulesSearch {
  /** The schedule whose panel is open. */
  readonly name?: string
}

export const schedulesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/schedules',
  validateSearch: ({ name }: Record<string, unknown>): SchedulesSearch =>
    typeof name === 'string' && name !== '' ? { name } : {},
  component: lazyRouteComponent(() => import('./schedules-screen.tsx'), 'SchedulesScreen'),
})
