// The alerts that every Millrace has: one list, evaluated by the engine and exported as Prometheus rules.
//
// Gauges that one process reads for all may be exported by two for a moment, when another one takes over: hence `max by`.
import type { Vitals } from '../health/vitals.ts'
import { capitalised, counted, listed, percent, span } from '../health/words.ts'
import { type AlertDefinition, type AlertRule, defineAlert } from './rule.ts'

/** Of a type with fewer runs an error rate says little. */
const MIN_RUNS = 10

type Condition = Omit<AlertDefinition, 'link'>

const CONDITIONS: Readonly<Record<string, Condition>> = {
  queue_depth: {
    severity: 'warning',
    summary: 'A queue holds many jobs: more come in than workers finish.',
    action: 'Start another worker process, or find out why jobs take longer than they did.',
    ...{ threshold: 1_000, clearAt: 900, for: '15m' },
    measure: ({ queues }) =>
      queues.map(({ queue, waiting, due, ...rest }) => ({
        ...{ subject: queue, queues: [queue], value: waiting },
        why: `Queue "${queue}" holds ${counted(waiting, 'job')}, and ${due} of them could run now.${pausedBy(rest)}`,
      })),
    prometheus: (threshold) =>
      `sum by (queue) (max by (queue, type, status) (millrace_queue_jobs{status!="processing"})) > ${threshold}`,
  },
  queue_pending: {
    severity: 'warning',
    summary: 'Many jobs of a queue are due and wait for a worker.',
    action: 'Look whether the queue is paused or its workers are stuck; otherwise start another worker process.',
    ...{ threshold: 500, clearAt: 450, for: '5m' },
    measure: ({ queues }) =>
      queues.map(({ queue, due, ...rest }) => ({
        ...{ subject: queue, queues: [queue], value: due },
        why: `${capitalised(counted(due, 'due job'))} ${due === 1 ? 'waits' : 'wait'} in queue "${queue}".${pausedBy(rest)}`,
      })),
    prometheus: (threshold) =>
      `sum by (queue) (max by (queue, type) (millrace_queue_jobs{status="due"})) > ${threshold}`,
  },
  oldest_due: {
    severity: 'warning',
    summary: 'A job has been due for long and no worker has started it.',
    action: 'Ask what holds it: `millrace explain JOB`.',
    ...{ threshold: 3_600, clearAt: 3_000 },
    measure: ({ queues }) =>
      queues.flatMap(({ queue, oldestDueMs, ...rest }) => {
        if (oldestDueMs === null) return []
        const why = `The oldest due job of queue "${queue}" has waited for ${span(oldestDueMs)}.${pausedBy(rest)}`
        return { subject: queue, queues: [queue], value: oldestDueMs / 1_000, why }
      }),
    prometheus: (threshold) => `max by (queue) (millrace_queue_oldest_ready_age_seconds) > ${threshold}`,
  },
  queue_sla: {
    severity: 'warning',
    summary: 'Jobs of a queue take longer than its SLA allows: P95 from due to the end of the first attempt.',
    action: 'Give the queue more slots or another process, or find out what made its jobs slower.',
    ...{ threshold: 1, clearAt: 0.9, for: '1m', escalate: 'owner' },
    measure: ({ queues }) => queues.flatMap(slaMeasurement),
    prometheus: (threshold) =>
      `histogram_quantile(0.95, sum by (queue, le) (rate(millrace_job_end_to_end_seconds_bucket[5m]))) / on (queue) max by (queue) (millrace_queue_sla_seconds) > ${threshold}`,
  },
  error_rate: {
    severity: 'warning',
    summary: 'Many runs of a job type fail.',
    action:
      'Look at what its failures have in common: `millrace dead groups`, `millrace jobs --type TYPE --status failed`.',
    ...{ threshold: 0.1, clearAt: 0.08 },
    measure: ({ types }) =>
      types.flatMap(({ queue, type, lastHour: { runs, failures, errorRate } }) => {
        if (errorRate === null || runs < MIN_RUNS) return []
        const why = `${capitalised(counted(failures, 'run'))} of ${runs} of type "${type}" failed in the last hour: ${percent(errorRate)}.`
        return { subject: type, queues: [queue], value: errorRate, why }
      }),
    prometheus: (threshold) => {
      const runs = (outcomes: string) =>
        `sum by (queue, type) (increase(millrace_jobs_finished_total{outcome=~"${outcomes}"}[1h]))`
      const all = runs('completed|failed|dead|crashed')
      return `${runs('failed|dead|crashed')} / ${all} > ${threshold} and ${all} >= ${MIN_RUNS}`
    },
  },
  dead_letters: {
    severity: 'warning',
    summary: 'Many dead letters wait for a decision.',
    action: 'Look at them by cause: `millrace dead groups`. Redrive, resolve or ignore them.',
    ...{ threshold: 50, compare: '>=' },
    measure: ({ deadLetters: { pending } }) => [
      { subject: 'all', value: pending, why: `${capitalised(counted(pending, 'dead letter'))} wait for a decision.` },
    ],
    prometheus: (threshold) => `sum(max by (queue, type) (millrace_dead_letters)) >= ${threshold}`,
  },
  dead_letters_growing: {
    severity: 'warning',
    summary: 'Jobs die faster than people decide about them.',
    action: 'Find the cause before you redrive: `millrace dead groups`.',
    ...{ threshold: 20, clearAt: 10 },
    measure: ({ deadLetters: { lastHour } }) => [
      {
        ...{ subject: 'all', value: lastHour },
        why: `${capitalised(counted(lastHour, 'dead letter'))} came in the last hour and still wait for a decision.`,
      },
    ],
    prometheus: (threshold) => {
      const letters = 'max by (queue, type) (millrace_dead_letters'
      return `sum(${letters})) - sum(${letters} offset 1h)) > ${threshold}`
    },
  },
  job_stuck: {
    severity: 'critical',
    summary: 'A run went on beyond twice its timeout. The engine ends such runs, and the job becomes a dead letter.',
    action:
      'Look at the dead letter, and make the handler heed its abort signal; `isolation: "process"` lets the engine kill it.',
    escalate: 'ops',
    measure: ({ stuck }) =>
      grouped(stuck, ({ type }) => type).map(([type, runs]) => ({
        ...{ subject: type, queues: [...new Set(runs.map(({ queue }) => queue))], value: runs.length },
        why: `${capitalised(counted(runs.length, 'run'))} of type "${type}" went on beyond twice the timeout: ${runs.map(stuckRun).join(', ')}.`,
      })),
    prometheus: (threshold) => `max by (alert) (millrace_alerts_firing{alert="job_stuck"}) > ${threshold}`,
  },
  worker_died: {
    severity: 'critical',
    summary: 'A worker process ended without having stopped in order. Its jobs run again elsewhere.',
    action: 'Read its last log lines and the exit code its supervisor saw: out of memory, a crash, or a lost machine?',
    escalate: 'ops',
    measure: ({ deaths }) =>
      grouped(deaths, ({ host }) => host).map(([host, dead]) => ({
        ...{ subject: host, value: dead.length },
        why: `${capitalised(counted(dead.length, 'worker'))} died on host ${host}: ${dead.map(({ pid, reason }) => `pid ${pid} (${reason})`).join(', ')}.`,
      })),
    prometheus: (threshold) => `max by (alert) (millrace_alerts_firing{alert="worker_died"}) > ${threshold}`,
  },
  worker_memory: {
    severity: 'warning',
    summary: 'A worker is short of memory and takes no more jobs above its own limit.',
    action: 'Look for a leak in what it ran last, give it more memory, or fewer slots.',
    ...{ threshold: 0.85, clearAt: 0.8 },
    measure: ({ workers }) =>
      workers.flatMap(({ id, host, pid, memoryRatio }) => {
        if (memoryRatio === null) return []
        const why = `The worker with pid ${pid} on host ${host} uses ${percent(memoryRatio)} of its memory.`
        return { subject: `worker ${id.slice(0, 8)}`, value: memoryRatio, why }
      }),
    prometheus: (threshold) => `max by (instance, process) (millrace_worker_memory_ratio) > ${threshold}`,
  },
  lane_busy: {
    severity: 'warning',
    summary: 'Nearly all slots of the fast lane are in use, so quick jobs wait.',
    action: 'Give the lane more slots, or move long work to another lane.',
    ...{ threshold: 0.9, clearAt: 0.8, for: '2m', only: ['fast'] },
    measure: ({ lanes }) =>
      lanes.map(({ lane, slots, running, utilization, queues }) => ({
        ...{ subject: lane, queues, value: utilization },
        why: `Lane "${lane}" uses ${running} of ${counted(slots, 'slot')}: ${percent(utilization)}.`,
      })),
    prometheus: (threshold) =>
      `sum by (lane) (millrace_worker_slots_in_use{lane="fast"}) / sum by (lane) (millrace_worker_slots{lane="fast"}) > ${threshold}`,
  },
  breaker_open: {
    severity: 'warning',
    summary: 'A service failed several times in a row, so jobs that need it wait.',
    action:
      'Look at the service. When it is well again, one job finds out; `millrace breakers reset SERVICE` is quicker.',
    // Between two tries the breaker is half-open. That is not the end of the fault.
    ...{ threshold: 1, clearAt: 0 },
    measure: ({ breakers }) => breakers.map((breaker) => breakerMeasurement(breaker)),
    prometheus: (threshold) => `max by (service) (millrace_breaker_state) > ${threshold}`,
  },
  breaker_open_long: {
    severity: 'warning',
    summary: 'A service has been failing for long, and jobs pile up behind its breaker.',
    action: 'Call those who run the service. Tell users what waits: `millrace breakers`, `millrace stats`.',
    ...{ for: '10m', escalate: 'queues' },
    measure: ({ breakers }) => breakers.map((breaker) => breakerMeasurement(breaker)),
    prometheus: (threshold) => `max by (service) (millrace_breaker_state) > ${threshold}`,
  },
  tenant_at_limit: {
    severity: 'info',
    summary: 'A tenant has as many jobs in a queue as it may have.',
    action: 'Nothing, if the tenant is only busy. Otherwise change its limit: `millrace tenants limit`.',
    ...{ threshold: 1, clearAt: 0.9, compare: '>=' },
    measure: ({ tenants }) =>
      tenants.map(({ tenant, queue, jobs, limit }) => ({
        ...{ subject: `${tenant} in ${queue}`, queues: [queue], value: limit === 0 ? 1 : jobs / limit },
        why: `Tenant "${tenant}" has ${counted(jobs, 'job')} in queue "${queue}"; its limit is ${limit}.`,
      })),
  },
  ...Object.fromEntries(
    (
      [
        [75, 80, 'info'],
        [80, 90, 'notice'],
        [90, 100, 'warning'],
        [100, Number.POSITIVE_INFINITY, 'critical'],
      ] as const
    ).map(([from, to, severity]) => [`budget_${from}`, budgetCondition(from, to, severity)]),
  ),
}

