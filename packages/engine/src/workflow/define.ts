// Declares workflows, step by step. Each call gives a new definition: a workflow can be passed on, and continued twice.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { JobContract, PayloadInput, RequiresTenant, ResultOutput, Retention } from '../contract/job.ts'
import { checkStep, checkWorkflow } from './check.ts'
import type { StepDefinition, StepScope, UndoScope, WorkflowDefinition } from './definition.ts'
import type { FailurePolicy } from './graph.ts'
import { StepList } from './step-list.ts'
import type {
  After,
  CommonOptions,
  Handed,
  Incoming,
  InputOf,
  ItemScope,
  PayloadOption,
  Scope,
  UndoneScope,
} from './step-options.ts'

export interface WorkflowOptions<Schema extends StandardSchemaV1 | undefined> {
  /** What `start` takes: any Standard Schema. Default: nothing. */
  input?: Schema
  /** 'roll back': undo the completed steps that can be. 'stop': leave them, for a person to decide. Default 'roll back'. */
  onFailure?: 'roll back' | 'stop'
  /** How long it is kept after it has ended, with all its steps. Default 'standard'. */
  retention?: Retention
}

/** A workflow, and what continues it. `Steps`: what is known of those declared so far. */
export interface Workflow<Schema extends StandardSchemaV1 | undefined, Steps, NeedsTenant extends boolean>
  extends WorkflowDefinition<Schema, NeedsTenant> {
  /** Adds a step of one job. */
  step<
    const Name extends string,
    C extends JobContract,
    const A extends After<keyof Steps & string> = undefined,
    U extends JobContract = JobContract,
  >(
    name: Name & NewName<Name, Steps>,
    job: C,
    options: CommonOptions<A, keyof Steps & string, U, UndoneScope<InputOf<Schema>, Steps, A, C>> &
      PayloadOption<C, Scope<InputOf<Schema>, Steps, A>, Incoming<InputOf<Schema>, Steps, A>>,
  ): Continued<Schema, Steps, NeedsTenant, Name, Handed<ResultOutput<C>, false>, C | U>

  /** Adds a step with one job for each element of a list, which is computed when the step starts. */
  each<
    const Name extends string,
    C extends JobContract,
    Item,
    const A extends After<keyof Steps & string> = undefined,
    U extends JobContract = JobContract,
  >(
    name: Name & NewName<Name, Steps>,
    job: C,
    options: CommonOptions<A, keyof Steps & string, U, UndoneScope<InputOf<Schema>, Steps, A, C>> & {
      over: (scope: Scope<InputOf<Schema>, Steps, A>) => readonly Item[]
      // Always needed: were it optional where an element fits, the compiler could not tell what `item` is.
      payload: (scope: ItemScope<InputOf<Schema>, Steps, A, Item>) => PayloadInput<C>
    },
  ): Continued<Schema, Steps, NeedsTenant, Name, Handed<ResultOutput<C>, true>, C | U>
}

type NewName<Name, Steps> = Name extends keyof Steps ? never : unknown

type Continued<
  Schema extends StandardSchemaV1 | undefined,
  Steps,
  NeedsTenant extends boolean,
  Name extends string,
  Step,
  C extends JobContract,
> = Workflow<
  Schema,
  Steps & { readonly [N in Name]: Step },
  true extends NeedsTenant | RequiresTenant<C> ? true : false
>

/** Declares a workflow without steps: add them with `step` and `each`. No handler code: safe to import anywhere. */
export function defineWorkflow<Schema extends StandardSchemaV1 | undefined = undefined>(
  name: string,
  options: WorkflowOptions<Schema> = {},
): Workflow<Schema, Record<never, never>, false> {
  return declare(name, options) as never
}

