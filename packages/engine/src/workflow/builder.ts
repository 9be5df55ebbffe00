// What the compiler knows of a workflow while it is declared, step by step.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { JobContract, PayloadInput, RequiresTenant, ResultOutput } from '../contract/job.ts'
import type { WorkflowDefinition, WorkflowInput } from './definition.ts'
import type { Delay, StartRules } from './start-rules.ts'
import type {
  After,
  CommonOptions,
  Fitting,
  Handed,
  Incoming,
  InputOf,
  ItemScope,
  PayloadOption,
  Scope,
  UndoneScope,
  WaitOptions,
} from './step-options.ts'

/** A workflow, and what continues it. `Steps`: what is known of those declared so far. */
export interface Workflow<Schema extends StandardSchemaV1 | undefined, Steps, NeedsTenant extends boolean>
  extends WorkflowDefinition<Schema, NeedsTenant> {
  /** Adds a step of one job that starts at once and gets the workflow's input as it is, or nothing. */
  step<const Name extends string, C extends JobContract>(
    name: Name & NewName<Name, Steps>,
    job: C & Fitting<C, Incoming<InputOf<Schema>, Steps, undefined>>,
  ): Continued<Schema, Steps, NeedsTenant, Name, Handed<ResultOutput<C>, false>, C>

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
      StartRules<Scope<InputOf<Schema>, Steps, A>> &
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
    options: CommonOptions<A, keyof Steps & string, U, UndoneScope<InputOf<Schema>, Steps, A, C>> &
      StartRules<Scope<InputOf<Schema>, Steps, A>> & {
        over: (scope: Scope<InputOf<Schema>, Steps, A>) => readonly Item[]
        // Always needed: were it optional where an element fits, the compiler could not tell what `item` is.
        payload: (scope: ItemScope<InputOf<Schema>, Steps, A, Item>) => PayloadInput<C>
      },
  ): Continued<Schema, Steps, NeedsTenant, Name, Handed<ResultOutput<C>, true>, C | U>

  /**
   * Adds a step without a job, which completes when `workflows.signal` is called with its name. What came with it is its
   * result.
   */
  signal<
    const Name extends string,
    const A extends After<keyof Steps & string> = undefined,
    P extends StandardSchemaV1 | undefined = undefined,
  >(
    name: Name & NewName<Name, Steps>,
    options?: WaitOptions<A, keyof Steps & string, Scope<InputOf<Schema>, Steps, A>> & {
      /** What comes with it: any Standard Schema. Default: nothing. */
      payload?: P
      /** How long after it began to wait it fails. Default: it waits as long as it takes. */
      timeout?: Delay<Scope<InputOf<Schema>, Steps, A>>
    },
  ): Continued<Schema, Steps, NeedsTenant, Name, Handed<InputOf<P>, false>, never>

  /** Adds a step that is a workflow itself, takes no input and starts at once. */
  workflow<const Name extends string, W extends WorkflowDefinition>(
    name: Name & NewName<Name, Steps>,
    child: W & ([WorkflowInput<W>] extends [undefined] ? unknown : never),
  ): WithChild<Schema, Steps, NeedsTenant, Name, W>

  /**
   * Adds a step that is a workflow itself, with the same tenant and correlation. Its result has those of the steps that
   * none comes after, as far as they completed.
   */
  workflow<
    const Name extends string,
    W extends WorkflowDefinition,
    const A extends After<keyof Steps & string> = undefined,
  >(
    name: Name & NewName<Name, Steps>,
    child: W,
    options: WaitOptions<A, keyof Steps & string, Scope<InputOf<Schema>, Steps, A>> &
      ChildInput<W, Scope<InputOf<Schema>, Steps, A>>,
  ): WithChild<Schema, Steps, NeedsTenant, Name, W>

  /** Adds a step without a job, which completes after a time. */
  sleep<const Name extends string, const A extends After<keyof Steps & string> = undefined>(
    name: Name & NewName<Name, Steps>,
    options: WaitOptions<A, keyof Steps & string, Scope<InputOf<Schema>, Steps, A>> & {
      /** How long, or a function that says it, or until when. */
      for: Delay<Scope<InputOf<Schema>, Steps, A>>
    },
  ): Continued<Schema, Steps, NeedsTenant, Name, Handed<undefined, false>, never>
}

type WithChild<
  Schema extends StandardSchemaV1 | undefined,
  Steps,
  NeedsTenant extends boolean,
  Name extends string,
  W extends WorkflowDefinition,
> = Workflow<
  Schema,
  Steps & { readonly [N in Name]: Handed<ChildResults<W>, false> },
  true extends NeedsTenant | W['requiresTenant'] ? true : false
>

type ChildInput<W extends WorkflowDefinition, S> = [WorkflowInput<W>] extends [undefined]
  ? { input?: undefined }
  : { input: (scope: S) => WorkflowInput<W> }

/** What a workflow that is a step hands on. */
type ChildResults<W> =
  W extends Workflow<infer _Schema, infer Steps, infer _NeedsTenant>
    ? { readonly [Name in keyof Steps]?: ResultIn<Steps[Name]> }
    : Readonly<Record<string, unknown>>

type ResultIn<Step> =
  Step extends Handed<infer Result, infer IsList>
    ? IsList extends true
      ? readonly (Result | undefined)[]
      : Result
    : never

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
