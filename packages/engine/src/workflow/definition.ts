// A workflow as its author declared it: the graph, and the functions that lead results from step to step. No handler code.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { JobContract, Retention } from '../contract/job.ts'
import type { FailurePolicy } from './graph.ts'
import type { Delay } from './start-rules.ts'
import type { WaitDefinition } from './waits.ts'

export interface WorkflowDefinition<
  Input extends StandardSchemaV1 | undefined = StandardSchemaV1 | undefined,
  RequiresTenant extends boolean = boolean,
> {
  readonly name: string
  /** What `start` takes; undefined: nothing. */
  readonly input: Input
  /** Some job of it is for a queue that requires a tenant, and its payload does not name one: `start` must. */
  readonly requiresTenant: RequiresTenant
  /** True: a failure undoes what was completed. False: it stays as it is until somebody decides. */
  readonly rollsBack: boolean
  /** How long its rows are kept after it ended. */
  readonly retention: Retention
  /** In the order of their declaration: a step comes after those it waits for. */
  readonly steps: readonly StepDefinition[]
}

/** What `start` takes for this workflow. */
export type WorkflowInput<W extends WorkflowDefinition> = W['input'] extends StandardSchemaV1
  ? StandardSchemaV1.InferInput<W['input']>
  : undefined

export interface StepDefinition {
  readonly name: string
  /** Undefined: it has no jobs, and waits. */
  readonly contract: JobContract | undefined
  readonly wait: WaitDefinition | undefined
  readonly after: Readonly<Record<string, FailurePolicy>>
  readonly onFailure: FailurePolicy
  /** Whether it is to start when it could. */
  readonly when: ((scope: StepScope) => boolean) | undefined
  readonly delay: Delay<StepScope> | undefined
  /** Of a step with many jobs: the list with one element for each, computed when the step starts. */
  readonly over: ((scope: StepScope) => readonly unknown[]) | undefined
  /** The payload of its job; of a step with many jobs, of the one for `item`. */
  readonly payload: (scope: StepScope, item: unknown, index: number) => unknown
  readonly undo: UndoDefinition | undefined
}

export interface UndoDefinition {
  readonly contract: JobContract
  /** Called for each completed job of the step. */
  readonly payload: (scope: UndoScope) => unknown
}

/** What the functions of a step see. */
export interface StepScope {
  readonly workflowId: string
  readonly input: unknown
  /** The results of the steps directly before it; of one with many jobs, a list. Undefined: failed or skipped. */
  readonly results: Readonly<Record<string, unknown>>
  /** How the jobs of the same steps ended. */
  readonly counts: Readonly<Record<string, JobCounts>>
}

export interface JobCounts {
  readonly total: number
  readonly completed: number
  /** Those that were cancelled included. */
  readonly failed: number
}

export interface UndoScope extends StepScope {
  /** What the job to be undone was given, and has returned. */
  readonly payload: unknown
  readonly result: unknown
}
