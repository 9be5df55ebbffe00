import type { StandardSchemaV1 } from '@standard-schema/spec'
import { InvalidDefinition } from '../errors.ts'
import { checkAttributes } from './attributes.ts'
import type { Budget } from './budget.ts'
import { type Dedupe, type DedupeRule, resolveDedupe } from './dedupe.ts'
import { type Duration, toMs } from './duration.ts'
import { type HistoryOption, resolveHistory } from './history.ts'
import { type KeyedWork, type KeyLimitPolicy, type OrderPolicy, resolveKeyedWork } from './keyed.ts'
import type { Limit } from './limit.ts'
import { type LogsOption, resolveLogs } from './logs.ts'
import type { Queue, QueueOptions } from './queue.ts'
import { type RedrivePolicy, type ResolvedRedrive, resolveRedrive } from './redrive.ts'
import { type Backoff, DEFAULT_ATTEMPTS, defaultBackoff, type RetryPolicy } from './retry.ts'
import { checkServices, type Service } from './service.ts'
import { checkVersions, type PayloadSteps } from './versions.ts'

/** How long the archive keeps finished jobs: not at all, a day, a week, 90 days. */
export type Retention = 'none' | 'short' | 'standard' | 'long'

export interface JobDefinition<
  Type extends string,
  Q extends Queue,
  Payload extends StandardSchemaV1,
  Result extends StandardSchemaV1 | undefined,
> {
  /** The name that is stored with every job: keep it for ever, or give workers both. */
  type: Type
  queue: Q
  /** Any Standard Schema (Zod, Valibot, ArkType …). The validated input is stored and parsed again when it runs. */
  payload: Payload
  /** Of the payload's shape; raise it when the schema no longer takes what is stored. Default 1. */
  version?: number
  /** How a stored payload of version n becomes one of version n + 1: `{ 1: (payload) => …, 2: (payload) => … }`. */
  migrate?: PayloadSteps
  /** Types what the handler returns, and checks it. */
  result?: Result
  retry?: RetryPolicy
  /**
   * At 1× the handler's signal aborts and the attempt fails; at 2× the run is called stuck. Default: the queue's, else
   * the worker's lane's, else 5 min.
   */
  timeout?: Duration
  /** 'fast': done within seconds, so a lane reserved for quick work may take it. Default 'slow'. */
  speed?: 'fast' | 'slow'
  /** At most one live job per (tenant, type, key), or what `mode` says. */
  dedupe?: Dedupe<StandardSchemaV1.InferInput<Payload>>
  /** Run jobs with the same key one after another. */
  order?: OrderPolicy<StandardSchemaV1.InferInput<Payload>>
  /** Run at most so many jobs with the same key at once. */
  keyLimit?: KeyLimitPolicy<StandardSchemaV1.InferInput<Payload>>
  /** Read the tenant from the payload. */
  tenant?: (payload: StandardSchemaV1.InferInput<Payload>) => string
  /** Limits on its jobs, alone or together with others that name the same: see defineLimit. */
  limits?: readonly Limit[]
  /** How much of a rate a job uses up. Default 1. */
  cost?: (payload: StandardSchemaV1.InferInput<Payload>) => number
  /** Default 'standard'. */
  retention?: Retention
  /** 'keep': the last log lines of a run that succeeds are kept with the archived job. Default: the queue's, else 'off'. */
  logs?: LogsOption
  /** 'full': every transition of its jobs is kept for 30 days. Default: the queue's, else 'off'. */
  history?: HistoryOption
  /** Let its dead letters go back to work by themselves. Default: a person decides. */
  redrive?: RedrivePolicy
  /** What its runs spend is charged to this budget, and its jobs wait or end when that is used up. */
  budget?: Budget
  /** What it cannot do without: while the breaker of one of these is open, no worker takes jobs of this type. */
  services?: readonly (Service | string)[]
  /** Payloads that show what this job carries; `millrace types --examples` checks and prints them. */
  examples?: readonly StandardSchemaV1.InferInput<Payload>[]
  /**
   * Paths of payload and result at which secrets are meant to be, such as 'auth.token' or 'items.*.password'. `*` is
   * any one key or position; a path covers everything below it.
   */
  allowSecrets?: readonly string[]
  /**
   * Paths of payload and result, in the same form, whose values are stored encrypted. Needs the keys of
   * createMillrace({ encryption }). Secrets may be there. What the handler throws is stored without its message.
   */
  sensitive?: readonly string[]
  /**
   * Paths of the payload, in the same form, whose values identify the work: 'event_id', 'url'. They are written on spans and log
   * lines and stand in escalation messages, never in metrics. Paths that `sensitive` or `allowSecrets` covers are refused.
   */
  attributes?: readonly string[]
}

export interface JobContract<
  Type extends string = string,
  Q extends Queue = Queue,
  Payload extends StandardSchemaV1 = StandardSchemaV1,
  Result extends StandardSchemaV1 | undefined = StandardSchemaV1 | undefined,
  DerivesTenant extends boolean = boolean,
> extends KeyedWork {
  readonly type: Type
  readonly queue: Q
  readonly payload: Payload
  readonly version: number
  readonly migrate: PayloadSteps
  readonly result: Result
  readonly retry: ResolvedRetry
  /** Undefined: neither the type nor its queue says, the worker's lane decides. */
  readonly timeoutMs: number | undefined
  readonly speed: 'fast' | 'slow'
  readonly dedupeKey: ((payload: never) => string | null | undefined) | undefined
  /** What an enqueue under a held key does. */
  readonly dedupe: DedupeRule
  readonly tenantOf: ((payload: never) => string) | undefined
  readonly limits: readonly Limit[]
  readonly costOf: ((payload: never) => number) | undefined
  readonly retention: Retention
  readonly history: HistoryOption
  readonly logs: LogsOption
  readonly redrive: ResolvedRedrive | undefined
  readonly budget: Budget | undefined
  readonly services: readonly (Service | string)[]
  readonly examples: readonly unknown[]
  /** The sensitive ones included. */
  readonly allowSecrets: readonly string[]
  readonly sensitive: readonly string[]
  readonly attributes: readonly string[]
  /** Only in the types: whether the tenant comes from the payload. */
  readonly derivesTenant: DerivesTenant
}