/** A budget fires the highest of its thresholds only. Crossing one also reaches the outbox of escalations, in the same transaction. */
function budgetCondition(from: number, to: number, severity: AlertDefinition['severity']): Condition {
  const used = '100 * max by (budget) (millrace_budget_spent) / max by (budget) (millrace_budget_limit)'
  return {
    severity,
    summary: `A budget has reached ${from} % of its limit.`,
    action:
      'See who spends it: `millrace budgets usage BUDGET`. Raise it with `millrace budgets set BUDGET` if that is right.',
    ...{ threshold: from, compare: '>=' },
    measure: ({ budgets }) =>
      budgets
        .filter(({ percent: used }) => used < to)
        .map(({ budget, percent: used, spent, limit, unit, period }) => ({
          ...{ subject: budget, value: used },
          why: `Budget "${budget}" has used ${used} % of its limit in ${period}: ${spent} of ${limit} ${unit} are spent.`,
        })),
    prometheus: (threshold) =>
      to === Number.POSITIVE_INFINITY ? `${used} >= ${threshold}` : `${used} >= ${threshold} < ${to}`,
  }
}

/** A queue at a standstill finishes nothing, so the age of its oldest job speaks for it. */
function slaMeasurement({ queue, slaMs, latencyP95Ms, oldestDueMs, ...rest }: Vitals['queues'][number]) {
  const ms = latencyP95Ms ?? oldestDueMs
  if (slaMs === null || ms === null) return []
  const what = latencyP95Ms === null ? 'No job has ended in 5 minutes, and the oldest has been due for' : 'P95 is'
  const why = `${what} ${span(ms)} in queue "${queue}"; its SLA is ${span(slaMs)}.${pausedBy(rest)}`
  return { subject: queue, queues: [queue], value: ms / slaMs, why }
}

