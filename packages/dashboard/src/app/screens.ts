// The navigation, in its order.

export interface ScreenLink {
  readonly path: string
  readonly title: string
  /** Reached with g and then this key. */
  readonly key: string
  /** The operation without which the screen shows nothing: whoever may not call it does not see the link. */
  readonly needs: string
  /** About the system, not about the work: it stands apart. */
  readonly isSystem?: boolean
}

export const screens: readonly ScreenLink[] = [
  { path: '/', title: 'Overview', key: 'o', needs: 'health.read' },
  { path: '/jobs', title: 'Jobs', key: 'j', needs: 'jobs.list' },
  { path: '/failures', title: 'Failures', key: 'f', needs: 'deadLetters.list' },
  { path: '/queues', title: 'Queues', key: 'q', needs: 'queues.list' },
  { path: '/tenants', title: 'Tenants', key: 't', needs: 'tenants.list' },
  { path: '/workflows', title: 'Workflows', key: 'w', needs: 'workflows.list' },
  { path: '/schedules', title: 'Schedules', key: 's', needs: 'schedules.list' },
  { path: '/workers', title: 'Workers', key: 'k', needs: 'workers.list', isSystem: true },
  { path: '/budgets', title: 'Budgets', key: 'b', needs: 'budgets.list', isSystem: true },
  { path: '/alerts', title: 'Alerts', key: 'a', needs: 'alerts.list', isSystem: true },
  { path: '/audit', title: 'Audit', key: 'u', needs: 'audit.list', isSystem: true },
]
