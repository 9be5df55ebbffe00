// What the compiler cannot see, or was not asked about: definitions that make no sense are refused where they are declared.
import type { JobContract } from '../contract/job.ts'
import { suggestion } from '../did-you-mean.ts'
import { InvalidDefinition } from '../errors.ts'
import type { WorkflowDefinition } from './definition.ts'
import type { FailurePolicy } from './graph.ts'
import type { StepList } from './step-list.ts'

const NAME = /^[a-zA-Z0-9][\w.:/-]{0,99}$/
const POLICIES: readonly unknown[] = ['fail', 'skip', 'continue'] satisfies FailurePolicy[]
const RETENTIONS: readonly unknown[] = ['none', 'short', 'standard', 'long']

/** A step as it was given, before it is known to be usable. */
interface GivenStep {
  readonly name: string
  readonly contract: JobContract
  readonly after: Readonly<Record<string, FailurePolicy>>
  readonly isList: boolean
  readonly options: {
    readonly onFailure?: unknown
    readonly over?: unknown
    readonly payload?: unknown
    readonly undo?: { readonly job?: unknown; readonly payload?: unknown } | undefined
  }
}

export function checkWorkflow(
  name: string,
  { input, onFailure, retention }: { input?: unknown; onFailure?: unknown; retention?: unknown },
): void {
  if (!NAME.test(name)) throw new InvalidDefinition(`Workflow name "${name}" is not usable: expected ${USABLE}`)
  if (input !== undefined && !(Object(input) === input && '~standard' in Object(input))) {
    throw new InvalidDefinition(
      `Workflow "${name}" has an input that is no schema: expected a Standard Schema (Zod …).`,
    )
  }
  if (onFailure !== undefined && onFailure !== 'roll back' && onFailure !== 'stop') {
    throw new InvalidDefinition(
      `Workflow "${name}" has onFailure ${JSON.stringify(onFailure)}: expected 'roll back' or 'stop'.`,
    )
  }
  if (retention !== undefined && !RETENTIONS.includes(retention)) {
    throw new InvalidDefinition(
      `Workflow "${name}" has retention ${JSON.stringify(retention)}: expected 'none', 'short', 'standard' or 'long'.`,
    )
  }
}

const USABLE = 'a letter or digit followed by up to 99 letters, digits or "_ . : / -".'

export function checkStep(
  workflow: { name: string; steps: StepList },
  { name, contract, after, isList, options }: GivenStep,
): void {
  const step = `Step "${name}" of workflow "${workflow.name}"`
  const refuse = (why: string): never => {
    throw new InvalidDefinition(`${step} ${why}`)
  }
  if (!NAME.test(name)) refuse(`has a name that is not usable: expected ${USABLE}`)
  if (workflow.steps.get(name) !== undefined) refuse('is declared twice: give each step a name of its own.')
  if (!isContract(contract)) refuse('has no job: pass what defineJob returned.')
  for (const [parent, policy] of Object.entries(after)) {
    if (parent === name) refuse('waits for itself: it would never start.')
    if (workflow.steps.get(parent) === undefined) refuse(`waits for "${parent}", ${notBefore(parent, workflow.steps)}`)
    if (!POLICIES.includes(policy)) refuse(`has ${policyProblem(policy)} for "${parent}".`)
  }
  const { onFailure = 'fail', over, payload, undo } = options
  if (!POLICIES.includes(onFailure)) refuse(`has ${policyProblem(onFailure)} in onFailure.`)
  if (isList && typeof over !== 'function') refuse('has no list: `over` must be a function that returns one.')
  if ((isList || payload !== undefined) && typeof payload !== 'function') refuse('has a payload that is no function.')
  if (payload === undefined && Object.keys(after).length > 1) {
    refuse('has several steps before it and no payload: say what its job is given.')
  }
  if (undo !== undefined && !isContract(undo.job)) refuse('has an undo without a job: pass what defineJob returned.')
  if (undo !== undefined && typeof undo.payload !== 'function') refuse('has an undo without a payload function.')
}

/** Called where a workflow is to be run. */
export function checkHasSteps({ name, steps }: WorkflowDefinition): void {
  if (steps.length > 0) return
  throw new InvalidDefinition(`Workflow "${name}" has no steps: add at least one with .step(name, job, options).`)
}

function isContract(given: unknown): given is JobContract {
  const { type, queue } = Object(given) as Partial<JobContract>
  return typeof type === 'string' && typeof queue?.name === 'string'
}

function notBefore(parent: string, steps: StepList): string {
  const earlier = steps.all.map(({ name }) => name)
  const known =
    earlier.length === 0 ? 'it is the first one' : `before it are ${earlier.map((n) => `"${n}"`).join(', ')}`
  return `which is not declared before it (${known}).${suggestion(parent, earlier)} A step that is declared later cannot be waited for: that would allow cycles.`
}

function policyProblem(given: unknown): string {
  return `${JSON.stringify(given)} as what a failure means, where 'fail', 'skip' or 'continue' is expected,`
}

/** The input of a workflow is stored as it is given; a job's own payload is not, if it is sensitive. */
export function checkNotSensitive(workflow: string, contracts: readonly JobContract[]): void {
  const found = contracts.find((contract) => contract.sensitive.length > 0)
  if (found === undefined) return
  throw new InvalidDefinition(
    `Workflow "${workflow}" would keep payloads of "${found.type}" in its input, which is not encrypted, and ${found.sensitive.map((path) => `"${path}"`).join(', ')} of it is sensitive. Use defineWorkflow and give it a reference instead.`,
  )
}
