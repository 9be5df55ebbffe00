// Where the cause of an alert is shown, and what the button to it says. Pure.

export interface Cause {
  readonly label: string
  readonly to: string
}

interface Alerted {
  readonly name: string
  readonly subject: string
}

const search = (root: string, name: string, value: string) => `${root}?${name}=${encodeURIComponent(value)}`

/** Null: the alert is a user's own, and only its text says more. */
export function causeOf({ name, subject }: Alerted): Cause | null {
  const queue = (label: string): Cause => ({ label, to: `/queues/${encodeURIComponent(subject)}` })
  if (name.startsWith('breaker_open')) return { label: 'Breaker', to: search('/budgets', 'breaker', subject) }
  if (name.startsWith('budget_')) return { label: 'Budget', to: search('/budgets', 'budget', subject) }
  if (name.startsWith('dead_letters')) return { label: 'Failures', to: '/failures' }
  if (name.startsWith('worker_') || name === 'lane_busy') return { label: 'Workers', to: '/workers' }
  switch (name) {
    case 'queue_depth':
    case 'queue_pending':
    case 'queue_sla':
      return queue('Queue')
    case 'oldest_due': {
      const oldest = `queue:${subject} status:pending`
      return { label: 'Why', to: `${search('/jobs', 'q', oldest)}&order=oldest` }
    }
    case 'error_rate':
      return { label: 'Its failures', to: search('/jobs', 'q', `type:${subject} status:failed,dead`) }
    case 'job_stuck':
      return { label: 'Its runs', to: search('/jobs', 'q', `type:${subject} status:processing`) }
    case 'tenant_at_limit': {
      // "acme in mail"
      const [tenant = '', of = ''] = subject.split(' in ')
      return { label: 'Shares', to: search(`/tenants/${encodeURIComponent(tenant)}`, 'queue', of) }
    }
    default:
      return null
  }
}
