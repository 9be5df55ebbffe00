// What a program declares, as plain data: the documents of the catalogue. They are made from what the code says and from nothing
// else, so that all workers of one build make the same ones.
import { createHash } from 'node:crypto'
import type { BoostStep } from '../contract/boost.ts'
import type { Budget } from '../contract/budget.ts'
import type { DedupeRule } from '../contract/dedupe.ts'
import type { HistoryOption } from '../contract/history.ts'
import type { JobContract, Retention } from '../contract/job.ts'
import { type JsonSchema, jsonSchemaOf } from '../contract/json-schema.ts'
import type { Limit, Rate } from '../contract/limit.ts'
import { encodeJson } from '../contract/payload.ts'
import type { Queue, TenantJobs } from '../contract/queue.ts'
import type { QueueFacts, QueueOwner } from '../contract/queue-facts.ts'
import { Redactor } from '../contract/redact.ts'
import type { ResolvedRedrive } from '../contract/redrive.ts'
import type { Registry } from '../contract/registry.ts'
import { type BreakerSettings, DEFAULT_BREAKER, serviceName } from '../contract/service.ts'
import type { Schedule, ScheduleSettings } from '../schedule/define.ts'
import type { DeclaredSchedules } from '../schedule/schedules.ts'
import type { When } from '../schedule/when.ts'
import type { NewProgram } from '../store/catalogue.ts'
import type { WorkflowDefinition } from '../workflow/definition.ts'
import type { Definitions } from '../workflow/definitions.ts'
import type { FailurePolicy, StepKind } from '../workflow/graph.ts'

export interface CatalogueQueue {
  readonly priority: number
  readonly concurrency: number
  readonly pollIntervalMs: number
  readonly tenant: 'required' | 'optional'
  readonly tenantJobs: TenantJobs | null
  /** Names of limits on all its jobs together. */
  readonly limits: readonly string[]
  readonly boost: readonly BoostStep[]
  readonly isCritical: boolean
  readonly slaMs: number | null
  /** Its name for people. */
  readonly title: string | null
  readonly owner: QueueOwner | null
  readonly color: string | null
  readonly use: string | null
  /** As declared: the name of a policy, or the policy itself. */
  readonly escalation: NonNullable<QueueFacts['escalation']> | null
}

export interface CatalogueType {
  readonly queue: string
  /** Of its payload. */
  readonly version: number
  readonly attempts: number
  readonly giveUpAfterMs: number | null
  readonly onExhausted: 'dead-letter' | 'drop'
  /** Null: the worker's lane decides. */
  readonly timeoutMs: number | null
  readonly speed: 'fast' | 'slow'
  readonly retention: Retention
  readonly history: HistoryOption
  /** 'payload': the contract reads it there. */
  readonly tenant: 'payload' | 'required' | 'optional'
  /** Null: the contract derives no key, and this is not deduplicated by itself. */
  readonly dedupe: DedupeRule | null
  /** Null: the contract derives no order key. */
  readonly order: { readonly onDead: 'continue' | 'stop' } | null
  /** Null: the contract derives no limit key. */
  readonly keyLimit: { readonly concurrency: number } | null
  /** Names of its own limits; its queue has more. */
  readonly limits: readonly string[]
  /** The contract derives from the payload how much of a rate a job uses up. */
  readonly hasCost: boolean
  readonly budget: string | null
  readonly services: readonly string[]
  readonly redrive: ResolvedRedrive | null
  /** Paths whose values are stored encrypted. */
  readonly sensitive: readonly string[]
  /** Paths at which secrets are meant to be, the sensitive ones included. */
  readonly allowSecrets: readonly string[]
  /** Paths of the payload whose values identify the work, on spans, on log lines and in escalation messages. */
  readonly attributes: readonly string[]
  /** Payloads that show what a job carries. Secrets are taken out. */
  readonly examples: readonly unknown[]
  /** Of the payload, as `enqueue` takes it. */
  readonly schema: JsonSchema | null
  /** Why there is no JSON Schema. */
  readonly schemaMissing: string | null
}

