import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../app/root-route.tsx'

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)

export interface WorkflowsSearch {
  /** Only workflows in this state. */
  readonly status?: string
  readonly name?: string
  /** Only workflows older than this one: the next page. */
  readonly before?: string
}

export const workflowsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/workflows',
  validateSearch: ({ status, name, before }: Record<string, unknown>): WorkflowsSearch => ({
    ...(text(status) && { status: text(status) as string }),
    ...(text(name) && { name: text(name) as string }),
    ...(text(before) && { before: text(before) as string }),
  }),
  component: lazyRouteComponent(() => import('./workflows-screen.tsx'), 'WorkflowsScreen'),
})

export interface WorkflowSearch {
  /** The step whose details are open. */
  readonly step?: string
  /** 'completed': steps that have completed are not shown. */
  readonly hide?: string
}

export const workflowRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/workflows/$id',
  validateSearch: ({ step, hide }: Record<string, unknown>): WorkflowSearch => ({
    ...(text(step) && { step: text(step) as string }),
    ...(text(hide) && { hide: text(hide) as string }),
  }),
  component: lazyRouteComponent(() => import('./workflow-screen.tsx'), 'WorkflowScreen'),
})
