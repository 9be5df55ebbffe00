// What the compiler knows about the steps of a workflow: which there are, and what each hands on along which edge.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { JobContract, PayloadInput, PayloadOutput, ResultOutput } from '../contract/job.ts'
import type { JobCounts } from './definition.ts'
import type { FailurePolicy } from './graph.ts'
import type { StartRules } from './start-rules.ts'

/** What a declared step hands on. */
export interface Handed<Result, IsList extends boolean> {
  readonly result: Result
  /** One result for each of its jobs. */
  readonly isList: IsList
}

/** What the steps' functions get for a workflow's input. */
export type InputOf<Schema extends StandardSchemaV1 | undefined> = Schema extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<Schema>
  : undefined

/** One earlier step, several, or several with what the failure of each means; a name alone means 'fail'. */
export type After<Names extends string> = [Names] extends [never]
  ? undefined
  : Names | readonly Names[] | { readonly [Name in Names]?: FailurePolicy } | undefined

/** Names that are among others that do exist would go unnoticed: `{ capture: 'fail', kapture: 'fail' }`. */
export type OnlyKnown<A, Names extends string> = A extends string | readonly string[] | undefined
  ? unknown
  : { readonly [Name in keyof A]: Name extends Names ? FailurePolicy : never }

type ParentsOf<A> = A extends string
  ? A
  : A extends readonly (infer Name extends string)[]
    ? Name
    : A extends object
      ? keyof A & string
      : never

type PolicyOf<A, Name> = A extends string | readonly string[] ? 'fail' : Name extends keyof A ? A[Name] : never

type Along<Step, Policy> =
  Step extends Handed<infer Result, infer IsList>
    ? IsList extends true
      ? readonly ('continue' extends Policy ? Result | undefined : Result)[]
      : 'continue' extends Policy
        ? Result | undefined
        : Result
    : never

type ResultsOf<Steps, A> = {
  readonly [Name in ParentsOf<A>]: Name extends keyof Steps ? Along<Steps[Name], PolicyOf<A, Name>> : never
}

/** What the functions of a step see: the workflow's input, and the results of the steps directly before it. */
export interface Scope<Input, Steps, A> {
  readonly workflowId: string
  readonly input: Input
  readonly results: ResultsOf<Steps, A>
  /** How the jobs of those steps ended. */
  readonly counts: { readonly [Name in ParentsOf<A>]: JobCounts }
}

/** … and in a step with many jobs, for which element this one is. */
export interface ItemScope<Input, Steps, A, Item> extends Scope<Input, Steps, A> {
  readonly item: Item
  readonly index: number
}

/** … and to undo a job, what that was given and has returned. */
export interface UndoneScope<Input, Steps, A, C extends JobContract> extends Scope<Input, Steps, A> {
  readonly payload: PayloadOutput<C>
  readonly result: ResultOutput<C>
}

/** What a job gets if nobody says: the result of the one step before it; if there is none, the workflow's input. */
export type Incoming<Input, Steps, A> = [ParentsOf<A>] extends [never]
  ? Input extends undefined
    ? Record<never, never>
    : Input
  : IsUnion<ParentsOf<A>> extends true
    ? unknown
    : ResultsOf<Steps, A>[ParentsOf<A>]

type IsUnion<T, Each = T> = Each extends unknown ? ([T] extends [Each] ? false : true) : never

/** Needed unless what comes in fits as it is. */
export type PayloadOption<C extends JobContract, S, In> = [In] extends [PayloadInput<C>]
  ? { payload?: (scope: S) => PayloadInput<C> }
  : { payload: (scope: S) => PayloadInput<C> }

/** A job whose payload is what comes in, as it is. */
export type Fitting<C extends JobContract, In> = [In] extends [PayloadInput<C>] ? unknown : never

/** Of a step without jobs. */
export interface WaitOptions<A, Names extends string, S> extends Pick<StartRules<S>, 'when'> {
  /** The steps that must have ended before. Only those declared above. Default: none, it starts at once. */
  after?: A & OnlyKnown<A, Names>
  /** What its failure means for the workflow if no step comes after it. Default 'fail'. */
  onFailure?: FailurePolicy
}

export interface CommonOptions<A, Names extends string, U extends JobContract, UndoScope> {
  /** The steps that must have ended before. Only those declared above. Default: none, it starts at once. */
  after?: A & OnlyKnown<A, Names>
  /** What its failure means for the workflow if no step comes after it. Default 'fail'. */
  onFailure?: FailurePolicy
  /** How to take back what a completed job of this step did. */
  undo?: { job: U; payload: (scope: UndoScope) => PayloadInput<U> }
}
