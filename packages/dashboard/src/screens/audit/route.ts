import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../app/root-route.tsx'

export interface AuditSearch {
  readonly by?: string
  readonly action?: string
  readonly target?: string
  /** The id before which the page begins. */
  readonly before?: string
}

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)

export const auditRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/audit',
  validateSearch: ({ by, action, target, before }: Record<string, unknown>): AuditSearch =>
    Object.fromEntries(
      Object.entries({ by: text(by), action: text(action), target: text(target), before: text(before) }).filter(
        ([, value]) => value !== undefined,
      ),
    ),
  component: lazyRouteComponent(() => import('./audit-screen.tsx'), 'AuditScreen'),
})