/** The same, for workflows whose steps the compiler does not follow. */
export function declare(name: string, options: WorkflowOptions<StandardSchemaV1 | undefined>): Declared {
  checkWorkflow(name, options)
  const rollsBack = options.onFailure !== 'stop'
  const { input, retention = 'standard' } = options
  return new Declared({ name, input, rollsBack, retention, requiresTenant: false }, new StepList())
}

interface StepOptions {
  after?: string | readonly string[] | Readonly<Record<string, FailurePolicy>>
  onFailure?: FailurePolicy
  over?: (scope: StepScope) => readonly unknown[]
  payload?: (scope: StepScope & { item?: unknown; index?: number }) => unknown
  undo?: { job: JobContract; payload: (scope: UndoScope) => unknown }
}

class Declared implements WorkflowDefinition {
  readonly name: string
  readonly input: StandardSchemaV1 | undefined
  readonly rollsBack: boolean
  readonly retention: Retention
  readonly requiresTenant: boolean
  readonly #steps: StepList

  constructor(
    { name, input, rollsBack, retention, requiresTenant }: Omit<WorkflowDefinition, 'steps'>,
    steps: StepList,
  ) {
    this.name = name
    this.input = input
    this.rollsBack = rollsBack
    this.retention = retention
    this.requiresTenant = requiresTenant
    this.#steps = steps
  }

  get steps(): readonly StepDefinition[] {
    return this.#steps.all
  }

  step(name: string, job: JobContract, { over: _, ...options }: StepOptions = {}): Declared {
    return this.#with(name, job, options, false)
  }

  each(name: string, job: JobContract, options: StepOptions = {}): Declared {
    return this.#with(name, job, options, true)
  }

  #with(name: string, contract: JobContract, options: StepOptions, isList: boolean): Declared {
    const after = edgesOf(options.after)
    checkStep({ name: this.name, steps: this.#steps }, { name, contract, after, isList, options })
    const { over, undo, onFailure = 'fail' } = options
    const scopeOf = this.#scopeFor(Object.keys(after))
    const step: StepDefinition = {
      name,
      contract,
      after,
      onFailure,
      over: over && ((scope) => over(scopeOf(scope))),
      payload: payloadOf(options, Object.keys(after), scopeOf),
      undo: undo && { contract: undo.job, payload: (scope) => undo.payload(scopeOf(scope)) },
    }
    const requiresTenant = this.requiresTenant || needsTenant(contract) || (undo !== undefined && needsTenant(undo.job))
    return new Declared({ ...this, requiresTenant }, this.#steps.with(step))
  }

  /** A step with many jobs hands on a list, also if it was skipped or its list could not be computed. */
  #scopeFor(parents: readonly string[]): <S extends StepScope>(scope: S) => S {
    const lists = parents.filter((name) => this.#steps.get(name)?.over !== undefined)
    if (lists.length === 0) return (scope) => scope
    return (scope) => {
      const results = lists.map((name) => [name, scope.results[name] ?? []])
      return { ...scope, results: { ...scope.results, ...Object.fromEntries(results) } }
    }
  }
}

function edgesOf(after: StepOptions['after'] = []): Readonly<Record<string, FailurePolicy>> {
  if (typeof after !== 'string' && !Array.isArray(after)) return { ...(after as Record<string, FailurePolicy>) }
  return Object.fromEntries([after].flat().map((name) => [name, 'fail' as const]))
}

function payloadOf(
  { over, payload }: StepOptions,
  parents: readonly string[],
  scopeOf: (scope: StepScope) => StepScope,
): StepDefinition['payload'] {
  if (payload !== undefined) {
    if (over === undefined) return (scope) => payload(scopeOf(scope))
    return (scope, item, index) => payload({ ...scopeOf(scope), item, index })
  }
  const [parent] = parents
  if (parent === undefined) return ({ input }) => input ?? {}
  return (scope) => scopeOf(scope).results[parent]
}

function needsTenant({ queue, tenantOf }: JobContract): boolean {
  return queue.options.tenant === 'required' && tenantOf === undefined
}
