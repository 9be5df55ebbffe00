import { InvalidDefinition } from '../errors.ts'
import { type BoostOptions, type BoostStep, boostSteps } from './boost.ts'
import { type Duration, toMs } from './duration.ts'
import type { HistoryOption } from './history.ts'
import type { Limit } from './limit.ts'
import type { LogsOption } from './logs.ts'
import { type QueueFacts, queueFacts } from './queue-facts.ts'
import type { RetryPolicy } from './retry.ts'

export interface QueueOptions extends QueueFacts {
  /** Default priority of its jobs: any integer from 0; lower runs first. Default 5. */
  priority?: number
  /** How many of its jobs one worker process runs at once, unless the worker's lanes say otherwise. Default 10. */
  concurrency?: number
  /** The longest wait before work is noticed while wake-ups by LISTEN cannot be trusted. Default 1 s. */
  pollInterval?: Duration
  /** 'required': enqueueing without a tenant does not compile, and is refused at run time. Default 'optional'. */
  tenant?: 'required' | 'optional'
  /** For types that say nothing themselves. Default: the worker's lane's, else 5 min. */
  timeout?: Duration
  /** For types that say nothing themselves. */
  retry?: RetryPolicy
  /** 'keep': the last log lines of runs that succeed are kept with the archived jobs; types can say otherwise. Default 'off'. */
  logs?: LogsOption
  /** 'full': every transition of its jobs is kept for 30 days; types can say otherwise. Default 'off'. */
  history?: HistoryOption
  /** How many jobs a tenant may have waiting and running in it, and what becomes of more. Default: no limit. */
  tenantJobs?: { max: number; over?: TenantJobs['over'] }
  /** Limits on all its jobs together: see defineLimit. */
  limits?: readonly Limit[]
  /**
   * Jobs that wait for long come up, so that a low priority is not for ever: after 10 min one has at worst the queue's own
   * priority less 1, after 20 min less 2, and so on, a few jobs at a time. False: never.
   */
  boost?: BoostOptions | false
  /** When a worker has more to do than it can, queues that are not critical yield to this one. Default false. */
  critical?: boolean
  /**
   * How long its jobs may be due before they start: for dashboards and alerts. Of a critical queue, a job that is due for
   * longer is a sign of overload. Default: no bound.
   */
  sla?: Duration
}

export interface TenantJobs {
  readonly max: number
  /**
   * 'warn': it is queued, with a warning and an event. 'reject': TenantLimitReached; exact, and therefore one enqueue of
   * a tenant at a time. 'defer': it is queued, and waits until the tenant has fewer. Default 'warn'.
   */
  readonly over: 'warn' | 'reject' | 'defer'
}

export interface Queue<Name extends string = string, Options extends QueueOptions = QueueOptions> {
  readonly name: Name
  readonly options: Options
  readonly priority: number
  readonly concurrency: number
  readonly pollIntervalMs: number
  readonly limits: readonly Limit[]
  readonly tenantJobs: TenantJobs | undefined
  /** What waiting does to a priority; empty: nothing. */
  readonly boost: readonly BoostStep[]
  readonly isCritical: boolean
  readonly slaMs: number | undefined
  readonly facts: QueueFacts
}

const NAME = /^[a-zA-Z][\w.-]{0,62}$/

/** Declares the queues. Jobs refer to them by reference, so a wrong queue does not compile. */
export function defineQueues<const Definitions extends Record<string, QueueOptions>>(
  definitions: Definitions,
): { readonly [Name in keyof Definitions & string]: Queue<Name, Definitions[Name]> } {
  const entries = Object.entries(definitions).map(([name, options]) => [name, queueOf(name, options)])
  return Object.fromEntries(entries)
}

function queueOf(name: string, options: QueueOptions): Queue {
  if (!NAME.test(name)) {
    throw new InvalidDefinition(
      `Queue name "${name}" is not usable: expected a letter followed by up to 62 letters, digits, "_", "." or "-".`,
    )
  }
  const priority = options.priority ?? 5
  if (!Number.isInteger(priority) || priority < 0) {
    throw new InvalidDefinition(
      `Queue "${name}" has priority ${priority}: expected an integer from 0, lower runs first.`,
    )
  }
  const concurrency = options.concurrency ?? 10
  checkSlots(concurrency, `Queue "${name}" has concurrency`)
  const pollIntervalMs = toMs(options.pollInterval ?? '1s', `Queue "${name}": pollInterval`)
  if (pollIntervalMs < 10)
    throw new InvalidDefinition(`Queue "${name}" polls every ${pollIntervalMs} ms: 10 ms is the least.`)
  return {
    name,
    options,
    priority,
    concurrency,
    pollIntervalMs,
    limits: options.limits ?? [],
    tenantJobs: tenantJobsOf(name, options.tenantJobs),
    boost: boostSteps(name, priority, options.boost),
    isCritical: options.critical ?? false,
    slaMs: slaOf(name, options),
    facts: queueFacts(name, options),
  }
}

function slaOf(queue: string, { sla }: QueueOptions): number | undefined {
  if (sla === undefined) return undefined
  const ms = toMs(sla, `Queue "${queue}": sla`)
  if (ms < 100) throw new InvalidDefinition(`Queue "${queue}" has an sla of ${ms} ms: 100 ms is the least.`)
  return ms
}

function tenantJobsOf(queue: string, option: QueueOptions['tenantJobs']): TenantJobs | undefined {
  if (option === undefined) return undefined
  const { max, over = 'warn' } = option
  if (!Number.isInteger(max) || max < 0) {
    throw new InvalidDefinition(`Queue "${queue}" has tenantJobs.max ${max}: expected an integer from 0.`)
  }
  if (!['warn', 'reject', 'defer'].includes(over)) {
    throw new InvalidDefinition(
      `Queue "${queue}" has tenantJobs.over ${JSON.stringify(over)}: expected 'warn', 'reject' or 'defer'.`,
    )
  }
  return { max, over }
}

/** Refuses a number of slots with which nothing, or too much, would run. */
export function checkSlots(slots: number, what: string): void {
  if (!Number.isInteger(slots) || slots < 1 || slots > 10_000) {
    throw new InvalidDefinition(`${what} ${slots}: expected an integer from 1 to 10000.`)
  }
}