export interface CatalogueLimit {
  readonly running: number | null
  readonly perProcess: number | null
  readonly rate: Rate | null
  readonly isPerTenant: boolean
}

export interface CatalogueBudget {
  readonly limit: number
  readonly per: Budget['per']
  readonly unit: string
  readonly timeZone: string
  /** It is kept in a table of the program's own. */
  readonly hasSource: boolean
}

export interface CatalogueWorkflow {
  readonly rollsBack: boolean
  readonly retention: Retention
  readonly requiresTenant: boolean
  /** Of its input; null: it takes none, or the schema library offers no JSON Schema. */
  readonly schema: JsonSchema | null
  /** In the order of their declaration: a step comes after those it waits for. */
  readonly steps: readonly CatalogueStep[]
}

export interface CatalogueStep {
  readonly name: string
  readonly kind: StepKind
  /** Of its jobs; null: it waits. */
  readonly type: string | null
  /** It has a job for each element of a list. */
  readonly isEach: boolean
  /** Whether it starts is decided when it could. */
  readonly isConditional: boolean
  /** The steps before it, and what the failure of each means for it. */
  readonly after: Readonly<Record<string, FailurePolicy>>
  /** The type of the jobs that undo it. */
  readonly undo: string | null
  /** The workflow that it is. */
  readonly workflow: string | null
}

export interface CatalogueSchedule extends ScheduleSettings {
  readonly type: string
  readonly when: When
}

export interface CatalogueLane {
  readonly slots: number
  /** Their shares of the slots. */
  readonly queues: Readonly<Record<string, number>>
  /** In milliseconds, of each type that it runs. */
  readonly timeouts: Readonly<Record<string, number>>
}

/** What a document of each kind says. */
export interface CatalogueDocuments {
  readonly queue: CatalogueQueue
  readonly type: CatalogueType
  readonly limit: CatalogueLimit
  readonly budget: CatalogueBudget
  readonly service: BreakerSettings
  readonly workflow: CatalogueWorkflow
  readonly schedule: CatalogueSchedule
  readonly lane: CatalogueLane
}

export type CatalogueKind = keyof CatalogueDocuments

type Named<Document> = Readonly<Record<string, Document>>
type ProgramDocument = { readonly [Kind in CatalogueKind]: Named<CatalogueDocuments[Kind]> }

export interface Declared {
  readonly registry: Registry
  readonly definitions: Definitions
  readonly declared: DeclaredSchedules
  /** As the program calls its version. */
  readonly version: string | null
}

/** The program of a worker with these lanes. */
export function programOf(code: Declared, lanes: Named<CatalogueLane>): NewProgram {
  const { version } = code
  const document = JSON.stringify({ ...documentOf(code), lane: lanes } satisfies ProgramDocument)
  const hash = createHash('sha256')
    .update(JSON.stringify([version, document]))
    .digest('hex')
    .slice(0, 32)
  return { hash, version, document }
}

function documentOf({ registry, definitions, declared }: Declared): Omit<ProgramDocument, 'lane'> {
  const { contracts } = registry
  const queues = new Map(contracts.map(({ queue }) => [queue.name, queue]))
  const limits = contracts.flatMap((contract) => [...contract.limits, ...contract.queue.limits])
  return {
    queue: byName([...queues.values()], queueDocument),
    type: Object.fromEntries(contracts.map((contract) => [contract.type, typeDocument(contract)])),
    limit: byName(limits, limitDocument),
    budget: byName(registry.budgets, budgetDocument),
    service: Object.fromEntries(registry.services.map((name) => [name, serviceDocument(registry, name)])),
    workflow: byName(definitions.all, workflowDocument),
    schedule: byName(declared.all, scheduleDocument),
  }
}

