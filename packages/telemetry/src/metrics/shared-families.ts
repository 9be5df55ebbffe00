// What was read of the database, under our names and under those of the systems whose queries must run as they are written.
import type { Stats } from 'millrace'
import { gauge, type Values } from './families.ts'
import type { Family, Labels } from './family.ts'
import type { Reading } from './shared-reading.ts'
import { OTHER } from './tenant-labels.ts'

type Title = (queue: string) => string
type TypeRow = Stats['types'][number]

const BREAKER_STATES = { closed: 0, half_open: 1, open: 2 } as const
const MS = 1_000

/** Without a reading there are the names alone. */
export function sharedFamilies(reading: Reading | undefined, title: Title, maxTenants: number): Family[] {
  const types = reading?.stats.types ?? []
  return [
    ...depths(types, title, reading?.atMs ?? 0),
    ...letters(types, title),
    ...tenants(reading?.stats, title, maxTenants),
    ...queues(reading, title),
    ...permits(reading),
    ...budgets(reading),
    gauge(
      'millrace_alerts_firing',
      'Alerts of the engine that fire, by name: how many queues, types or services each is about.',
      (reading?.alerts ?? []).map(({ name, severity }) => [{ alert: name, severity }, 1]),
    ),
    gauge(
      'millrace_breaker_state',
      'Circuit breaker of a service: 0 closed, 1 half open, 2 open.',
      (reading?.breakers ?? []).map(({ service, state }) => [{ service }, BREAKER_STATES[state]]),
      'max',
    ),
  ]
}

function depths(types: readonly TypeRow[], title: Title, atMs: number): Family[] {
  const of = ({ queue, type }: TypeRow): Labels => ({ queue: title(queue), type: type ?? '' })
  const byQueue = (read: (row: TypeRow) => number): Values =>
    types.map((row) => [{ queue: title(row.queue) }, read(row)])
  return [
    gauge(
      'millrace_queue_jobs',
      'Live jobs by status: due, scheduled for later, blocked by others of their key or tenant, or processing.',
      types.flatMap((row) => {
        const { due, waiting, blocked, running: processing } = row
        const statuses = { due, scheduled: waiting - due - blocked, blocked, processing }
        return Object.entries(statuses).map(([status, value]) => [{ ...of(row), status }, value] as const)
      }),
    ),
    gauge(
      'millrace_queue_oldest_ready_age_seconds',
      'For how long the oldest job that could run has been due.',
      types.map((row) => [of(row), ageS(row.oldestDueAt, atMs)]),
      'max',
    ),
    gauge(
      'job_queue_backlog_total',
      'Jobs that are due and wait for execution.',
      byQueue(({ due }) => due),
    ),
    gauge(
      'queue_depth',
      'Jobs in the queue: due, scheduled and blocked.',
      byQueue(({ waiting }) => waiting),
    ),
  ]
}

/** The clocks of the two machines may differ a little. */
const ageS = (since: Date | null, atMs: number): number =>
  since === null ? 0 : Math.max(0, (atMs - since.getTime()) / MS)

function letters(types: readonly TypeRow[], title: Title): Family[] {
  const help = 'Dead letters that wait for a decision.'
  const values: Values = types.map(({ queue, type, dead }) => [{ queue: title(queue), type: type ?? '' }, dead])
  return [
    gauge('millrace_dead_letters', help, values),
    gauge(
      'dlq_depth',
      help,
      values.map(([, value]) => [{}, value]),
    ),
  ]
}

/** The tenants with most jobs have a label of their own; the rest are one. Jobs without a tenant have an empty label. */
function tenants(stats: Stats | undefined, title: Title, maxTenants: number): Family[] {
  const counted = new Map<string, { queue: string; tenant: string; jobs: number }>()
  const add = (queue: string, tenant: string, jobs: number) => {
    const key = JSON.stringify([queue, tenant])
    counted.set(key, { queue, tenant, jobs: (counted.get(key)?.jobs ?? 0) + jobs })
  }
  for (const { queue, waiting, running, withoutTenant } of stats?.types ?? []) {
    add(queue, '', withoutTenant)
    add(queue, OTHER, waiting + running - withoutTenant)
  }
  const named = new Set<string>()
  for (const { queue, tenant, waiting, running } of stats?.tenants ?? []) {
    if (!named.has(tenant) && named.size >= maxTenants) continue
    named.add(tenant)
    add(queue, tenant, waiting + running)
    add(queue, OTHER, -(waiting + running))
  }
  const found = [...counted.values()].filter(({ jobs }) => jobs !== 0)
  return [
    gauge(
      'millrace_tenant_jobs',
      'Live jobs of a tenant in a queue: waiting and running.',
      found.map(({ queue, tenant, jobs }) => [{ queue: title(queue), tenant }, jobs]),
    ),
    gauge(
      'org_job_count',
      'Live jobs of an organisation in a queue: waiting and running.',
      found.map(({ queue, tenant, jobs }) => [{ org: tenant, queue: title(queue) }, jobs]),
    ),
  ]
}

