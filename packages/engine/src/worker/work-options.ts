// What a program asks of its worker, and what the worker makes of it.
import type { ClientConfig } from 'pg'
import { type AlertOptions, type AlertRules, alertRules } from '../alerts/options.ts'
import { wholeNumber } from '../client/enqueue-options.ts'
import { type Duration, toMs } from '../contract/duration.ts'
import { InvalidDefinition } from '../errors.ts'
import { onlyChosen } from './chosen-queues.ts'
import type { Implementation } from './context.ts'
import type { Lane } from './lane.ts'
import { type LanePlan, planLanes } from './lane-plan.ts'
import type { MemoryLimits } from './memory-guard.ts'
import { type Around, aroundOf, type Middleware } from './middleware.ts'
import type { OverloadLimits } from './overload.ts'
import type { LeaseTimes } from './pulse-protocol.ts'
import type { TraceMode } from './run-span.ts'

export interface WorkOptions extends LanePlan {
  handlers: readonly Implementation[]
  /** Serve only these of the handlers' queues. Default: all. */
  queues?: readonly string[]
  /** Called around every run, the first outermost: tracing, error reports, dependencies. */
  middleware?: readonly Middleware[]
  /** How long running jobs may go on after stop(). Default 25 s. */
  gracePeriod?: Duration
  /** When nothing more is claimed because memory runs short. */
  memory?: MemoryOptions
  /** When queues that are not critical yield to those that are. */
  overload?: OverloadOptions
  /** How often the lease is renewed, how long it lasts, how often dead workers are looked for. 10 s, 45 s, 15 s. */
  lease?: { heartbeat?: Duration; ttl?: Duration; sweep?: Duration }
  /** So many pending dead letters raise the event `dlq_alert`. Default 50. */
  deadLetterAlertAt?: number
  /**
   * How the OpenTelemetry span of a run belongs to the span that enqueued its job. 'link': it begins a trace of its own and links to
   * that one. 'parent': it goes on with that one's trace. Default 'link'.
   */
  traces?: TraceMode
  /** Rules of the program's own, and other thresholds for built-in alerts. */
  alerts?: AlertOptions
}

export interface OverloadOptions {
  /** The event loop may be so late on average. Default 200 ms. */
  loopLag?: Duration
  /** A claim may take so long on average. Default 1 s. */
  claimTime?: Duration
  /** Default 5 s. */
  checkInterval?: Duration
}

export interface MemoryOptions {
  /** Of the heap's limit or of the container's memory, whichever is fuller. Default 85; 100 switches it off. */
  thresholdPercent?: number
  /** Default 60 s; shorter while memory is short. */
  checkInterval?: Duration
}

export interface WorkerSettings {
  connection: ClientConfig
  lanes: Lane[]
  implementations: readonly Implementation[]
  around: Around | undefined
  times: LeaseTimes & { sweepMs: number }
  graceMs: number
  memory: MemoryLimits
  overload: OverloadLimits
  alerts: AlertRules
  tenantRole: string | undefined
  traces: TraceMode
}

/** Refuses what cannot work before anything is started. */
export function workerSettings(
  asked: WorkOptions,
  client: { connection: ClientConfig; tenantRole: string | undefined },
): WorkerSettings {
  const options = onlyChosen(asked)
  const contracts = options.handlers.map(({ contract }) => contract)
  return {
    ...client,
    lanes: planLanes(options, contracts),
    implementations: options.handlers,
    around: aroundOf(options.middleware ?? []),
    graceMs: toMs(options.gracePeriod ?? '25s', 'gracePeriod'),
    times: leaseTimes(options.lease ?? {}),
    memory: memoryLimits(options.memory ?? {}),
    overload: overloadLimits(options.overload ?? {}),
    alerts: alertRulesOf(options),
    traces: traceMode(options.traces ?? 'link'),
  }
}

function traceMode(traces: TraceMode): TraceMode {
  if (traces === 'link' || traces === 'parent') return traces
  throw new InvalidDefinition(`traces is ${JSON.stringify(traces)}: expected 'link' or 'parent'.`)
}

/** What `alerts` says of dead letters goes before `deadLetterAlertAt`. */
function alertRulesOf({ alerts = {}, deadLetterAlertAt }: WorkOptions): AlertRules {
  if (deadLetterAlertAt === undefined) return alertRules(alerts)
  const threshold = wholeNumber(deadLetterAlertAt, 'deadLetterAlertAt', 1)
  return alertRules({ ...alerts, settings: { dead_letters: { threshold }, ...alerts.settings } })
}

function memoryLimits({ thresholdPercent = 85, checkInterval = '60s' }: MemoryOptions): MemoryLimits {
  if (!(thresholdPercent > 0 && thresholdPercent <= 100))
    throw new InvalidDefinition(
      `memory.thresholdPercent is ${thresholdPercent}: expected a number above 0, at most 100.`,
    )
  const checkIntervalMs = toMs(checkInterval, 'memory.checkInterval')
  if (checkIntervalMs < 10)
    throw new InvalidDefinition(`memory.checkInterval is ${checkIntervalMs} ms: 10 ms is the least.`)
  return { thresholdPercent, checkIntervalMs }
}

function overloadLimits({
  loopLag = '200ms',
  claimTime = '1s',
  checkInterval = '5s',
}: OverloadOptions): OverloadLimits {
  const atLeast10 = (value: Duration, name: string): number => {
    const ms = toMs(value, `overload.${name}`)
    if (ms < 10) throw new InvalidDefinition(`overload.${name} is ${ms} ms: 10 ms is the least.`)
    return ms
  }
  return {
    loopLagMs: atLeast10(loopLag, 'loopLag'),
    claimMs: atLeast10(claimTime, 'claimTime'),
    checkIntervalMs: atLeast10(checkInterval, 'checkInterval'),
  }
}

function leaseTimes(lease: NonNullable<WorkOptions['lease']>): WorkerSettings['times'] {
  const heartbeatMs = toMs(lease.heartbeat ?? '10s', 'lease.heartbeat')
  const ttlMs = toMs(lease.ttl ?? '45s', 'lease.ttl')
  const sweepMs = toMs(lease.sweep ?? '15s', 'lease.sweep')
  if (ttlMs < heartbeatMs * 3) {
    throw new InvalidDefinition(
      `lease.ttl is ${ttlMs} ms and lease.heartbeat ${heartbeatMs} ms: a lease must outlast three heartbeats, or one slow answer loses it.`,
    )
  }
  return { heartbeatMs, ttlMs, sweepMs }
}