function byName<Declaration extends { name: string }, Document>(
  declarations: readonly Declaration[],
  documentOf: (declaration: Declaration) => Document,
): Named<Document> {
  return Object.fromEntries(declarations.map((each) => [each.name, documentOf(each)]))
}

function queueDocument(queue: Queue): CatalogueQueue {
  const { priority, concurrency, pollIntervalMs, boost, isCritical } = queue
  return {
    ...{ priority, concurrency, pollIntervalMs, boost, isCritical },
    tenant: queue.options.tenant ?? 'optional',
    tenantJobs: queue.tenantJobs ?? null,
    limits: queue.limits.map(({ name }) => name),
    slaMs: queue.slaMs ?? null,
    ...{ title: null, owner: null, color: null, use: null, escalation: null },
    ...queue.facts,
  }
}

function typeDocument(contract: JobContract): CatalogueType {
  const { queue, version, retry, speed, retention, history, sensitive, allowSecrets, attributes } = contract
  return {
    ...{ queue: queue.name, version, speed, retention, history, sensitive, allowSecrets, attributes },
    attempts: retry.attempts,
    giveUpAfterMs: retry.giveUpAfterMs ?? null,
    onExhausted: retry.onExhausted,
    timeoutMs: contract.timeoutMs ?? null,
    tenant: contract.tenantOf === undefined ? (queue.options.tenant ?? 'optional') : 'payload',
    dedupe: contract.dedupeKey === undefined ? null : contract.dedupe,
    order: contract.order === undefined ? null : { onDead: contract.order.stops ? 'stop' : 'continue' },
    keyLimit: contract.keyLimit === undefined ? null : { concurrency: contract.keyLimit.concurrency },
    limits: contract.limits.map(({ name }) => name),
    hasCost: contract.costOf !== undefined,
    budget: contract.budget?.name ?? null,
    services: contract.services.map(serviceName),
    redrive: contract.redrive ?? null,
    examples: examplesOf(contract),
    ...jsonSchemaOf(contract.payload),
  }
}

const EXAMPLE_BYTES = 16 * 1024

/** Without those that are no payloads, or too large to be looked at; `millrace types --examples` tells what is wrong. */
function examplesOf({ examples, allowSecrets }: JobContract): unknown[] {
  const redactor = new Redactor({ paths: allowSecrets })
  return examples.flatMap((example) => {
    const encoded = encodeJson(example, { maxBytes: EXAMPLE_BYTES, allowSecrets })
    return 'refusal' in encoded ? [] : [redactor.json(encoded.value)]
  })
}

function limitDocument({ running, perProcess, rate, isPerTenant }: Limit): CatalogueLimit {
  return { running: running ?? null, perProcess: perProcess ?? null, rate: rate ?? null, isPerTenant }
}

function budgetDocument({ limit, per, unit, timeZone, source }: Budget): CatalogueBudget {
  return { limit, per, unit, timeZone, hasSource: source !== undefined }
}

function serviceDocument(registry: Registry, name: string): BreakerSettings {
  const { failures, openForMs, successes } = registry.service(name) ?? DEFAULT_BREAKER
  return { failures, openForMs, successes }
}

function workflowDocument({ rollsBack, retention, requiresTenant, input, steps }: WorkflowDefinition) {
  return {
    ...{ rollsBack, retention, requiresTenant },
    schema: input === undefined ? null : jsonSchemaOf(input).schema,
    steps: steps.map(({ name, wait, contract, over, when, after, undo }) => ({
      ...{ name, after },
      kind: wait?.kind ?? ('jobs' as const),
      type: contract?.type ?? null,
      isEach: over !== undefined,
      isConditional: when !== undefined,
      undo: undo?.contract.type ?? null,
      workflow: wait?.workflow?.name ?? null,
    })),
  }
}

const scheduleDocument = ({ job, when, settings }: Schedule): CatalogueSchedule => ({
  ...settings,
  type: job.type,
  when,
})