function queues(reading: Reading | undefined, title: Title): Family[] {
  const names = new Set(reading?.stats.types.map(({ queue }) => queue))
  const paused = new Set(
    reading?.stats.types.flatMap(({ pauses }) =>
      pauses.flatMap(({ queue, type, tenant }) => (type === null && tenant === null && queue !== null ? queue : [])),
    ),
  )
  return [
    gauge(
      'millrace_queue_sla_seconds',
      'How long the jobs of a queue may take from when they are due to the end of their first attempt.',
      [...(reading?.slas ?? [])].map(([queue, seconds]) => [{ queue: title(queue) }, seconds]),
      'max',
    ),
    gauge(
      'millrace_queue_paused',
      'Whether the whole queue is paused: 0 or 1.',
      [...names].map((queue) => [{ queue: title(queue) }, paused.has(queue) ? 1 : 0]),
      'max',
    ),
    gauge(
      'millrace_queue_concurrency_limit',
      'Jobs of the queue that can run at once: the slots of all workers, or less if a limit of the queue says so.',
      [...names].map((queue) => [{ queue: title(queue) }, concurrencyOf(queue, reading as Reading)]),
    ),
  ]
}

function concurrencyOf(queue: string, { workers, limits }: Reading): number {
  const lanes = workers.flatMap(({ report }) => report?.lanes ?? [])
  const slots = lanes.filter((lane) => lane.queues.includes(queue)).reduce((sum, lane) => sum + lane.slots, 0)
  const limit = limits.find(({ name }) => name === `queue:${queue}`)?.running
  return Math.min(slots, limit ?? slots)
}

function permits(reading: Reading | undefined): Family[] {
  const limits = (reading?.limits ?? []).filter(({ running }) => running !== undefined)
  return [
    gauge(
      'millrace_semaphore_permits',
      'Jobs that may run at once under a limit; of each tenant if the limit is one per tenant.',
      limits.map(({ name, running }) => [{ limit: name }, running as number]),
    ),
    gauge(
      'millrace_semaphore_permits_in_use',
      'Jobs that run under a limit, of all tenants.',
      limits.map(({ name, uses }) => [{ limit: name }, uses.reduce((sum, use) => sum + use.running, 0)]),
    ),
  ]
}

/** What one unit is worth in dollars. */
const DOLLARS: Readonly<Record<string, number>> = {
  ...{ dollars: 1, usd: 1, cents: 1e-2, millicents: 1e-5, millidollars: 1e-3, microdollars: 1e-6, microcents: 1e-8 },
}

function budgets(reading: Reading | undefined): Family[] {
  const all = reading?.budgets ?? []
  const each = (read: (status: (typeof all)[number]['status']) => number): Values =>
    all.map(({ status }) => [{ budget: status.budget, unit: status.unit }, read(status)])
  return [
    gauge(
      'millrace_budget_spent',
      'Spent in the current period, in the unit of the budget.',
      each(({ spent }) => spent),
    ),
    gauge(
      'millrace_budget_limit',
      'What may be spent in a period, in the unit of the budget.',
      each(({ limit }) => limit),
    ),
    {
      ...{ name: 'job_budget_consumed_dollars', type: 'counter', aggregate: 'sum' },
      help: 'Spent in the current period by jobs of a type, of budgets that are kept in dollars or parts of them.',
      samples: all.flatMap(({ status, usage }) => {
        const dollars = DOLLARS[status.unit.toLowerCase()]
        if (dollars === undefined) return []
        return usage.map(({ type, amount }) => ({ suffix: '', labels: { job_type: type }, value: amount * dollars }))
      }),
    },
  ]
}
