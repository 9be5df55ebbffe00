import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../app/root-route.tsx'

export interface BudgetsSearch {
  /** The budget whose use is shown. */
  readonly budget?: string
  /** The breaker that the link was about. */
  readonly breaker?: string
}

export const budgetsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/budgets',
  validateSearch: ({ budget, breaker }: Record<string, unknown>): BudgetsSearch => ({
    ...(typeof budget === 'string' && budget !== '' && { budget }),
    ...(typeof breaker === 'string' && breaker !== '' && { breaker }),
  }),
  component: lazyRouteComponent(() => import('./budgets-screen.tsx'), 'BudgetsScreen'),
})
