// Declares workflows, step by step. Each call gives a new definition: a workflow can be passed on, and continued twice.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { JobContract, Retention } from '../contract/job.ts'
import type { Workflow } from './builder.ts'
import { checkChild, checkPlace, checkStep, checkWait, checkWorkflow } from './check.ts'
import type { StepDefinition, StepScope, UndoScope, WorkflowDefinition } from './definition.ts'
import type { FailurePolicy } from './graph.ts'
import type { Delay, StartRules } from './start-rules.ts'
import { StepList } from './step-list.ts'
import type { WaitDefinition } from './waits.ts'

export interface WorkflowOptions<Schema extends StandardSchemaV1 | undefined> {
  /** What `start` takes: any Standard Schema. Default: nothing. */
  input?: Schema
  /** 'roll back': undo the completed steps that can be. 'stop': leave them, for a person to decide. Default 'roll back'. */
  onFailure?: 'roll back' | 'stop'
  /** How long it is kept after it has ended, with all its steps. Default 'standard'. */
  retention?: Retention
}

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

interface StepOptions extends StartRules<StepScope> {
  after?: string | readonly string[] | Readonly<Record<string, FailurePolicy>>
  onFailure?: FailurePolicy
  over?: (scope: StepScope) => readonly unknown[]
  payload?: (scope: StepScope & { item?: unknown; index?: number }) => unknown
  undo?: { job: JobContract; payload: (scope: UndoScope) => unknown }
}

interface GivenChild extends Pick<StepOptions, 'after' | 'onFailure' | 'when'> {
  input?: (scope: StepScope) => unknown
}

interface GivenWait extends Pick<StepOptions, 'after' | 'onFailure' | 'when'> {
  payload?: StandardSchemaV1
  timeout?: Delay<StepScope>
  for?: Delay<StepScope>
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

  signal(name: string, options: GivenWait = {}): Declared {
    return this.#waiting(name, 'signal', options)
  }

  sleep(name: string, options: GivenWait = {}): Declared {
    return this.#waiting(name, 'sleep', options)
  }

  workflow(name: string, child: WorkflowDefinition, options: GivenChild = {}): Declared {
    const { input = () => undefined } = options
    checkChild({ name: this.name, steps: this.#steps }, { name, child, input: options.input })
    const requiresTenant = this.requiresTenant || child.requiresTenant
    return this.#jobless(name, options, requiresTenant, (scopeOf) => ({
      kind: 'workflow',
      payload: undefined,
      due: undefined,
      workflow: child,
      input: (scope) => input(scopeOf(scope)),
    }))
  }

  #waiting(name: string, kind: 'signal' | 'sleep', options: GivenWait): Declared {
    const { payload } = options
    const due = kind === 'signal' ? options.timeout : options.for
    checkWait({ name: this.name, steps: this.#steps }, { name, kind, payload, due })
    return this.#jobless(name, options, this.requiresTenant, (scopeOf) => ({
      kind,
      payload,
      due: typeof due === 'function' ? (scope) => due(scopeOf(scope)) : due,
    }))
  }

  #jobless(
    name: string,
    options: Pick<StepOptions, 'after' | 'onFailure' | 'when'>,
    requiresTenant: boolean,
    waitFor: (scopeOf: (scope: StepScope) => StepScope) => WaitDefinition,
  ): Declared {
    const after = edgesOf(options.after)
    const { onFailure = 'fail', when } = options
    checkPlace({ name: this.name, steps: this.#steps }, { name, after, options })
    const scopeOf = this.#scopeFor(Object.keys(after))
    const step: StepDefinition = {
      name,
      after,
      onFailure,
      contract: undefined,
      delay: undefined,
      over: undefined,
      undo: undefined,
      payload: () => undefined,
      when: when && ((scope) => when(scopeOf(scope))),
      wait: waitFor(scopeOf),
    }
    return new Declared({ ...this, requiresTenant }, this.#steps.with(step))
  }

  #with(name: string, contract: JobContract, options: StepOptions, isList: boolean): Declared {
    const after = edgesOf(options.after)
    const workflow = { name: this.name, steps: this.#steps }
    checkPlace(workflow, { name, after, options })
    checkStep(workflow, { name, contract, after, isList, options })
    const { over, undo, when, delay, onFailure = 'fail' } = options
    const scopeOf = this.#scopeFor(Object.keys(after))
    const step: StepDefinition = {
      name,
      contract,
      wait: undefined,
      after,
      onFailure,
      when: when && ((scope) => when(scopeOf(scope))),
      delay: typeof delay === 'function' ? (scope) => delay(scopeOf(scope)) : delay,
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
