import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { JobContract } from '../contract/job.ts'
import { InvalidDefinition, UnknownWorkflow } from '../errors.ts'
import type { StepDefinition, WorkflowDefinition } from './definition.ts'
import type { StepKind } from './graph.ts'

/** The workflows that one program knows, by name. */
export class Definitions {
  readonly #byName = new Map<string, WorkflowDefinition>()
  readonly #steps = new Map<string, ReadonlyMap<string, StepDefinition>>()

  constructor(definitions: Iterable<WorkflowDefinition>) {
    for (const definition of withChildren(definitions)) {
      const { name } = definition
      if ((this.#byName.get(name) ?? definition) !== definition)
        throw new InvalidDefinition(`Two workflows have the name "${name}". Names are unique: rename one of them.`)
      this.#byName.set(name, definition)
      this.#steps.set(name, new Map(definition.steps.map((step) => [step.name, step])))
    }
  }

  get names(): string[] {
    return [...this.#byName.keys()]
  }

  get contracts(): JobContract[] {
    const steps = [...this.#byName.values()].flatMap((definition) => definition.steps)
    return steps.flatMap(({ contract, undo }) => [contract, undo?.contract].filter((each) => each !== undefined))
  }

  has(name: string): boolean {
    return this.#byName.has(name)
  }

  /** Refuses a workflow that was declared but never listed: it would start, and nobody would know how it goes on. */
  demand(definition: WorkflowDefinition): void {
    if (this.#byName.get(definition.name) !== definition) throw new UnknownWorkflow(definition.name, this.names)
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

  schemaOf(workflow: string): WorkflowDefinition['input'] {
    return this.#byName.get(workflow)?.input
  }

  /** The signals of a workflow, and what comes with each. */
  signalsOf(workflow: string): Map<string, StandardSchemaV1 | undefined> {
    const steps = this.#byName.get(workflow)?.steps ?? []
    return new Map(steps.flatMap(({ name, wait }) => (wait?.kind === 'signal' ? [[name, wait.payload]] : [])))
  }

  /** Of a workflow that was started, perhaps by another version of this program. Throws UnknownWorkflow. */
  step(workflow: string, name: string, kind: StepKind): StepDefinition {
    const steps = this.#steps.get(workflow)
    if (steps === undefined) throw new UnknownWorkflow(workflow, this.names)
    const found = steps.get(name)
    const step = (found?.wait?.kind ?? 'jobs') === kind ? found : undefined
    if (step === undefined) throw new UnknownWorkflow(workflow, this.names, name)
    return step
  }
}

/** Those that are steps of others need not be listed. */
function withChildren(definitions: Iterable<WorkflowDefinition>): WorkflowDefinition[] {
  return [...definitions].flatMap((definition) => {
    const children = definition.steps.flatMap(({ wait }) => wait?.workflow ?? [])
    return [definition, ...withChildren(children)]
  })
}
