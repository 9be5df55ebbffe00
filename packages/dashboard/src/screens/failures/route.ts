import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../app/root-route.tsx'

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)

export interface FailuresSearch {
  /** Which groups are shown: 'new', 'acknowledged', 'redriving' or 'decided'; none: all that wait. */
  readonly state?: string
  readonly queue?: string
}

export const failuresRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/failures',
  validateSearch: ({ state, queue }: Record<string, unknown>): FailuresSearch => ({
    ...(text(state) && { state: text(state) as string }),
    ...(text(queue) && { queue: text(queue) as string }),
  }),
  component: lazyRouteComponent(() => import('./failures-screen.tsx'), 'FailuresScreen'),
})

export interface FailureSearch {
  /** Of several types that fail alike, this one. */
  readonly type?: string
}

export const failureRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/failures/$fp',
  validateSearch: ({ type }: Record<string, unknown>): FailureSearch =>
    text(type) ? { type: text(type) as string } : {},
  component: lazyRouteComponent(() => import('./failure-screen.tsx'), 'FailureScreen'),
})