function breakerMeasurement({ service, state, queues }: Vitals['breakers'][number]) {
  const held =
    queues.length === 0
      ? ''
      : ` It holds jobs of ${listed(
          queues.map((queue) => `"${queue}"`),
          'queue',
        )}.`
  const why = `The breaker of service "${service}" is ${state === 'open' ? 'open' : 'half-open: one job tries the service'}.${held}`
  return { subject: service, queues, value: state === 'open' ? 2 : 1, why }
}

function grouped<Item>(items: readonly Item[], keyOf: (item: Item) => string): [string, Item[]][] {
  const groups = new Map<string, Item[]>()
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item])
  return [...groups]
}

const stuckRun = ({ jobId, hasEnded }: Vitals['stuck'][number]): string =>
  `job ${jobId} ${hasEnded ? 'is a dead letter' : 'still runs'}`

function pausedBy({ pauses }: Pick<Vitals['queues'][number], 'pauses'>): string {
  const [pause] = pauses
  return pause === undefined ? '' : ` The queue is paused by ${pause.by}: ${pause.reason}.`
}

/** Each has an entry of its own on that page. */
const linkOf = (name: string): string => `docs/operations.md#${name.startsWith('budget_') ? 'budget' : name}`

export const BUILT_IN: readonly AlertRule[] = Object.entries(CONDITIONS).map(([name, condition]) =>
  defineAlert(name, { ...condition, link: linkOf(name) }),
)
