import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../app/root-route.tsx'

export interface JobsSearch {
  /** In the query language. */
  readonly q?: string
  readonly order?: 'oldest'
  /** The id of the job beside the list. */
  readonly job?: string
}

export const jobsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/jobs',
  validateSearch: ({ q, order, job }: Record<string, unknown>): JobsSearch => ({
    ...(typeof q === 'string' && q !== '' && { q }),
    ...(order === 'oldest' && { order }),
    ...(typeof job === 'string' && /^\d{1,19}$/.test(job) && { job }),
  }),
  component: lazyRouteComponent(() => import('./jobs-screen.tsx'), 'JobsScreen'),
})
