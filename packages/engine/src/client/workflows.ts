// Workflows: start, signal, look, await, cancel, resume, roll back.
import { type Duration, toMs } from '../contract/duration.ts'
import type { JobContract, PayloadInput } from '../contract/job.ts'
import type { Registry } from '../contract/registry.ts'
import { InvalidDefinition, WorkflowNotFound } from '../errors.ts'
import type { Events } from '../events.ts'
import { isJobId } from '../store/job-id.ts'
import {
  type StartedWorkflow,
  type StepTimes,
  type WorkflowFilter,
  type WorkflowStep,
  workflowGet,
  workflowList,
  workflowStepList,
  workflowTimes,
} from '../store/workflows.ts'
import { fixedChain } from '../workflow/chain.ts'
import type { WorkflowDefinition, WorkflowInput } from '../workflow/definition.ts'
import type { Edits } from '../workflow/step-jobs.ts'
import { author, label } from './enqueue-options.ts'
import { shown } from './protect.ts'
import {
  type ChangeServices,
  cancelWorkflow,
  resumeWorkflow,
  rollBackWorkflow,
  type WorkflowChangeResult,
} from './workflow-changes.ts'
import { awaitWorkflow, type EndedWorkflow } from './workflow-end.ts'
import { type SignalOptions, type SignalResult, signalWorkflow } from './workflow-signal.ts'
import { type StartOptions, startWorkflow } from './workflow-start.ts'

/** A workflow with its steps. */
export interface WorkflowDetails extends StartedWorkflow {
  input: unknown
  /** In the order of their declaration. */
  steps: WorkflowStep[]
}

/** What `start` takes: an input unless the workflow has none, and a tenant if its queues require one. */
export type StartArguments<W extends WorkflowDefinition> =
  undefined extends WorkflowInput<W>
    ? [input?: WorkflowInput<W>, ...options: OptionsOf<W>]
    : [input: WorkflowInput<W>, ...options: OptionsOf<W>]

type OptionsOf<W extends WorkflowDefinition> = boolean extends W['requiresTenant']
  ? [options?: StartOptions]
  : true extends W['requiresTenant']
    ? [options: StartOptions & { tenant: string }]
    : [options?: StartOptions]

/** A job of a chain, and what it is given. */
export interface ChainLink<C extends JobContract> {
  job: C
  payload: PayloadInput<C>
}

const MAX_PAGE = 1_000
const DEFAULT_TIMEOUT: Duration = '30s'

export class Workflows {
  readonly #services: ChangeServices & { registry: Registry; events: Events }

  constructor(services: ChangeServices & { registry: Registry; events: Events }) {
    this.#services = services
  }

  /**
   * Starts a workflow: its first steps are enqueued in the same transaction. Throws what `enqueue` throws, and whatever a
   * payload function of a first step does.
   */
  start<W extends WorkflowDefinition>(definition: W, ...[input, options]: StartArguments<W>): Promise<{ id: string }> {
    return startWorkflow(this.#services, definition, { input, options: options ?? {} })
  }

  /**
   * Starts jobs one after another: each when the one before it has completed, all under one correlation id. Their payloads
   * are known from the start. Nothing has to be declared.
   */
  async startChain<const Jobs extends readonly JobContract[]>(
    links: { readonly [At in keyof Jobs]: ChainLink<Jobs[At]> },
    options: StartOptions = {},
  ): Promise<{ id: string }> {
    const { registry } = this.#services
    const input = links.map(({ job, payload }) => {
      registry.demand(job)
      return { type: job.type, payload }
    })
    const definition = fixedChain(input, (type) => registry.get(type))
    return startWorkflow(this.#services, definition, { input, options })
  }

  /** One workflow, its steps, and how far each has come. */
  async get(id: string): Promise<WorkflowDetails | undefined> {
    const found = isJobId(id) ? await workflowGet(this.#services.db, id) : undefined
    if (found === undefined) return undefined
    const steps = await workflowStepList(this.#services.db, id)
    // Every workflow has steps: this one was forgotten just now.
    if (steps.length === 0) return undefined
    return { ...found, input: shown(this.#services.registry, '', found.input), steps }
  }

  /** When the jobs of each step ran, and those that undid it; steps that wait without jobs have none. Empty: there is no such workflow. */
  async times(id: string): Promise<StepTimes[]> {
    return isJobId(id) ? workflowTimes(this.#services.db, id) : []
  }

  /** A page, newest first. For the next one pass the id of its last workflow as `before`. Default 50, at most 1000. */
  async list({ limit = 50, ...filter }: WorkflowFilter & { limit?: number } = {}): Promise<StartedWorkflow[]> {
    if (filter.before !== undefined && !isJobId(filter.before))
      throw new InvalidDefinition(`before is ${JSON.stringify(filter.before)}: expected the id of a workflow.`)
    if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE)
      throw new InvalidDefinition(`limit is ${limit}: expected an integer from 1 to ${MAX_PAGE}.`)
    return workflowList(this.#services.db, filter, limit)
  }

  /**
   * Waits until a workflow has ended, in whatever process, and says how. Throws WorkflowTimeout when it has not in time, and
   * WorkflowNotFound when there is none.
   */
  result(id: string, options: { timeout?: Duration; signal?: AbortSignal } = {}): Promise<EndedWorkflow> {
    if (!isJobId(id)) return Promise.reject(new WorkflowNotFound(id))
    const timeoutMs = toMs(options.timeout ?? DEFAULT_TIMEOUT, 'timeout')
    return awaitWorkflow(this.#services, id, { timeoutMs, signal: options.signal })
  }

  /**
   * Says to a workflow what it waits for: its step `name` completes, or will at once when it starts. The first signal of a
   * name counts; another one is refused, unless it has the same `key`. Throws UnknownSignal, and what `start` throws about
   * an input where the payload does not fit.
   */
  signal(id: string, name: string, payload: unknown, options: SignalOptions): Promise<SignalResult> {
    return signalWorkflow(this.#services, { id, name, payload }, options)
  }

  /** Starts nothing more, cancels what waits, asks what runs to stop, and undoes what can be undone. */
  cancel(id: string, options: { by: string; reason?: string }): Promise<WorkflowChangeResult> {
    const by = author(options.by)
    const reason = label(options.reason ?? `cancelled by ${by}`, 'reason') as string
    return cancelWorkflow(this.#services, id, { by, reason })
  }

  /**
   * Does what failed or was cancelled anew, with jobs of new ids, and goes on from there; a rollback that failed goes on,
   * too. One that is rolling back gives that up when the undo under way has ended: what was undone is done anew, the rest is kept. `payloads`: instead of what the definition gives, by step; of a step with many jobs, by the index of the job.
   */
  resume(id: string, options: { by: string; payloads?: Edits }): Promise<WorkflowChangeResult> {
    return resumeWorkflow(this.#services, id, { ...options, by: author(options.by) })
  }

  /** Undoes what a workflow did that has failed and was left as it is. */
  rollBack(id: string, options: { by: string }): Promise<WorkflowChangeResult> {
    return rollBackWorkflow(this.#services, id, { by: author(options.by) })
  }
}
