import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { JobContract } from '../contract/job.ts'
import { InvalidDefinition, UnknownWorkflow } from '../errors.ts'
import { FIXED_CHAIN, type FixedLink, fixedChain } from './chain.ts'
import type { StepDefinition, WorkflowDefinition } from './definition.ts'
import type { StepKind } from './graph.ts'

/** A workflow that was started. */
export interface StartedAs {
  readonly name: string
  readonly input: unknown
}

/** The workflows that one program knows, by name; and every chain of listed jobs, which its own input declares. */
export class Definitions {
  readonly #byName = new Map<string, WorkflowDefinition>()
  readonly #steps = new Map<string, ReadonlyMap<string, StepDefinition>>()

  readonly #contractOf: (type: string) => JobContract

  constructor(definitions: Iterable<WorkflowDefinition>, contractOf: (type: string) => JobContract) {
    this.#contractOf = contractOf
    for (const definition of withChildren(definitions)) {
      const { name } = definition
      if (name === FIXED_CHAIN || (this.#byName.get(name) ?? definition) !== definition)
        throw new InvalidDefinition(`Two workflows have the name "${name}". Names are unique: rename one of them.`)
      this.#byName.set(name, definition)
      this.#steps.set(name, new Map(definition.steps.map((step) => [step.name, step])))
    }
  }

  get names(): string[] {
    return [...this.#byName.keys()]
  }

  get all(): WorkflowDefinition[] {
    return [...this.#byName.values()]
  }

  get contracts(): JobContract[] {
    const steps = this.all.flatMap((definition) => definition.steps)
    return steps.flatMap(({ contract, undo }) => [contract, undo?.contract].filter((each) => each !== undefined))
  }

  has(name: string): boolean {
    return name === FIXED_CHAIN || this.#byName.has(name)
  }

  /** Refuses a workflow that was declared but never listed: it would start, and nobody would know how it goes on. */
  demand(definition: WorkflowDefinition): void {
    if (definition.name !== FIXED_CHAIN && this.#byName.get(definition.name) !== definition)
      throw new UnknownWorkflow(definition.name, this.names)
  }

  /** Of the jobs that do a step, or undo it. */
  typeOf(workflow: string, step: string, kind: 'do' | 'undo' = 'do'): string | undefined {
    const found = this.#steps.get(workflow)?.get(step)
    return kind === 'do' ? found?.contract?.type : found?.undo?.contract.type
  }

  /** The name of the workflow that a step is. */
  childOf(workflow: string, step: string): string {
    return this.#steps.get(workflow)?.get(step)?.wait?.workflow?.name ?? ''
  }

  schemaOf(workflow: StartedAs): WorkflowDefinition['input'] {
    return this.#chain(workflow)?.input ?? this.#byName.get(workflow.name)?.input
  }

  /** The signals of a workflow, and what comes with each. */
  signalsOf(workflow: string): Map<string, StandardSchemaV1 | undefined> {
    const steps = this.#byName.get(workflow)?.steps ?? []
    return new Map(steps.flatMap(({ name, wait }) => (wait?.kind === 'signal' ? [[name, wait.payload]] : [])))
  }

  /** Of a workflow that was started, perhaps by another version of this program. Throws UnknownWorkflow. */
  step(workflow: StartedAs, name: string, kind: StepKind): StepDefinition {
    const chain = this.#chain(workflow)
    const steps = this.#steps.get(workflow.name)
    if (chain === undefined && steps === undefined) throw new UnknownWorkflow(workflow.name, this.names)
    const found = chain === undefined ? steps?.get(name) : chain.steps.find((step) => step.name === name)
    const step = (found?.wait?.kind ?? 'jobs') === kind ? found : undefined
    if (step === undefined) throw new UnknownWorkflow(workflow.name, this.names, name)
    return step
  }

  #chain({ name, input }: StartedAs): WorkflowDefinition | undefined {
    return name === FIXED_CHAIN ? fixedChain(input as readonly FixedLink[], this.#contractOf) : undefined
  }
}

/** Those that are steps of others need not be listed. */
function withChildren(definitions: Iterable<WorkflowDefinition>): WorkflowDefinition[] {
  return [...definitions].flatMap((definition) => {
    const children = definition.steps.flatMap(({ wait }) => wait?.workflow ?? [])
    return [definition, ...withChildren(children)]
  })
}
