// The navigation, in its order.

export interface ScreenLink {
  readonly path: string
  readonly title: string
  /** Reached with g and then this key. */
  readonly key: string
  /** The operation without which the screen shows nothing: whoever may not call it does not see the link. */
  readonly needs: string
}

export const screens: readonly ScreenLink[] = [
  { path: '/', title: 'Overview', key: 'o', needs: 'health.read' },
  { path: '/jobs', title: 'Jobs', key: 'j', needs: 'jobs.list' },
  { path: '/failures', title: 'Failures', key: 'f', needs: 'deadLetters.list' },
  { path: '/queues', title: 'Queues', key: 'q', needs: 'queues.list' },
  { path: '/tenants', title: 'Tenants', key: 't', needs: 'tenants.list' },
  { path: '/workflows', title: 'Workflows', key: 'w', needs: 'workflows.list' },
  { path: '/schedules', title: 'Schedules', key: 's', needs: 'schedules.list' },
  { path: '/workers', title: 'Workers', key: 'k', needs: 'workers.list' },
  { path: '/budgets', title: 'Budgets', key: 'b', needs: 'budgets.list' },
  { path: '/alerts', title: 'Alerts', key: 'a', needs: 'alerts.list' },
  { path: '/audit', title: 'Audit', key: 'u', needs: 'audit.list' },
]