export interface ResolvedRetry {
  readonly attempts: number
  readonly backoff: Backoff
  readonly giveUpAfterMs: number | undefined
  readonly onExhausted: 'dead-letter' | 'drop'
}

/** What `enqueue` takes for this contract. */
export type PayloadInput<C extends JobContract> = StandardSchemaV1.InferInput<C['payload']>
/** What the handler gets. */
export type PayloadOutput<C extends JobContract> = StandardSchemaV1.InferOutput<C['payload']>
/** What the handler must return. */
export type ResultInput<C extends JobContract> = C['result'] extends StandardSchemaV1
  ? StandardSchemaV1.InferInput<C['result']>
  : unknown

/** What whoever awaits the result gets. */
export type ResultOutput<C extends JobContract> = C['result'] extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<C['result']>
  : unknown

export type RequiresTenant<C extends JobContract> =
  C extends JobContract<
    string,
    Queue<string, infer Options>,
    StandardSchemaV1,
    StandardSchemaV1 | undefined,
    infer Derives
  >
    ? Options extends { tenant: 'required' }
      ? Derives extends true
        ? false
        : true
      : false
    : never

const TYPE = /^[\w.:/-]{1,100}$/

/** Declares a job type: what it carries, where it runs, how it is retried. No handler code: safe to import anywhere. */
export function defineJob<
  const Type extends string,
  Q extends Queue<string, QueueOptions>,
  Payload extends StandardSchemaV1,
  Result extends StandardSchemaV1 | undefined = undefined,
  const Definition extends JobDefinition<Type, Q, Payload, Result> = JobDefinition<Type, Q, Payload, Result>,
>(
  definition: Definition & JobDefinition<Type, Q, Payload, Result>,
): JobContract<Type, Q, Payload, Result, Definition extends { tenant: (...args: never[]) => string } ? true : false> {
  const { type, queue, payload, version = 1, migrate = {}, result, dedupe, tenant } = definition
  if (!TYPE.test(type)) {
    throw new InvalidDefinition(`Job type "${type}" is not usable: expected 1–100 letters, digits or "_ . : / -".`)
  }
  const timeout = definition.timeout ?? queue.options.timeout
  const timeoutMs = timeout === undefined ? undefined : toMs(timeout, `Job "${type}": timeout`)
  if (timeoutMs === 0) {
    throw new InvalidDefinition(`Job "${type}" has timeout 0: every job needs a finite timeout above 0, like '5m'.`)
  }
  checkVersions(type, version, migrate)
  const sensitive = checkPaths(type, 'sensitive', definition.sensitive)
  const allowSecrets = checkPaths(type, 'allowSecrets', definition.allowSecrets)
  const attributes = checkPaths(type, 'attributes', definition.attributes)
  const retention = definition.retention ?? 'standard'
  return {
    type,
    queue,
    payload,
    version,
    migrate,
    result: result as Result,
    retry: resolveRetry(type, { ...queue.options.retry, ...definition.retry }),
    timeoutMs,
    speed: definition.speed ?? 'slow',
    dedupeKey: dedupe?.key,
    dedupe: resolveDedupe(type, dedupe as Dedupe<never> | undefined),
    ...resolveKeyedWork(type, definition),
    tenantOf: tenant,
    limits: definition.limits ?? [],
    costOf: definition.cost,
    retention,
    logs: resolveLogs(type, { logs: definition.logs, queue: queue.options.logs, retention }),
    history: resolveHistory(type, { history: definition.history, queue: queue.options.history, retention }),
    redrive: resolveRedrive(type, definition.redrive),
    budget: definition.budget,
    services: checkServices(type, definition.services ?? []),
    examples: definition.examples ?? [],
    allowSecrets: [...allowSecrets, ...sensitive],
    sensitive,
    attributes: checkAttributes(type, attributes, { sensitive, allowSecrets }),
    derivesTenant: (tenant !== undefined) as never,
  }
}

function checkPaths(type: string, option: string, paths: readonly string[] = []): readonly string[] {
  const wrong = paths.find((path) => typeof path !== 'string' || path.split('.').includes(''))
  if (wrong === undefined) return paths
  throw new InvalidDefinition(
    `Job "${type}" has ${JSON.stringify(wrong)} in ${option}: expected keys joined by dots, like 'auth.token' or 'items.*.password'.`,
  )
}

function resolveRetry(type: string, policy: RetryPolicy): ResolvedRetry {
  const attempts = policy.attempts ?? DEFAULT_ATTEMPTS
  if (!Number.isInteger(attempts) || attempts < 1 || attempts > 32_767) {
    throw new InvalidDefinition(`Job "${type}" has ${attempts} attempts: expected an integer from 1 to 32767.`)
  }
  return {
    attempts,
    backoff: policy.backoff ?? defaultBackoff,
    giveUpAfterMs:
      policy.giveUpAfter === undefined ? undefined : toMs(policy.giveUpAfter, `Job "${type}": retry.giveUpAfter`),
    onExhausted: policy.onExhausted ?? 'dead-letter',
  }
}
